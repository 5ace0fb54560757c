"""What does a reader see of stalls, roles, steps and correlations?"""

import functools
import io
from pathlib import Path

import pytest
from msgspec import structs

from stagebench.report import lines
from stagebench.report.console import open_console
from stagebench.report.profile_rows import (
    correlation_rows,
    depth_rows,
    problem_lines,
    role_rows,
    stall_rows,
    unranked_lines,
)
from stagebench.report.profile_view import (
    print_depths,
    print_measured,
    print_stalls,
    print_verdicts,
)
from stagebench.timing.decode import decode
from stagebench.timing.rank_correlation import correlations
from stagebench.timing.recorded import read_recorded
from stagebench.timing.select import select
from stagebench.timing.stalls import stalls
from tests.timing.building import broken, lane, metadata, stall, timing
from tests.timing.test_stalls import CONSUMER, META, PRODUCER

SWEEP = [timing(1, 580, stall(1419)), timing(2, 316, stall(450)), timing(3, 243, stall(120))]


@functools.cache
def both():
    found = read_recorded(Path(__file__).parents[2] / "experiments" / "hopper", print)
    return found.profile, found.measured


def printed(show, *arguments, width=100):
    file = io.StringIO()
    show(*arguments, console=open_console(file, width=width))
    return file.getvalue().splitlines()


def test_stall_rows():
    """Most cycles first; the wait depth stands with the op, the Python line as it is known."""
    head, *rows = stall_rows(stalls(decode(PRODUCER + CONSUMER, META), META))
    assert head == (
        "wait", "for", "role", "section", "Python", "CUDA", "n", "mean", "p50", "p95", "max",
        "share",
    )  # fmt: skip
    assert [row[0] for row in rows] == [
        "syncthreads", "wgmma_wait<0>", "mbarrier_wait", "mbarrier_wait",
    ]  # fmt: skip
    assert rows[2] == (
        "mbarrier_wait", "data", "consumer", "body", "40", "60", "3", "200", "200", "290", "300",
        "6.0%",
    )  # fmt: skip


def test_a_count_that_differs_shows_both():
    """``1 of 2``; an inexact line is marked, an unknown one and an unknown share are ``–``."""
    one = structs.replace(stall(100), predicted=200, share=None)
    one = structs.replace(one, site=structs.replace(one.site, line_kind="synthetic"))
    two = structs.replace(stall(100), site=structs.replace(one.site, line=None, cuda_line=None))
    found = structs.replace(timing(1, 1.0).stalls, sites=(one, two))
    _, first, second = stall_rows(found)
    assert (first[4], first[6], first[-1]) == ("~40", "100 of 200", "–")
    assert (second[4], second[5], second[6]) == ("–", "–", "100")


def test_role_rows():
    """Shares of the row's own time, cycles of one warp; a cause of no wait is left out."""
    head, *rows = role_rows(stalls(decode(PRODUCER + CONSUMER, META), META).roles)
    assert head == (
        "role",
        "section",
        "warps",
        "cycles",
        "busy",
        "data",
        "slot",
        "compute",
        "barrier",
    )
    assert rows[0] == ("producer", "all", "1", "10000", "88.0%", "0", "2.0%", "0", "10.0%")
    consumer = next(row for row in rows if row[0] == "consumer")
    assert consumer == ("consumer", "all", "1", "10000", "87.4%", "6.0%", "0", "6.5%", "0.1%")
    assert [row[1] for row in rows[-3:]] == ["prologue", "body", "epilogue"]


def test_depth_rows():
    """Time and stalls, then only the facts that differ; a wrong output has no time."""
    wrong = timing(4, 100, correct=False)
    head, *rows = depth_rows([*SWEEP, wrong])
    assert head == ("num_stages", "1", "2", "3", "4")
    assert rows == [
        ("kernel, µs", "580 ± 1", "316 ± 1", "243 ± 1", "✗ wrong"),
        ("consumer waits for data, cycles per tile", "1419", "450", "120", "–"),
        ("probes cost", "×1.00", "×1.00", "×1.00", "–"),
        ("versions of A_shared", "1", "2", "3", "4"),
        ("versions of B_shared", "1", "2", "3", "4"),
        ("barriers", "2", "4", "6", "8"),
        ("shared memory, bytes", "32768", "65536", "98304", "131072"),
    ]


