"""Verdicts made by hand: whatever a check can end in, in a few words."""

import msgspec

from stagebench.gate.summary import summarize
from stagebench.model import Compiler, Variant
from stagebench.model.verdict import (
    CaseVerdict,
    ExpectationResult,
    ExperimentVerdict,
    JudgedChange,
    Place,
    Rule,
    SeenValue,
    VariantVerdict,
)

COMPILER = Compiler(name="tilelang", version="0.1.15")
DEFAULT = Rule(pattern="*", action="exact", source="default")


def change(text="A_shared versions 2 → 3", path="shared_buffers[A_shared].num_versions", **other):
    """A drift of one fact."""
    fields = {
        "path": path, "group": "memory", "kind": "fact", "presence": "both", "follows": False,
        "text": text, "left": 2, "right": 3, "rule": DEFAULT,
        "why": "must be exactly as in the baseline", "severity": "error",
        "place": Place(file="dumps/e/gemm/sm_90a/num_stages=2/facts.json", line=51),
    }  # fmt: skip
    return JudgedChange(**{**fields, **other})


def answer(words="one version a stage", outcome="failed", error=None):
    """A failed expectation."""
    return ExpectationResult(
        words=words,
        outcome=outcome,
        seen=(SeenValue(expression="buffers['A_shared'].num_versions", value="3"),),
        error=error,
        place=Place(file="experiments/e.py", line=12),
    )


def variant(status="clean", name="gemm/sm_90a/num_stages=2", drifts=(), note=None, answers=()):
    """A variant; without a baseline where its status says so."""
    there = status != "missing_baseline"
    folder = f"dumps/e/{name}"
    return VariantVerdict(
        name=name,
        variant=Variant(
            kernel="gemm",
            params={"num_stages": 2},
            arch="sm_90a",
            compiler=COMPILER,
            pass_configs={},
        ),
        status=status,
        note=note,
        baseline=folder if there else None,
        place=Place(file=f"{folder}/variant.json", line=1) if there else None,
        drifts=tuple(drifts),
        allowed=(),
        expectations=tuple(answers),
    )


def experiment(*variants, name="e", answers=()):
    """An experiment of one case."""
    return ExperimentVerdict(
        name=name,
        file=f"experiments/{name}.py",
        question="Is it so?",
        baselines=f"dumps/{name}",
        compared=sum(
            v.baseline is not None and v.status not in ("not_comparable", "fails_on_both")
            for v in variants
        ),
        expectations=tuple(answers),
        cases=(CaseVerdict(name="gemm", kernel="gemm", variants=tuple(variants)),),
    )


def verdict(*experiments, allow_missing=False):
    """The verdict of experiments, summed up by the gate's own code."""
    return summarize(
        experiments,
        against="the baselines in dumps",
        compiler=COMPILER,
        allow_missing=allow_missing,
        acceptable=True,
    )


def of_variants(*variants, allow_missing=False):
    """The verdict of one experiment."""
    return verdict(experiment(*variants), allow_missing=allow_missing)


DRIFT = variant("drift", drifts=[change()])
NASTY = "a|b`c<img src=x>*d*\n@team ]]> \x00 ::error:: 50% é\r"
EVERY_STATUS = {
    "clean": of_variants(variant()),
    "drift": of_variants(DRIFT),
    "failed_now": of_variants(variant("failed_now", note="fails now: no layout")),
    "lowers_now": of_variants(variant("lowers_now", note="failed before")),
    "not_comparable": of_variants(
        variant("not_comparable", note="baseline by tilelang 0.1.14", drifts=[change()])
    ),
    "fails_on_both": of_variants(variant("fails_on_both", note="fails on both sides: no layout")),
    "fails_on_both, beside a clean one": of_variants(
        variant(), variant("fails_on_both", "gemm/sm_80/x", note="fails on both sides: no layout")
    ),
    "missing_baseline": of_variants(variant("missing_baseline")),
    "unused_baseline": of_variants(variant(), variant("unused_baseline", "gemm/sm_80/x")),
    "expectation_failed": of_variants(variant("expectation_failed", answers=[answer()])),
    "expectation that nobody answers": verdict(experiment(variant(), answers=[answer()])),
    "missing, allowed": of_variants(
        variant(), variant("missing_baseline", "gemm/sm_80/x"), allow_missing=True
    ),
    "nothing compared": of_variants(variant("missing_baseline"), allow_missing=True),
    "no variant": verdict(),
    "text that is code elsewhere": of_variants(
        variant(
            "drift",
            name=NASTY,
            note=NASTY,
            drifts=[change(NASTY, NASTY, place=Place(file="a b:c,d%é.json", line=3))],
            answers=[answer(NASTY, error=NASTY)],
        )
    ),
    "huge": verdict(
        *(
            experiment(
                *(
                    variant(
                        "drift",
                        name=f"gemm/sm_90a/block={number},num_stages={depth}",
                        drifts=[
                            change(f"fact {number} {depth} {fact} changed", f"x[{fact}]{number}")
                            for fact in range(12)
                        ],
                    )
                    for depth in range(4)
                ),
                name=f"experiment_with_a_long_name_{number}",
            )
            for number in range(150)
        )
    ),
}
"""A verdict for each way to end, and for what a format may stumble over."""


def approved_by(found, command):
    """The verdict with another command that approves it."""
    return msgspec.structs.replace(
        found, accept=msgspec.structs.replace(found.accept, shell=command)
    )
