"""What is said about passes, by value, and that it fits."""

import io

import msgspec
import pytest

from stagebench.diff.pass_compare import pass_matrices, pass_timeline
from stagebench.report import (
    pass_hunk_lines,
    pass_matrix_rows,
    pass_titles,
    passes_rows,
    passes_view,
)
from stagebench.report.console import open_console
from tests.diffing.passes.recorded import compared, dump


def diff(arch="sm_80", left=2, right=3):
    return compared(arch, left, right)


def printed(show, *arguments, **options):
    out = io.StringIO()
    show(*arguments, open_console(out, width=100), **options)
    return out.getvalue()


def test_the_first_diverging_pass_comes_first():
    """The verdict names it and where it ran; the others are counted and named."""
    first, others = passes_rows.verdict(diff())
    assert first == "first diverging pass: tl.InjectSoftwarePipeline, pass 18 on both sides"
    assert others.startswith("after it 3 more diverge: ")
    assert passes_rows.verdict(diff("sm_90a"))[0] == (
        "first diverging pass: tl.ProducerConsumerWarpSpecialized, pass 15 on both sides"
    )


def test_no_divergence_is_said():
    """Identical variants: one sentence."""
    assert passes_rows.verdict(diff(left=2, right=2)) == ("no pass diverges",)


def test_what_differs_only_as_requested_is_said():
    """A comparison in which the request is all that differs says so."""
    found = diff()
    only = [each for each in found.passes if each.state != "diverges"]
    quiet = msgspec.structs.replace(found, passes=tuple(only), first=None)
    assert passes_rows.verdict(quiet)[0].startswith(
        "no pass diverges; lines differ only by the requested numbers (1 → 2, 2 → 3"
    )


def test_kernels_that_differ_as_written_are_named():
    """Lines that differ before the first pass are counted in the verdict."""
    assert passes_rows.verdict(diff(left=0, right=1))[-1] == (
        "given: the two kernels differ before the first pass already, in 1 | 1 lines besides the "
        "requested numbers"
    )


def test_the_title_says_what_is_shared_and_what_is_not():
    """Kernel, target and compiler once; the depth on each side."""
    assert pass_titles.titles(diff()) == (
        "gemm · sm_80 · tilelang 0.1.15",
        "num_stages=2",
        "num_stages=3",
    )


def test_passes_that_did_the_same_are_folded_and_counted():
    """Rows are for passes that diverge or bring facts; every other pass is in a count."""
    found = diff()
    rows = passes_rows.pass_rows(found)
    assert [row.name for row in rows if row.state == "DIVERGES"] == [
        "tl.InjectSoftwarePipeline", "tl.Simplify#3", "tl.LowerTileOp", "tl.LowerIntrin",
    ]  # fmt: skip
    counts = [int(part.split()[0]) for part in passes_rows.folded_lines(found)[0].split("; ")]
    assert sum(counts) + len(rows) == len(found.passes)
    assert len(passes_rows.pass_rows(found, show_all=True)) == len(found.passes)


def test_access_regions_are_folded_unless_asked_for():
    """``T.reads`` and ``T.writes`` restate what the statements do."""
    found = diff()
    hunks = found.passes[found.first].hunks
    short, folded = pass_hunk_lines.hunk_lines(hunks)
    assert folded.access
    assert not any("T.reads(" in line.text for hunk in short for line in hunk)
    whole, none = pass_hunk_lines.hunk_lines(hunks, show_all=True)
    assert none == pass_hunk_lines.Folded(access=0, inherited=0)
    assert any("T.reads(" in line.text for hunk in whole for line in hunk)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_cut_line_keeps_what_differs_in_sight(width):
    """The window shows the beginning of the line and the first character that differs."""
    text = "    " + "a" * 150 + "HERE" + "b" * 150
    shown = pass_hunk_lines.window(text, 154, width)
    assert len(shown) <= width
    assert "HERE" in shown
    assert shown.startswith("    a")
    assert pass_hunk_lines.window("short", 3, width) == "short"


def test_the_matrix_has_depths_across():
    """Variants that differ in one value are columns of its values."""
    [matrix] = pass_matrices([dump("sm_80", depth) for depth in range(4)])
    head, *rows = pass_matrix_rows.matrix_rows(matrix)
    assert head == ("num_stages", "0", "1", "2", "3")
    assert ("tl.PipelinePlanning", "·", "DIVERGES", "DIVERGES", "changed") in rows
    assert pass_matrix_rows.first_lines(matrix)[1] == (
        "num_stages=1 → num_stages=2",
        "tl.PipelinePlanning",
    )


def test_everything_fits_into_100_columns():
    """Two variants, a timeline, a matrix; short and in full."""
    found = diff("sm_80", 0, 3)
    [matrix] = pass_matrices([dump("sm_80", depth) for depth in range(4)])
    timeline = pass_timeline(dump("sm_90a", 2))
    for show_all in (False, True):
        texts = [
            printed(passes_view.print_passes, found, show_all=show_all),
            printed(passes_view.print_timeline, timeline, show_all=show_all),
            printed(passes_view.print_matrix, matrix, show_all=show_all),
        ]
        for text in texts:
            assert max(len(line) for line in text.splitlines()) <= 100
            assert text == "".join(f"{line.rstrip()}\n" for line in text.splitlines())
