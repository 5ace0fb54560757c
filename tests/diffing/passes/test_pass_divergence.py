"""Which pass first treats two variants differently, and which only carry on."""

import time

import msgspec
import pytest

from stagebench.diff.pass_alignment import one_name
from stagebench.diff.pass_allowance import Allowance
from stagebench.diff.pass_compare import compare_passes
from stagebench.diff.pass_divergence import TwoLowerings
from stagebench.diff.pass_runs import Lowering
from stagebench.diff.pass_selection import select_passes
from stagebench.diff.pass_texts import pair_texts
from stagebench.errors import DumpError
from stagebench.model import Failure
from stagebench.report.passes_rows import verdict
from tests.diffing.passes.recorded import compared, dump, edited

NOTHING = Allowance({}, frozenset(), None, ({}, {}))


def first(diff):
    return None if diff.first is None else diff.passes[diff.first].name


def states(diff):
    return {(p.name, p.number): p.state for p in diff.passes if p.left_sequence is not None}


def shown(difference):
    """The new lines of a pass: what is left, what is right."""
    rows = [row for hunk in difference.hunks for row in hunk.rows]
    return (
        [row.left_text.strip() for row in rows if row.kind in ("removed", "changed")],
        [row.right_text.strip() for row in rows if row.kind in ("added", "changed")],
    )


@pytest.mark.parametrize(
    ("arch", "left", "right", "name"),
    [
        ("sm_80", 2, 3, "tl.InjectSoftwarePipeline"),
        ("sm_80", 1, 2, "tl.PipelinePlanning"),
        ("sm_80", 0, 1, "tl.PipelinePlanning"),
        ("sm_90a", 2, 3, "tl.ProducerConsumerWarpSpecialized"),
        ("sm_90a", 1, 2, "tl.ProducerConsumerWarpSpecialized"),
        ("sm_90a", 0, 1, "tl.ProducerConsumerWarpSpecialized"),
    ],
)
def test_the_first_diverging_pass_is_named(arch, left, right, name):
    """The pass that decides about the depth, on both sides of the comparison."""
    assert first(compared(arch, left, right)) == name
    assert first(compared(arch, right, left)) == name


def test_a_stage_list_that_differs_as_asked_for_is_no_divergence():
    """Stages 0 0 1 and 0 0 2 are depths 2 and 3: PipelinePlanning did the same to both."""
    planning = compared("sm_80", 2, 3).passes[17]
    assert planning.name == "tl.PipelinePlanning"
    assert planning.state == "request"
    assert planning.requested == (("1", "2"), ("2", "3"))


def test_an_order_that_differs_is_a_divergence():
    """Orders 1 2 0 and 0 1 2 are decisions, and the hunk is that one line."""
    planning = compared("sm_80", 1, 2).passes[17]
    assert (planning.state, planning.new_left, planning.new_right) == ("diverges", 1, 1)
    left, right = shown(planning)
    assert len(left) == len(right) == 1
    assert '"software_pipeline_order": [1, 2, 0]' in left[0]
    assert '"software_pipeline_order": [0, 1, 2]' in right[0]


def test_the_pipeline_pass_shows_versions_and_prologue():
    """Depth 3 has another copy into shared memory before the loop, and a deeper wait in it."""
    diff = compared("sm_80", 2, 3)
    left, right = shown(diff.passes[diff.first])
    assert any("(2, 128, 64)" in line for line in left)
    assert any("(3, 128, 64)" in line for line in right)
    assert sum(line == "T.ptx_commit_group()" for line in right) == 1
    assert "T.ptx_wait_group(1)" in left
    assert "T.ptx_wait_group(2)" in right


def test_facts_are_listed_at_the_pass_since_which_they_differ():
    """The first diverging pass has the versions and the wait depth."""
    diff = compared("sm_80", 2, 3)
    found = [change.text for change in diff.passes[diff.first].facts]
    assert "A_shared versions 2 → 3" in found
    assert "cp_async_wait depth 1 → 2 in the body" in found


def test_passes_that_only_carry_on_do_not_diverge():
    """What FlattenBuffer makes of three versions instead of two is no decision of its own."""
    found = states(compared("sm_80", 2, 3))
    assert found["tl.FlattenBuffer", 1] == "request"
    assert found["tl.LowerAccessPtr", 1] == "follows"
    assert found["tirx.BindTarget", 1] == "same"
    assert found["tl.LegalizeNegativeIndex", 1] == "no_op"


def test_identical_variants_have_no_divergence():
    """A variant against itself: nothing diverges, nothing follows."""
    diff = compared("sm_90a", 2, 2)
    assert diff.first is None
    assert {p.state for p in diff.passes} <= {"no_op", "same", "unknown"}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_renamed_tensor_is_no_divergence(arch):
    """Another name, and with it other parameter positions: said, and equal."""
    diff = compared(arch, 2, 2, "renamed.gemm")
    assert diff.first is None
    assert diff.renamed == {"X": "B", "X_handle": "B_handle", "X_shared": "B_shared"}
    assert {p.state for p in diff.passes} <= {"no_op", "same", "unknown"}