def test_what_has_no_rank_is_one_line_a_reason():
    """Three depths: each pair is named behind the one reason."""
    (line,) = unranked_lines([each for each in correlations(SWEEP[:3]) if each.rho is None])
    assert line == (
        "no rank of num_stages, consumers' wait for data with kernel time: "
        "3 depths are too few, 5 are needed"
    )


def test_correlation_rows():
    """Too few depths are said in the row."""
    head, *found = correlation_rows(correlations(SWEEP))
    assert head[:4] == ("of", "with", "n", "rho")
    assert found[0][:6] == ("num_stages", "kernel time", "3", "–", "–", "–")


def test_problems_are_gathered():
    """Two warps with one problem are one line, with the place of the first."""
    found = decode(lane([], exit_=0) + lane([], warp=1, exit_=0), metadata(META.sites[:2]))
    assert problem_lines(found.problems) == (
        "no exit: the warp never came to its end (2 warps; first at CTA 0 warp 0, byte 56)",
    )


def test_damaged_probes_are_told_and_claim_nothing():
    """Without `--sites` too: the problem, no wait in a verdict or a column of that depth."""
    lines = printed(print_depths, [*SWEEP[:2], broken(SWEEP[2])], "gemm")
    text = " ".join(" ".join(lines).split())
    assert "! 1 problem in the probes of depth 3, whose waits are left out: dropped: 3 rec" in text
    assert "2 → 3: one more slot; kernel" in text
    assert "the probes of 3 are damaged, so that its waits are not known" in text
    assert "450 → 120" not in text
    assert "not ranked: depth 3 (waits not known, for the probes are damaged)" in text
    (row,) = [line for line in lines if "consumer waits for data" in line]
    assert row.split()[-3:] == ["1419", "450", "–"]


def test_everything_fits_the_width():
    """A hundred columns hold every line."""
    found = stalls(decode(PRODUCER[:-16] + CONSUMER, META), META)
    for shown in (
        printed(print_stalls, found, "gemm, num_stages=2"),
        printed(print_depths, SWEEP, "gemm"),
    ):
        assert max(map(len, shown)) <= 100
        assert shown[0].startswith("gemm")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_recorded_run_fits_every_width(width):
    """Verdicts, sweeps, sites and libraries: no line is longer, and no column is lost."""
    found = select(*both(), ["gemm/sm_90a", "flash_attention/sm_90a"])
    shown = printed(print_verdicts, found[0], width=width)
    shown += printed(functools.partial(print_measured, sites=True), found[1], width=width)
    assert max(map(len, shown)) <= width
    words = " ".join(shown).split()
    assert {"verdict", "probed", "perturbed:", "p95", "share", "TFLOP/s"} <= set(words)
    assert words.count("p50") == 9


def test_columns_that_do_not_fit_stand_in_several_tables():
    """The first column is in each, so is a heading; where all fit, it is one."""
    rows = [lines.plain("row", *"abcdef"), lines.plain("heading"), lines.plain("x" * 8, *"123456")]
    assert len(lines.fitted(rows, 80)) == 3
    wide = [[*row, *lines.plain("long" * 4, "more" * 4)] if len(row) > 1 else row for row in rows]
    found = [str(line) for line in lines.fitted(wide, 40)]
    assert max(map(len, found)) <= 40
    assert found.count("heading") == sum(line.startswith("row") for line in found) == 3
    bare = [[*row, *lines.plain("more" * 9, "")] if len(row) > 1 else row for row in rows]
    assert sum(str(line).startswith("row") for line in lines.fitted(bare, 30)) == 2


def test_the_page_of_a_run():
    """Title, problems, sites, roles, and what reading the clock costs."""
    lines = printed(print_stalls, stalls(decode(PRODUCER + CONSUMER, META), META), "gemm")
    assert lines[2] == "Stalls by site, in cycles"
    assert lines[4].split()[:3] == ["syncthreads", "barrier", "all"]
    assert lines[-1] == "  the two clock reads cost 20 cycles of each stall"


def test_the_page_of_a_sweep():
    """Verdicts come first, then the table."""
    lines = printed(print_depths, SWEEP, "gemm")
    assert lines[1].startswith("  1 → 2: one more slot; consumers wait 1419 → 450 cycles per tile")
    assert "Depths side by side" in lines
