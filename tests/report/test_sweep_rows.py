"""Do the rows say what the recorded facts say, by value?"""

import msgspec
import pytest

from stagebench.model import Failure, Run, SharedMemory, SyncTotal, VariantResult
from stagebench.report.explain_rows import memory_bar
from stagebench.report.fact_rows import fact_rows
from stagebench.report.sweep_notes import fingerprint
from stagebench.report.sweep_rows import sweep_tables


def only_table(recorded, name, arch):
    run, texts = recorded(name, arch)
    (table,) = sweep_tables(run, texts)
    return table


def row(table, label):
    (found,) = [row for row in table.rows if row.label == label]
    return [cell.text for cell in found.cells]


def with_facts(result, **changes):
    return msgspec.structs.replace(result, facts=msgspec.structs.replace(result.facts, **changes))


def test_gemm_on_ampere_shows_what_the_depth_changed(recorded):
    """The schedule, the versions, the memory and the waits of a cp.async GEMM, depth by depth."""
    table = only_table(recorded, "gemm_sm80", "sm_80")
    assert table.columns == ("1", "2", "3", "4")
    assert row(table, "scheduled by") == ["software pipeline"] * 4
    assert row(table, "pass") == ["tl.PipelinePlanning"] * 4
    assert row(table, "stage") == ["0 0 1", "0 0 1", "0 0 2", "0 0 3"]
    assert row(table, "order") == ["1 2 0", "0 1 2", "0 1 2", "0 1 2"]
    assert row(table, "versions of A_shared, B_shared") == [f"{n} × 16 KiB" for n in (1, 2, 3, 4)]
    assert row(table, "shared memory / 163 KiB") == ["32 KiB", "64 KiB", "96 KiB", "128 KiB"]
    assert row(table, "deepest that fits") == ["–", "5", "5", "5"]
    assert row(table, "cp_async_wait") == ["2 · 16", "2 · 16", "3 · 16", "4 · 16"]
    assert row(table, "cp_async_wait <pending>") == [
        "<0>×2", "<1>×1 <0>×1", "<2>×1 <1>×1 <0>×1", "<3…0>×1",
    ]  # fmt: skip
    assert row(table, "syncthreads") == ["3 · 31", "3 · 31", "4 · 30", "5 · 29"]


def test_gemm_on_hopper_shows_who_took_the_loop(recorded):
    """Depth 0 has nobody; from depth 1 on warp specialisation adds barriers and threads."""
    table = only_table(recorded, "gemm_sm90a", "sm_90a")
    assert row(table, "scheduled by") == ["nobody"] + ["warp specialisation"] * 4
    assert row(table, "full barriers×arrivals") == ["0", "1×1", "2×1", "3×1", "4×1"]
    assert row(table, "empty barriers×arrivals") == ["0", "1×128", "2×128", "3×128", "4×128"]
    assert row(table, "tma_load") == ["0"] + ["2 · 32"] * 4
    assert row(table, "threads") == ["128"] + ["256"] * 4


def test_the_pass_is_folded_where_the_scheduler_implies_it(recorded):
    """A row that differs only as "scheduled by" does is not shown as a change of its own."""
    shown, folded = only_table(recorded, "gemm_sm90a", "sm_90a").folded()
    assert "scheduled by" in [row.label for row in shown]
    assert "pass" in [row.label for row in folded]


def test_what_differs_comes_first_and_the_rest_is_folded(recorded):
    """Every row is either shown or folded, and only differing ones are shown."""
    table = only_table(recorded, "gemm_sm80", "sm_80")
    shown, folded = table.folded()
    assert [row.label for row in folded] == [
        "scheduled by", "pass", "deepest that fits", "threads", "grid",
    ]  # fmt: skip
    assert all(row.differs for row in shown)
    assert table.folded(show_all=True) == (table.rows, ())


def test_a_cell_is_marked_where_it_differs_from_its_left_neighbour(recorded):
    """The first column is never marked, an equal cell neither."""
    table = only_table(recorded, "gemm_sm80", "sm_80")
    (stage,) = [row for row in table.rows if row.label == "stage"]
    assert [cell.changed for cell in stage.cells] == [False, False, True, True]


def test_identical_code_is_one_column_and_said_first(recorded):
    """A nested loop whose request is dropped gives the same bytes at every depth."""
    table = only_table(recorded, "nested", "sm_80")
    assert table.columns == ("1–3",)
    (note,) = table.headline
    assert (note.kind, note.depths) == ("identical", "depths 1–3")
    assert note.text == "identical code, byte for byte: num_stages changes nothing"