def test_a_moved_kernel_is_no_divergence():
    """Line numbers are in no text."""
    assert first(compared("sm_80", 2, 2, "moved.gemm")) is None


def test_kernels_that_differ_as_written_are_said_to():
    """Depth 0 is another loop from the start: that is given, and no pass's doing."""
    diff = compared("sm_80", 0, 1)
    assert (diff.given_left, diff.given_right) == (1, 1)
    same = compared("sm_80", 1, 2)
    assert (same.given_left, same.given_right) == (0, 0)


def drop_one(line):
    def edit(text):
        lines = text.split("\n")
        places = [i for i, each in enumerate(lines) if each.strip() == line]
        if places:  # the host's text has none
            del lines[places[0]]
        return "\n".join(lines)

    return edit


@pytest.mark.parametrize(
    ("pass_name", "number", "edit"),
    [
        ("tl.ThreadSync", 2, drop_one('T.tvm_storage_sync("shared")')),
        ("tl.InjectSoftwarePipeline", 1, lambda t: t.replace("wait_group(1)", "wait_group(0)")),
        ("tl.InjectSoftwarePipeline", 1, drop_one("T.ptx_commit_group()")),
        ("tl.FlattenBuffer", 1, lambda t: t.replace("T.serial(15", "T.serial(16")),
        ("tl.MergeSharedMemoryAllocations", 1, lambda t: t.replace("data, 32768)", "data, 16384)")),
        ("tl.VectorizeLoop", 1, lambda t: t.replace("range(4)", "range(5)", 1)),
        ("tl.LowerHopperIntrin", 1, lambda t: t.replace("T.ptx_mma", "T.ptx_mma_sp")),
    ],
)
def test_one_changed_line_is_found_at_its_pass(tmp_path, pass_name, number, edit):
    """A sync lost, a depth, a bound, an offset, another intrinsic: each names its pass."""
    original = dump("sm_80", 2)
    changed = edited(tmp_path, original, pass_name, edit, number)
    diff = compare_passes(original, changed)
    assert diff.first is not None
    found = diff.passes[diff.first]
    assert (found.name, found.number) == (pass_name, number)
    assert found.new_left or found.new_right
    assert found.hunks


def test_a_later_divergence_is_found_among_inherited_differences(tmp_path):
    """Depths 2 and 3 differ in half of their lines by then; a bound of a common loop shows."""
    deeper = dump("sm_80", 3)
    changed = edited(
        tmp_path,
        deeper,
        "tl.InjectTcgen05Fence",
        lambda text: text.replace("unroll(64)", "unroll(63)"),
    )
    before = states(compare_passes(dump("sm_80", 2), deeper))
    assert before["tl.InjectTcgen05Fence", 1] == "no_op"
    after = compare_passes(dump("sm_80", 2), changed)
    [found] = [each for each in after.passes if each.name == "tl.InjectTcgen05Fence"]
    assert found.state == "diverges"
    left, right = shown(found)
    assert left == ["for i in T.unroll(64):"]
    assert right == ["for i in T.unroll(63):"]


@pytest.mark.parametrize("order", ["left", "right"])
def test_a_pass_that_ran_on_one_side_only_diverges(order):
    """Warp specialisation changes the loop on sm_90a and does not run on sm_80."""
    sides = dump("sm_80", 2), dump("sm_90a", 2)
    diff = compare_passes(*(sides if order == "left" else reversed(sides)))
    found = diff.passes[diff.first]
    assert found.name == "tl.ProducerConsumerWarpSpecialized"
    assert (found.left_sequence is None) == (order == "left")
    assert found.hunks == ()
    [edit] = found.edits
    assert edit.side == ("right" if order == "left" else "left")
    assert edit.hunks
    counts = found.new_left, found.new_right
    assert (counts[0] == 0) == (order == "left")
    assert (counts[1] == 0) == (order == "right")


def test_a_multiple_of_the_request_is_as_asked_for_and_other_numbers_are_not():
    """Bytes of all versions grow with the depth; what does not is a difference."""
    allowed = Allowance({}, frozenset({("2", "3")}), (2, 3), ({}, {}))
    assert allowed.asked(("2", "3"))
    assert allowed.asked(("16384", "24576"))
    assert not allowed.asked(("16384", "24577"))
    assert not allowed.asked(("1", "2"))
    assert not allowed.asked(("0", "0"))
    assert not allowed.asked(("x", "y"))


