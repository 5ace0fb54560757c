"""How are profilers' buffers shown?  What is damaged, then the regions, at any width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.report import lines
from stagebench.report.console import open_console
from stagebench.report.region_comparison_rows import comparison_rows, damage_rows
from stagebench.report.region_rows import headline, problem_rows, region_rows
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.region_comparison import RegionComparison
from stagebench.trace.region_stats import region_stats
from stagebench.visible_text import visible


def print_regions(
    trace: ProfilerTrace,
    *,
    title: str = "",
    group_names: tuple[str, ...] = (),
    by_block: bool = False,
    show_all: bool = False,
    console: Console | None = None,
) -> None:
    """Print one buffer; ``title`` says whose it is, where that is known."""
    out = console or open_console()
    found = [Text(visible(title), style="bold")] if title else []
    found.append(Text(headline(trace), style="" if title else "bold"))
    for kind, place, message in problem_rows(trace.problems, show_all=show_all):
        mark = f"! {kind} " if kind else "  "
        text = visible(f"{place}: {message}" if kind else message)
        found += lines.hanging([(mark, "yellow")], (text, ""), out.width)
    stats = region_stats(trace, by_block=by_block)
    rows = region_rows(stats, group_names)
    if rows:
        found += _table(rows, out.width)
    lines.show(out, found)


def print_comparison(
    comparison: RegionComparison, *, show_all: bool = False, console: Console | None = None
) -> None:
    """Print several buffers side by side."""
    out = console or open_console()
    found = [Text(visible(comparison.title), style="bold")] if comparison.title else []
    found.append(Text("a region's mean, and its share of the time from first to last record"))
    for mark, text in damage_rows(comparison.buffers, show_all=show_all):
        marked = [(visible(mark), "yellow")]
        found += lines.hanging(marked, (visible(text), ""), out.width)
    found += _table(comparison_rows(comparison), out.width)
    lines.show(out, found)


def _table(rows: Sequence[Sequence[str]], width: int) -> list[Text]:
    head, *body = [[visible(cell) for cell in row] for row in rows]
    styled = [[(cell, "dim") for cell in head], *(lines.plain(*row) for row in body)]
    return [Text(""), *lines.fitted(styled, width)]
