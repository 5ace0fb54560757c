"""How is a profiler's buffer shown?  What is damaged, then the regions, at any width."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from stagebench.report import lines
from stagebench.report.console import open_console
from stagebench.report.region_rows import headline, problem_rows, region_rows
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.region_stats import region_stats


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
    found = [Text(title, style="bold")] if title else []
    found.append(Text(headline(trace), style="" if title else "bold"))
    for kind, place, message in problem_rows(trace.problems, show_all=show_all):
        mark = f"! {kind} " if kind else "  "
        text = f"{place}: {message}" if kind else message
        found += lines.hanging([(mark, "yellow")], (text, ""), out.width)
    stats = region_stats(trace, by_block=by_block)
    rows = region_rows(stats, group_names)
    if rows:
        found.append(Text(""))
        head, *body = rows
        styled = [[(cell, "dim") for cell in head], *(lines.plain(*row) for row in body)]
        found += lines.fitted(styled, out.width)
    lines.show(out, found)
