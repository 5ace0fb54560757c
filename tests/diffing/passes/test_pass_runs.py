"""What each pass was given: its predecessor's text, unless that can't be."""

import msgspec
import pytest

from stagebench.diff.pass_alignment import AlignedPass, align_passes
from stagebench.diff.pass_divergence import PassComparison, first_divergence
from stagebench.diff.pass_runs import Lowering, PassStep
from stagebench.errors import DumpError
from stagebench.model import PassRun
from tests.diffing.passes.recorded import dump


def step_of(lowering, name, number=1):
    return next(s for s in lowering.steps if s.run.name == name and s.number == number)


def step(sequence, name, depth=0, parent=None):
    run = PassRun(
        sequence=sequence, name=name, depth=depth, pass_phase=None, changed=True, snapshot="x",
        ir_bytes=1,
    )  # fmt: skip
    return PassStep(run, 1, parent, None, "x")


def names(aligned):
    return [
        (pair.left and pair.left.run.sequence, pair.right and pair.right.run.sequence)
        for pair in aligned
    ]


def test_a_pass_takes_what_its_predecessor_left():
    """Outermost passes follow each other; the first takes the module as written."""
    lowering = Lowering(dump("sm_80", 2))
    planning = step_of(lowering, "tl.PipelinePlanning")
    inject = step_of(lowering, "tl.InjectSoftwarePipeline")
    assert inject.before == planning.after
    assert lowering.steps[0].before == lowering.initial
    assert '"num_stages": 2' in lowering.texts[lowering.initial]


def test_host_and_device_are_filtered_from_one_module():
    """The second filter takes the module of both, not what the first one left."""
    lowering = Lowering(dump("sm_80", 2))
    first, second = step_of(lowering, "tirx.Filter"), step_of(lowering, "tirx.Filter", 2)
    assert first.after != first.before
    assert second.before == first.before


def test_a_nested_pass_over_another_module_has_no_known_before():
    """Tile operators are lowered in modules of their own: nothing is claimed about those."""
    lowering = Lowering(dump("sm_80", 2))
    nested = [s for s in lowering.steps if s.parent is not None and s.run.changed]
    assert [(s.run.name, s.before is None) for s in nested] == [
        ("tl.LetInline", True),
        ("tl.Simplify", False),
        ("tl.LetInline", True),
        ("tl.Simplify", True),
    ]


def test_a_pass_that_changed_nothing_has_its_own_text_before_it():
    """A no-op is known to be one, whatever stands around it."""
    lowering = Lowering(dump("sm_80", 2))
    assert all(s.before == s.after for s in lowering.steps if not s.run.changed)


def test_a_missing_snapshot_is_an_error_that_names_the_pass():
    """A dump whose snapshots are not those of its passes is refused."""
    good = dump("sm_80", 2)
    facts = good.result.facts
    runs = facts.lowering.passes
    broken = (*runs[:5], msgspec.structs.replace(runs[5], snapshot="0" * 16), *runs[6:])
    lowering = msgspec.structs.replace(facts.lowering, passes=broken)
    result = msgspec.structs.replace(
        good.result, facts=msgspec.structs.replace(facts, lowering=lowering)
    )
    with pytest.raises(DumpError, match=r"pass 5 \(tl.AnnotateDeviceBoundTmaCopies\)"):
        Lowering(msgspec.structs.replace(good, result=result))


def test_extra_passes_are_aligned_by_sequence():
    """A pass that only one side runs leaves the others where they are."""
    left = [step(0, "a"), step(1, "b"), step(2, "a")]
    right = [step(0, "a"), step(1, "x"), step(2, "b"), step(3, "a")]
    assert names(align_passes(left, right)) == [(0, 0), (None, 1), (1, 2), (2, 3)]


def test_nested_passes_are_aligned_below_their_parents_only():
    """A nested run never pairs with an outermost one of its name, nor with another parent's."""
    left = [step(0, "p"), step(1, "s", 1, 0), step(2, "q"), step(3, "s")]
    right = [step(0, "p"), step(1, "q"), step(2, "s", 1, 1), step(3, "s")]
    assert names(align_passes(left, right)) == [(0, 0), (1, None), (2, 1), (None, 2), (3, 3)]


@pytest.mark.parametrize("right", [1, 3])
def test_every_run_is_aligned_once_and_in_order(right):
    """Depth-dependent numbers of passes: 82, 82, 84; none is lost, both orders are kept."""
    sides = Lowering(dump("sm_80", 2)), Lowering(dump("sm_80", right))
    aligned = align_passes(sides[0].steps, sides[1].steps)
    for side, runs in (("left", sides[0].runs), ("right", sides[1].runs)):
        found = [getattr(pair, side).run.sequence for pair in aligned if getattr(pair, side)]
        assert found == [run.sequence for run in runs]
    outer = [pair for pair in aligned if pair.either.parent is None]
    assert all(pair.left and pair.right for pair in outer)


def test_the_first_divergence_is_the_first_that_is_shown():
    """In the order of the alignment: also where it is nested below a pass that only carries on."""
    nested = AlignedPass(step(1, "s", 1, 0), step(1, "s", 1, 0))
    compared = [
        PassComparison(AlignedPass(step(0, "p"), step(0, "p")), "same"),
        PassComparison(nested, "diverges"),
        PassComparison(AlignedPass(step(2, "q"), step(2, "q")), "diverges"),
    ]
    assert first_divergence(compared) is compared[1]
    assert first_divergence(compared[2:]) is compared[2]
    assert first_divergence(compared[:1]) is None
