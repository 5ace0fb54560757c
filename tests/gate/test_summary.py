"""Which exit code, which groups, which command?"""

import msgspec
import pytest

from stagebench.gate.summary import summarize
from stagebench.model import Compiler
from stagebench.model.verdict import (
    CaseVerdict,
    ExpectationResult,
    ExperimentVerdict,
    JudgedChange,
    Place,
    Rule,
    VariantVerdict,
)
from stagebench.report.check_blocks import names_in_words
from stagebench.report.check_failure import check_failure
from stagebench.report.check_findings import check_findings
from stagebench.report.check_formats import render
from stagebench.report.check_rows import check_rows, ending
from stagebench.report.check_view import print_verdict
from tests.dumping import building as dumps

BROKEN = ExpectationResult(words="w", outcome="failed", seen=(), error=None, place=None)
HELD = ExpectationResult(words="w", outcome="held", seen=(), error=None, place=None)


def change(
    text="wait depth 1 → 2", path="sync_ops[cp_async_wait body #1].args[max_pending]", **more
):
    fields = {
        "group": "sync", "kind": "fact", "presence": "both", "follows": False, "left": 1,
        "right": 2, "why": "must be exactly as in the baseline", "severity": "error",
        "rule": Rule(pattern="*", action="exact", source="default"),
        "place": Place(file="dumps/e/facts.json", line=3), **more,
    }  # fmt: skip
    return JudgedChange(path=path, text=text, **fields)


def variant(status="clean", name="gemm/sm_80/num_stages=1", drifts=(), allowed=(), answers=()):
    return VariantVerdict(
        name=name, variant=dumps.variant(), status=status, note=None,
        baseline=None if status == "missing_baseline" else f"dumps/e/{name}", place=None,
        drifts=tuple(drifts), allowed=tuple(allowed), expectations=tuple(answers),
    )  # fmt: skip


def experiment(*variants, name="e", expectations=()):
    compared = [v for v in variants if v.baseline and v.status not in (
        "not_comparable", "fails_on_both", "unused_baseline")]  # fmt: skip
    return ExperimentVerdict(
        name=name, file=f"experiments/{name}.py", question="q", baselines=f"dumps/{name}",
        compared=len(compared), expectations=expectations,
        cases=(CaseVerdict(name="gemm", kernel="gemm", variants=variants),),
    )  # fmt: skip


def verdict(*experiments, allow_missing=False):
    return summarize(
        experiments, against="the baselines", compiler=None, allow_missing=allow_missing,
        acceptable=True,
    )  # fmt: skip


def code(*variants, **options):
    return verdict(experiment(*variants), **options).exit_code


CLEAN = variant()
DRIFT = variant("drift", drifts=[change()])


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ([CLEAN], 0),
        ([CLEAN, DRIFT], 1),
        ([variant("expectation_failed", answers=[HELD, BROKEN])], 1),
        ([CLEAN, variant("failed_now")], 3),
        ([CLEAN, variant("lowers_now")], 3),
        ([CLEAN, variant("not_comparable")], 4),
        ([CLEAN, variant("fails_on_both")], 0),  # shown; nothing else to compare: 4
        ([variant("fails_on_both")], 4),
        ([CLEAN, variant("missing_baseline")], 4),
        ([CLEAN, variant("unused_baseline")], 4),
        ([], 4),
        # the most serious of several
        ([DRIFT, variant("failed_now"), variant("not_comparable")], 3),
        ([DRIFT, variant("missing_baseline")], 1),
        ([variant("missing_baseline", answers=[BROKEN])], 1),
        # what would be drift is shown, and not judged, where another compiler made the baseline
        ([CLEAN, variant("not_comparable", drifts=[change()])], 4),
    ],
)
def test_exit_codes_and_their_precedence(variants, expected):
    """3 before 1 before 4 before 0."""
    assert code(*variants) == expected