def test_numbered_names_are_equal_only_one_to_one():
    """``A_1`` may be ``A_2`` of the other side, but not both of its names."""
    one = pair_texts(["f(A_1)", "g(A_1)"], ["f(A_2)", "g(A_2)"], NOTHING)
    assert one.left_kinds == ["equal", "equal"]
    two = pair_texts(["f(A_1, A_1)"], ["f(A_2, A_3)"], NOTHING)
    assert two.left_kinds == ["differs"]


def test_a_flat_and_a_nested_attribute_are_one_statement():
    """The printer writes ``with`` where something follows the block."""
    found = pair_texts(['with T.attr(0, "x", 1):'], ['T.attr(0, "x", 1)'], NOTHING)
    assert found.left_kinds == ["equal"]


def test_a_failed_variant_has_no_passes_to_compare():
    """It is an error that says where to look."""
    good = dump("sm_80", 2)
    failure = Failure(kind="crash", message="boom")
    result = msgspec.structs.replace(good.result, outcome="failed", failure=failure, facts=None)
    with pytest.raises(DumpError, match="failed: it has no passes"):
        compare_passes(good, msgspec.structs.replace(good, result=result))


def at_pass(number, old, new):
    """In every text from a pass on, the first ``old`` is ``new``."""

    def copy(tmp_path, original):
        run = original.result.facts.lowering.passes[number]
        runs = original.result.facts.lowering.passes[:number]
        count = 1 + sum(earlier.name == run.name for earlier in runs)
        return edited(tmp_path, original, run.name, lambda t: t.replace(old, new, 1), count)

    return copy