def test_without_cuda_texts_only_facts_are_called_identical(recorded):
    """The claim about code needs the code."""
    run, _ = recorded("nested", "sm_80")
    (table,) = sweep_tables(run)
    assert table.headline[0].text == "identical facts: num_stages changes nothing"


def test_equal_facts_with_different_code_stay_separate_columns(recorded):
    """One differing byte of CUDA, and nothing is merged or called identical."""
    run, texts = recorded("nested", "sm_80")
    (table,) = sweep_tables(run, [*texts[:-1], "other"])
    assert table.columns == ("1", "2", "3")
    assert [note.text for note in table.headline] == [
        "identical code, byte for byte",
        "2 texts of CUDA; no fact of this table differs",
    ]
    assert [note.depths for note in table.headline] == ["depths 1–2", ""]


def test_texts_are_counted_only_where_no_row_tells_them_apart(recorded):
    """Where a fact differs the rows say it; without the texts nobody knows."""
    table = only_table(recorded, "gemm_sm80", "sm_80")
    assert not any("texts of CUDA" in note.text for note in table.headline)
    run, texts = recorded("nested", "sm_80")
    (table,) = sweep_tables(run, [*texts[:-1], None])
    assert not any("texts of CUDA" in note.text for note in table.headline)


@pytest.mark.parametrize("field", ["shared_buffers", "barriers", "sync_ops", "pipeline_loops"])
def test_the_fingerprint_sees_every_fact(recorded, field):
    """Dropping any fact makes another fingerprint."""
    run, _ = recorded("nested", "sm_90a")
    facts = run.variants[1].facts
    assert fingerprint(facts) != fingerprint(msgspec.structs.replace(facts, **{field: ()}))


def test_a_depth_without_effect_says_why_and_for_which_depths(recorded):
    """Equal reasons are one line over their depths; another reason is another line."""
    table = only_table(recorded, "refill", "sm_80")
    found = {note.depths: note.text for note in table.notes if note.kind == "no_effect"}
    assert found["depths 2–4"].startswith("no buffer has more than one version")
    assert set(found) == {"depth 1", "depths 2–4"}


def test_messages_that_differ_in_numbers_are_one_line(recorded):
    """Three, four and five commits without a wait are one warning about three depths."""
    table = only_table(recorded, "refill", "sm_80")
    (warning,) = [note for note in table.notes if note.kind == "warning"]
    assert warning.depths == "depths 2–4"
    assert warning.text.startswith("3|4|5 cp.async commit sites and no wait")


def test_over_the_limit_is_marked_and_explained(recorded):
    """The cell carries the limit, so that it reads without colour; the note says what fits."""
    table = only_table(recorded, "overflow", "sm_80")
    (memory,) = [row for row in table.rows if row.label.startswith("shared memory")]
    assert [cell.over_limit for cell in memory.cells] == [False, False, False, True, True]
    assert memory.cells[3].text == "192 KiB > 163"
    (error,) = [note for note in table.notes if note.kind == "error"]
    assert error.depths == "depths 4–5"
    assert "the deepest that fits is num_stages=3" in error.text


@pytest.mark.parametrize(
    ("static", "dynamic", "exceeds", "text"),
    [
        (57344, 0, "static", "56 KiB, static 56 KiB > 48"),
        (49153, 1024, "static", "49 KiB, static 49153 B > 49152"),
        (0, 166913, "total", "166913 B > 166912"),
        (49152, 0, None, "48 KiB"),
    ],
)
def test_the_cell_says_which_part_is_over_which_limit(recorded, static, dynamic, exceeds, text):
    """Static memory over its own limit is told apart from the total's; a byte more is seen."""
    facts = recorded("gemm_sm80", "sm_80")[0].variants[0].facts
    memory = SharedMemory(
        static_bytes=static, dynamic_bytes=dynamic, total_bytes=static + dynamic,
        limit_bytes=166912, fits=exceeds is None, max_num_stages=None, exceeds=exceeds,
    )  # fmt: skip
    rows = fact_rows((msgspec.structs.replace(facts, shared_memory=memory),))
    (row,) = [row for row in rows if row.label.startswith("shared memory")]
    assert (row.values, row.over_limit) == ((text,), (exceeds is not None,))
    said = memory_bar(memory)
    assert ("static over its limit of 48 KiB" in said) is (exceeds == "static")


def test_a_failed_variant_is_a_column_of_crosses_with_one_line_below(recorded):
    """The kind is in the column, the pass and the compiler's first line under the table."""
    table = only_table(recorded, "failing", "sm_80")
    assert row(table, "outcome") == ["lowered", "lowered", "✗ compile error", "✗ compile error"]
    assert row(table, "stage") == ["none", "0 0 1", "✗", "✗"]
    (note,) = [note for note in table.notes if note.kind == "failure"]
    assert note.depths == "depths 2–3"
    assert note.text.startswith("compile error in tl.LayoutInference: InternalError: Check failed")
    assert "InputShape() = (2|3, 64, 32)" in note.text