def test_a_failure_that_was_accepted_is_clean_and_has_no_code():
    """It is said of the clean ones how many fail; of others and of those that lower, nothing."""
    lowered, failed = (
        msgspec.structs.replace(CLEAN, outcome=outcome) for outcome in ("lowered", "failed")
    )
    lost = msgspec.structs.replace(variant("failed_now"), outcome="failed")
    for variants, said in (
        ([failed], "1 clean (it fails, as accepted)"),
        ([failed, failed], "2 clean (they fail, as accepted)"),
        ([lowered, failed, failed], "3 clean (2 of them fail, as accepted)"),
        ([lowered, failed, lost], "1 fail now, 2 clean (1 of them fails, as accepted)"),
        ([lowered], "1 clean"),
    ):
        assert check_rows(verdict(experiment(*variants))).summary.endswith(f": {said}")


def test_what_fails_on_both_sides_is_counted_apart():
    """Not as clean; the rest is clean, or nothing was compared."""
    found = verdict(experiment(CLEAN, variant("fails_on_both", "x")))
    assert check_rows(found).summary.endswith(": 1 not comparable (failing on both sides), 1 clean")
    assert [(one.kind, one.level) for one in check_findings(found)] == [
        ("fails_on_both", "warning")
    ]
    found = verdict(experiment(variant("fails_on_both", "x")))
    assert check_rows(found).summary.endswith("(failing on both sides); nothing was compared")
    assert [(one.kind, one.level) for one in check_findings(found)] == [("fails_on_both", "error")]


def test_one_of_one_is_no_plural():
    """``1 of 1 expectation``, ``1 of 2 expectations``."""
    rows = check_rows(verdict(experiment(variant("expectation_failed", answers=[BROKEN]))))
    assert rows.variants[0].said == "1 of 1 expectation failed"
    both = variant("expectation_failed", answers=[HELD, BROKEN])
    assert check_rows(verdict(experiment(both))).variants[0].said == "1 of 2 expectations failed"


def test_allow_missing_forgives_missing_and_unused_only():
    """And never a check that compared nothing."""
    missing, unused = variant("missing_baseline"), variant("unused_baseline")
    assert code(CLEAN, missing, unused, allow_missing=True) == 0
    assert code(CLEAN, missing, variant("not_comparable"), allow_missing=True) == 4
    assert code(missing, allow_missing=True) == 4
    assert code(allow_missing=True) == 4


def test_an_expectation_that_nobody_answered_is_drift():
    """It stands beside the variants and counts as they do."""
    assert verdict(experiment(CLEAN, expectations=(BROKEN,))).exit_code == 1


def test_identical_changes_are_one_group_over_experiments():
    """Wait depth 1 → 2 in three variants: one decision."""
    other = change("A_shared versions 2 → 3", "shared_buffers[A_shared].num_versions")
    wait = change(follows=True)
    found = verdict(
        experiment(variant("drift", "a", [wait, other]), variant("drift", "b", [wait])),
        experiment(variant("drift", "c", [wait]), name="f"),
    )
    assert [(group.change.text, group.variants) for group in found.groups] == [
        ("A_shared versions 2 → 3", ("e:a",)),
        ("wait depth 1 → 2", ("e:a", "e:b", "f:c")),
    ]


def test_the_command_names_what_it_would_do():
    """Only the experiments concerned; ``--only`` where there is one kind of step."""
    found = verdict(experiment(CLEAN), experiment(DRIFT, name="x y"))
    assert found.accept.shell == (
        "stagebench accept 'experiments/x y.py' --only fix --reason \"say why\""
    )
    both = verdict(experiment(DRIFT, variant("missing_baseline"), variant("unused_baseline")))
    assert both.accept.counts == {"fix": 1, "create": 1, "trim": 1}
    assert "--only" not in both.accept.argv
    assert verdict(experiment(CLEAN)).accept is None
    broken = variant("expectation_failed", answers=[BROKEN])
    assert verdict(experiment(broken)).accept is None


def test_rows_put_numbers_side_by_side_and_fold_what_follows():
    """One line for a fact that changed in all depths; consequences are counted."""
    drifts = [
        [change(f"wgmma call sites 1 → {n}", "sync_totals[wgmma].static", right=n),
         change("site vanished", f"sync_ops[x #{n}]", follows=True)]
        for n in (2, 3)
    ]  # fmt: skip
    found = verdict(
        experiment(variant("drift", "g/n=1", drifts[0]), variant("drift", "g/n=2", drifts[1]))
    )
    rows = check_rows(found)
    assert [(b.variants, b.count, [r.text for r in b.rows]) for b in rows.drifts] == [
        ("g/n=1, 2", 2, ["wgmma call sites 1 → 2|3"])
    ]
    assert rows.following == 2
    assert rows.summary == "2 variants against the baselines: 2 with drift"
    everything = check_rows(found, show_all=True)
    assert [row.path for block in everything.drifts for row in block.rows] == [
        "sync_totals[wgmma].static", "sync_ops[x #*]",
    ]  # fmt: skip