@pytest.mark.parametrize(
    ("arch", "number", "old", "new"),
    [
        *(("sm_80", n, "ptx_wait_group(2)", "ptx_wait_group(1)") for n in (30, 40, 45, 50, 60, 70)),
        *(("sm_80", n, "ptx_wait_group(1)", "ptx_wait_group(0)") for n in (30, 60)),
        *(("sm_80", n, "T.ptx_commit_group()", "T.evaluate(0)") for n in (30, 40, 50, 60)),
        *(("sm_80", n, "T.serial(14", "T.serial(13") for n in (30, 40, 50, 60)),
        ("sm_90a", 16, "k // 3 % 2", "k // 3 % 3"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_an_edit_of_one_side_diverges_where_the_sides_differed_before(
    tmp_path, arch, number, old, new, turned
):
    """Depths 2 and 3 differ in that line or block already, or come to be alike in it."""
    sides = dump(arch, 2), at_pass(number, old, new)(tmp_path, dump(arch, 3))
    diff = compare_passes(*(reversed(sides) if turned else sides))
    [found] = [
        each
        for each in diff.passes
        if (each.left_sequence if turned else each.right_sequence) == number
    ]
    assert found.state == "diverges"
    assert (found.new_left if turned else found.new_right) > 0
    rows = [row for edit in found.edits for hunk in edit.hunks for row in hunk.rows]
    rows += [row for hunk in found.hunks for row in hunk.rows]
    assert any(new in (row.left_text or "") + (row.right_text or "") for row in rows)


def test_a_dropped_line_is_counted_and_shown(tmp_path):
    """A commit of depth 3 alone is lost: no text after the pass has it, its edit does."""
    original = dump("sm_80", 3)
    [run] = [r for r in original.result.facts.lowering.passes if r.name == "s_tir.InferFragment"]
    changed = edited(tmp_path, original, run.name, drop_one("T.ptx_commit_group()"))
    diff = compare_passes(dump("sm_80", 2), changed)
    [found] = [each for each in diff.passes if each.name == run.name]
    assert found.state == "diverges"
    rows = [row for edit in found.edits for hunk in edit.hunks for row in hunk.rows]
    assert any(r.kind == "removed" and "ptx_commit_group" in r.left_text for r in rows)


def test_an_edit_that_is_only_names_does_not_diverge(tmp_path):
    """A no-op on the left, another number behind a name on the right."""
    changed = edited(
        tmp_path,
        dump("sm_80", 2),
        "tl.InjectTcgen05Fence",
        lambda text: text.replace("A_shared_1", "A_shared_7"),
    )
    found = states(compare_passes(dump("sm_80", 2), changed))
    assert found["tl.InjectTcgen05Fence", 1] != "diverges"


def test_what_a_pass_wrote_on_one_side_is_in_its_hunks():
    """Depth 0 against 1: prologue, waits and commits; on sm_90a the barriers."""
    [found] = [p for p in compared("sm_80", 0, 1).passes if p.name == "tl.InjectSoftwarePipeline"]
    right = shown(found)[1]
    assert right.count("T.ptx_commit_group()") == right.count("T.ptx_wait_group(0)") == 2
    assert any(line.startswith("for k in T.serial(15") for line in right)
    diff = compared("sm_90a", 0, 1)
    right = shown(diff.passes[diff.first])[1]
    assert sum(line.startswith("T.mbarrier_wait_parity(") for line in right) == 2
    assert any(line.startswith("T.ptx_arrive_barrier(") for line in right)


def test_what_is_seen_after_the_split_is_not_claimed_of_the_next_pass(tmp_path):
    """The split of host and device code leaves no text of its own."""
    changed = edited(
        tmp_path,
        dump("sm_80", 3),
        "tl.MarkCudaSyncCalls",
        lambda text: text.replace("ptx_wait_group(2)", "ptx_wait_group(1)"),
    )
    diff = compare_passes(dump("sm_80", 3), changed)
    found = diff.passes[diff.first]
    assert (found.name, found.since) == ("tl.MarkCudaSyncCalls", "tl.SplitHostDevice")
    assert [p.name for p in diff.passes if p.since] == ["tl.MarkCudaSyncCalls"]


def test_neighbours_take_well_under_a_second():
    """CPU time of a whole comparison, facts included, caches cold or warm."""
    started = time.process_time()
    compare_passes(dump("sm_80", 2), dump("sm_80", 3))
    assert time.process_time() - started < 1.0


def test_hunks_are_the_passes_own():
    """A pass that follows has no hunks; one that diverges shows nothing that it inherited."""
    two = TwoLowerings(Lowering(dump("sm_80", 2)), Lowering(dump("sm_80", 3)))
    for each in two.compare():
        if each.state == "diverges" and each.aligned.left and each.aligned.right:
            rows = [row for hunk in two.hunks(each, 0) for row in hunk.rows]
            new = [row for row in rows if row.kind != "equal" and not row.marks]
            assert len([row for row in new if row.kind != "ignored"]) <= (
                each.new_left + each.new_right
            )


def in_tir(original):
    """A dump as the TVM of TileLang 0.1.9 names its passes: ``tir.X`` for ``tirx.X``."""

    def old(run):
        namespace, _, name = run.name.rpartition(".")
        return msgspec.structs.replace(run, name=f"tir.{name}") if namespace in NEW else run

    facts = original.result.facts
    lowering = msgspec.structs.replace(
        facts.lowering, passes=tuple(old(run) for run in facts.lowering.passes)
    )
    facts = msgspec.structs.replace(facts, lowering=lowering)
    return msgspec.structs.replace(
        original, result=msgspec.structs.replace(original.result, facts=facts)
    )


NEW = ("tirx", "s_tir")


@pytest.mark.parametrize("turned", [False, True])
def test_a_pass_in_a_renamed_namespace_is_the_same_pass(turned):
    """TVM renamed ``tir``: no pass ran on one side alone, and the first to diverge is the same."""
    sides = in_tir(dump("sm_80", 2)), dump("sm_80", 3)
    moved = compare_passes(*(reversed(sides) if turned else sides))
    plain = compared("sm_80", *((3, 2) if turned else (2, 3)))
    assert (first(moved), len(moved.passes)) == (first(plain), len(plain.passes))
    assert [each.state for each in moved.passes] == [each.state for each in plain.passes]
    [bound] = [each for each in moved.passes if each.name.endswith(".BindTarget")]
    assert {bound.name, bound.right_name} == {"tir.BindTarget", "tirx.BindTarget"}
    assert {each.right_name for each in plain.passes} == {None}
    told = [line for line in verdict(moved) if line.startswith("namespaces of passes renamed")]
    if not turned:
        assert told == [
            "namespaces of passes renamed on the right: tir.X is tirx.X for 8 passes, "
            "tir.X is s_tir.X for 4 passes"
        ]


def test_another_compilers_pass_of_that_name_is_another_pass():
    """TileLang's own ``tl.Simplify`` is not TVM's."""
    assert one_name("tir.Simplify") == one_name("tirx.Simplify") == one_name("s_tir.Simplify")
    assert len({one_name(n) for n in ("tl.Simplify", "tir.Simplify", "Simplify", "pass_fn")}) == 4


def test_a_pass_is_chosen_by_either_of_its_names():
    """Its own name wins; else the one it has on the right, or in another of TVM's namespaces."""
    moved = compare_passes(in_tir(dump("sm_80", 2)), dump("sm_80", 3)).passes
    by_name = {name: select_passes(moved, name) for name in ("tir.Filter", "tirx.Filter", "Filter")}
    assert len(set(by_name.values())) == 1
    assert {moved[at].name for at in by_name["Filter"]} == {"tir.Filter"}
    plain = compared("sm_80", 2, 3).passes
    assert select_passes(plain, "tir.Filter") == select_passes(plain, "tirx.Filter")
    assert [plain[at].name for at in select_passes(plain, "tir.StorageRewrite")] == [
        "tir.StorageRewrite"
    ]
