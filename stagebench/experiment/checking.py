"""Is what the compiler makes of every experiment what was accepted?

What was lowered (`stagebench.experiment.lowered_experiments`) is held against the baselines
(`stagebench.experiment.compared_with`).  Nothing is written but the cache.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.experiment.check_against_compiler import baselines_of
from stagebench.experiment.compared_with import Compared, baselines_of_file, said_against
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.experiment_policies import experiment_policies
from stagebench.experiment.lowered_experiments import LoweredExperiments, Seen, lower_experiments
from stagebench.experiment.sweep import SweepOptions
from stagebench.experiment.sweep_watcher import SweepWatcher
from stagebench.experiment.unused_baselines import ownerless, with_all_unused
from stagebench.gate.baseline_line import forget_documents
from stagebench.gate.baselines import Baseline, BaselineSet
from stagebench.gate.expectation import Member, evaluate
from stagebench.gate.judge import judge
from stagebench.gate.matching import match_baselines
from stagebench.gate.policy import Policy
from stagebench.gate.summary import summarize, worse
from stagebench.model import Compiler
from stagebench.model.verdict import (
    CaseVerdict,
    ExpectationResult,
    ExperimentVerdict,
    Place,
    VariantVerdict,
    Verdict,
)


@dataclass(frozen=True)
class CheckResult:
    """A verdict with what it was made from."""

    verdict: Verdict
    lowered: LoweredExperiments
    by_others: tuple[LoweredExperiments, ...] = ()
    """What the compilers after the first made of the same experiments."""

    @property
    def from_cache(self) -> int:
        """How many variants were not lowered now."""
        return sum(
            one.lowering.cached
            for lowered in (self.lowered, *self.by_others)
            for several in lowered.seen
            for one in several
        )


def run_check(
    files: Sequence[ExperimentFile],
    compared: Compared,
    options: SweepOptions,
    watcher: SweepWatcher | None = None,
) -> CheckResult:
    """Lower, compare and judge.

    Raises `UsageError` for what is wrong with an experiment or the request, `DumpError` for a
    baseline that can't be trusted, before anything is lowered.
    """
    first, *others = lower_experiments(files, compared, options, watcher)
    return judge_experiments(first, compared, others)


def judge_experiments(
    lowered: LoweredExperiments,
    compared: Compared,
    by_others: Sequence[LoweredExperiments] = (),
) -> CheckResult:
    """Hold what was lowered against the baselines as they are now."""
    forget_documents()
    with tempfile.TemporaryDirectory(prefix="stagebench-") as temporary:
        sets = _sets(lowered, compared, Path(temporary))
        verdict = _judge_all([lowered, *by_others], sets, compared)
    return CheckResult(verdict, lowered, tuple(by_others))


def _sets(lowered: LoweredExperiments, compared: Compared, temporary: Path) -> list[BaselineSet]:
    """What each experiment is compared with."""
    if lowered.other is None or lowered.other_compiler is None:
        return [baselines_of_file(file, compared, temporary) for file in lowered.files]
    return [
        baselines_of(
            [(one.planned.name, one.lowering) for one in then],
            lowered.other_compiler,
            temporary / str(number),
        )
        for number, then in enumerate(lowered.other)
    ]


def _judge_all(
    by_compiler: Sequence[LoweredExperiments], sets: Sequence[BaselineSet], compared: Compared
) -> Verdict:
    taken: set[str] = set()
    several = len(by_compiler) > 1
    verdicts: list[ExperimentVerdict] = []
    for number, lowered in enumerate(by_compiler):
        for file, seen, known in zip(lowered.files, lowered.seen, sets, strict=True):
            judged = judge_experiment(
                file, seen, experiment_policies(file), known, compared, taken,
                by=lowered.compiler if several else None, again=number > 0,
            )  # fmt: skip
            if judged.cases or number == 0:
                verdicts.append(judged)
    if not compared.only:
        verdicts = with_all_unused(verdicts, sets, taken)
        verdicts += ownerless(by_compiler[0].files, compared)
    return summarize(
        verdicts,
        against=said_against(compared, sets),
        compiler=None if several else by_compiler[0].compiler,
        allow_missing=compared.allow_missing,
        acceptable=not (
            compared.revision
            or compared.run
            or compared.against_compiler
            or several
            or compared.pass_configs
        ),
        asked_compiler=next(iter(compared.compilers), None),
        against_compiler=by_compiler[0].other_compiler,
        not_asked=by_compiler[0].not_asked,
        typed={file.shown: os.path.relpath(file.path) for file in by_compiler[0].files},
    )


def judge_experiment(
    file: ExperimentFile,
    seen: Sequence[Seen],
    policies: Mapping[str, Policy],
    known: BaselineSet,
    compared: Compared,
    taken: set[str],
    *,
    by: Compiler | None = None,
    again: bool = False,
) -> ExperimentVerdict:
    """One experiment against its baselines; adds the folders of those it used to ``taken``.

    ``by`` is named where several compilers lower; ``again``: not the first of them, so that
    expectations which no variant could answer have been told already.
    """
    results = [one.lowering.result for one in seen]
    found = match_baselines([one.planned.name for one in seen], results, known.baselines)
    members = [
        Member(one.lowering.result, one.lowering.kernel_cu, one.planned.axes) for one in seen
    ]
    answers, unanswered = evaluate(file.experiment.expectations, members, file.shown)
    by_case: dict[str, list[VariantVerdict]] = {}
    for one, baseline, answer in zip(seen, found, answers, strict=True):
        case = one.planned.case
        if not one.judged:
            continue
        place = None
        if compared.against_compiler is not None:  # no baseline of the repository
            place = Place(file=file.shown, line=None)
        verdict = _variant(one, baseline, answer, policies[case.label], known, compared, place)
        if one.itself:
            verdict = _by_itself(verdict)
        by_case.setdefault(case.label, []).append(verdict)
        if baseline is not None:
            taken.add(baseline.dump.folder)
    return ExperimentVerdict(
        name=file.name if by is None else f"{file.name}@{by.name}=={by.version}",
        file=file.shown,
        question=file.experiment.question.strip(),
        baselines=known.shown,
        compared=sum(
            v.baseline is not None and v.status not in ("not_comparable", "fails_on_both")
            for several in by_case.values()
            for v in several
        ),
        expectations=() if again else unanswered,
        cases=tuple(
            CaseVerdict(name=name, kernel=several[0].variant.kernel, variants=tuple(several))
            for name, several in by_case.items()
        ),
    )


def _by_itself(verdict: VariantVerdict) -> VariantVerdict:
    """A variant whose own compiler is the one that it is compared with."""
    by = verdict.variant.compiler
    broken = verdict.status == "expectation_failed"
    return msgspec.structs.replace(
        verdict,
        status=worse("expectation_failed", "not_comparable") if broken else "not_comparable",
        note=f"its case names {by.name} {by.version}, which is what it is compared with",
        drifts=(),
        allowed=(),
    )


def _variant(
    one: Seen,
    baseline: Baseline | None,
    answers: tuple[ExpectationResult, ...],
    policy: Policy,
    known: BaselineSet,
    compared: Compared,
    elsewhere: Place | None,
) -> VariantVerdict:
    result = one.lowering.result
    broken = any(answer.outcome != "held" for answer in answers)
    if baseline is None:
        failure = result.failure
        return VariantVerdict(
            name=one.planned.name,
            variant=result.variant,
            status=worse("expectation_failed", "missing_baseline") if broken
            else "missing_baseline",
            note=f"it fails to lower: {failure.message.splitlines()[0]}" if failure else None,
            baseline=None,
            place=None,
            drifts=(),
            allowed=(),
            expectations=answers,
            outcome=result.outcome,
        )  # fmt: skip
    folder = f"{known.shown}/{baseline.name}"
    judged = judge(
        result,
        one.lowering.kernel_cu,
        baseline,
        policy,
        shown=folder,
        any_compiler=compared.any_compiler or compared.against_compiler is not None,
        asked=frozenset(compared.pass_configs),
        elsewhere=elsewhere,
    )
    return VariantVerdict(
        name=one.planned.name,
        variant=result.variant,
        status=worse("expectation_failed", judged.status) if broken else judged.status,
        note=judged.note,
        baseline=folder,
        place=elsewhere or Place(file=f"{folder}/variant.json", line=1),
        drifts=judged.drifts,
        allowed=judged.allowed,
        expectations=answers,
        outcome=result.outcome,
    )