def test_what_a_variant_has_twice_stands_each_at_its_own_place():
    """Two op sites that changed otherwise in one variant: each row has its baseline and its why."""
    drifts = [
        change(
            f"wgmma depth 1 → {n}", f"sync_ops[wgmma body #{n}].depth", why=f"why {n}",
            place=Place(file="dumps/e/facts.json", line=n),
            rule=Rule(pattern="*.depth", action="exact", source="experiment"),
        )
        for n in (2, 3)
    ]  # fmt: skip
    (block,) = check_rows(verdict(experiment(variant("drift", "g/n=1", drifts)))).drifts
    assert [(row.text, row.place, row.rule.partition(" (")[0]) for row in block.rows] == [
        ("wgmma depth 1 → 2", "dumps/e/facts.json:2", "why 2"),
        ("wgmma depth 1 → 3", "dumps/e/facts.json:3", "why 3"),
    ]


def test_drift_that_only_follows_is_still_shown():
    """A consequence of something allowed is all there is to see."""
    rows = check_rows(verdict(experiment(variant("drift", drifts=[change(follows=True)]))))
    assert [r.text for b in rows.drifts for r in b.rows] == ["wait depth 1 → 2"]


def test_changes_that_are_not_judged_are_not_called_drift(capsys):
    """They are shown, and nothing says that nothing was compared."""
    found = verdict(experiment(variant("not_comparable", drifts=[change()])))
    assert check_rows(found).summary == (
        "1 variant against the baselines: 1 not comparable; nothing was judged"
    )
    said = check_failure(found)
    assert "not judged, in gemm/sm_80/num_stages=1:" in said
    assert "drift" not in said
    print_verdict(found, plain=True)
    out = capsys.readouterr().out
    assert out.startswith("not judged, in 1 variant  gemm/sm_80")
    assert (ending(found), "drift" in out) == ("not comparable", False)


def test_the_ending_says_what_it_was():
    """Drift, a failed expectation, or both; changes that nobody judges are neither."""
    both = variant("drift", drifts=[change()], answers=[BROKEN])
    apart = variant("not_comparable", "g/n=2", drifts=[change("x", "y")])
    alone = variant("expectation_failed", "g/n=1", answers=[BROKEN, HELD])
    assert ending(verdict(experiment(both))) == "drift and a failed expectation"
    assert ending(verdict(experiment(alone, apart))) == "a failed expectation"
    assert ending(verdict(experiment(variant("drift", drifts=[change()])))) == "drift"


@pytest.mark.parametrize(
    ("status", "words"), [("failed_now", "fails here"), ("lowers_now", "lowers here")]
)
def test_another_compiler_is_no_other_time(status, words):
    """No word says before or now where two compilers are compared."""
    found = msgspec.structs.replace(
        verdict(experiment(variant(status))), against_compiler=Compiler(name="tvm", version="1")
    )
    rows = check_rows(found)
    assert [row.words for row in rows.variants] == [words]
    said = [rows.summary, ending(found), *(f.sentence for f in check_findings(found))]
    said.append(render(found, "markdown"))
    assert not [text for text in said if "now" in text or "before" in text]


def test_names_are_shortened():
    """What they share is said once; many are counted."""
    names = [f"e:gemm/{arch}/num_stages={n}" for arch in ("sm_80", "sm_90a") for n in (1, 2)]
    assert (
        names_in_words(names, many=False)
        == "gemm/sm_80/num_stages=1, 2; gemm/sm_90a/num_stages=1, 2"
    )
    assert names_in_words(names[:1], many=True) == "e:gemm/sm_80/num_stages=1"
    many = [f"e:k{k}/a/n={n}" for k in range(9) for n in (1, 2)]
    assert names_in_words(many, many=False).endswith(" … 10 more")