def test_a_variant_that_died_before_its_defaults_joins_its_table(recorded):
    """Its identity has only what was given; it is still a depth of the same kernel."""
    run, texts = recorded("gemm_sm80", "sm_80")
    last = run.variants[-1]
    partial = msgspec.structs.replace(last.variant, params={"num_stages": 4, "K": 1024})
    died = VariantResult(
        variant=partial,
        outcome="failed",
        failure=Failure(kind="timeout", message="no result within 300 s"),
        facts=None,
    )
    (table,) = sweep_tables(Run(variants=(*run.variants[:-1], died)), [*texts[:-1], None])
    assert table.columns == ("1", "2", "3", "4")
    assert row(table, "outcome")[-1] == "✗ timeout"


def test_zero_and_not_known_are_told_apart(recorded):
    """An op that is in no total was looked for: 0.  A frontier that no model gives is –."""
    table = only_table(recorded, "failing", "sm_90a")
    assert row(table, "tma_load")[0] == "0"
    assert row(only_table(recorded, "gemm_sm80", "sm_80"), "deepest that fits")[0] == "–"


def test_a_known_zero_differs_from_a_count(recorded):
    """Taking an op away from one variant makes its row differ."""
    run, _ = recorded("gemm_sm80", "sm_80")
    gone = {op: t for op, t in run.variants[0].facts.sync_totals.items() if op != "mma_sync"}
    first = with_facts(run.variants[0], sync_totals=gone)
    (table,) = sweep_tables(Run(variants=(first, *run.variants[1:])))
    assert row(table, "mma_sync")[0] == "0"


def test_a_symbolic_count_is_shown_as_its_expression(recorded):
    """A trip count that nobody knows stays an expression."""
    run, _ = recorded("gemm_sm80", "sm_80")
    totals = {"cp_async_copy": SyncTotal(static=2, dynamic="n * 2")}
    first = with_facts(run.variants[0], sync_totals=totals)
    (table,) = sweep_tables(Run(variants=(first,)))
    assert row(table, "cp_async_copy") == ["2 · n * 2"]


def test_an_op_outside_the_taxonomy_comes_last(recorded):
    """Unknown ops are rows too."""
    run, _ = recorded("gemm_sm80", "sm_80")
    facts = run.variants[0].facts
    totals = {"unknown:tl.new_thing": SyncTotal(static=1, dynamic=1), **facts.sync_totals}
    (table,) = sweep_tables(Run(variants=(with_facts(run.variants[0], sync_totals=totals),)))
    ops = [row.label for row in table.rows if row.group == "sync"]
    assert ops[-1] == "unknown:tl.new_thing"


def test_one_variant_alone_shows_every_row(recorded):
    """There is nothing to compare, so nothing is folded."""
    run, texts = recorded("gemm_sm90a", "sm_90a")
    (table,) = sweep_tables(Run(variants=run.variants[2:3]), texts[2:3])
    assert table.folded() == (table.rows, ())
    assert table.headline == ()


def test_two_archs_are_two_tables_and_parameters_are_short_for_the_gemm(recorded):
    """Everything but the depth splits tables."""
    ampere, hopper = recorded("gemm_sm80")[0], recorded("gemm_sm90a")[0]
    tables = sweep_tables(Run(variants=(*ampere.variants, *hopper.variants)))
    assert [table.arch for table in tables] == ["sm_80", "sm_90a"]
    assert tables[0].parameters == ("1024³", "tile 128×128×64", "128 threads", "float16")


def test_several_loops_are_named(recorded):
    """The outer loop is the warp specialiser's, the inner one the software pipeliner's."""
    table = only_table(recorded, "nested", "sm_90a")
    assert row(table, "loop o: scheduled by") == ["warp specialisation"] * 3
    assert row(table, "loop kk: scheduled by") == ["software pipeline"] * 3
    assert row(table, "versions of lhs, rhs") == ["1 × 4 KiB", "4 × 4 KiB", "9 × 4 KiB"]


def test_where_everything_failed_only_the_outcome_is_a_row(recorded):
    """There are no facts to put into other rows."""
    run, _ = recorded("failing", "sm_80")
    (table,) = sweep_tables(Run(variants=run.variants[2:]))
    assert [row.label for row in table.rows] == ["outcome"]
    assert table.folded() == (table.rows, ())
