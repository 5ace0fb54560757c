"""Which region took how long in which buffer?  A row for each region, a column for each buffer."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.report.quantities import UNKNOWN
from stagebench.report.region_rows import nanoseconds, problem_rows
from stagebench.trace.region_comparison import ComparedBuffer, RegionComparison

SPAN = "first to last record"


def comparison_rows(comparison: RegionComparison) -> tuple[tuple[str, ...], ...]:
    """A head and one row each: mean and share.  Groups in their order, the longest region first.

    Where no buffer has a region, there is no row; where one has none of it, `UNKNOWN`.
    """
    cells: dict[tuple[str, str], dict[int, str]] = {}
    weights: dict[tuple[str, str], float] = {}
    spans: dict[str, dict[int, str]] = {}
    for column, buffer in enumerate(comparison.buffers):
        for group in buffer.spans:
            name = _group(buffer, group.group)
            spans.setdefault(name, {})[column] = nanoseconds(group.mean_ns)
        for each in buffer.by_group:
            key = _group(buffer, each.group), each.event
            share = UNKNOWN if each.share is None else f"{each.share:.1%}"
            cells.setdefault(key, {})[column] = f"{nanoseconds(each.mean_ns)} {share}"
            weights[key] = weights.get(key, 0.0) + each.total_ns
    rows: list[tuple[str, ...]] = []
    for group_name, span in spans.items():
        events = [event for name, event in cells if name == group_name]
        rows += [
            (group_name, event, *_columns(cells[group_name, event], comparison))
            for event in sorted(events, key=lambda event: -weights[group_name, event])
        ]
        rows.append((group_name, SPAN, *_columns(span, comparison)))
    return (("group", "event", *(buffer.label for buffer in comparison.buffers)), *rows)


def damage_rows(
    buffers: Sequence[ComparedBuffer], *, show_all: bool = False
) -> tuple[tuple[str, str], ...]:
    """A mark and a message for each problem, with whose it is."""
    return tuple(
        (
            f"! {kind} " if kind else "  ",
            ": ".join(part for part in (buffer.label, place, message) if part),
        )
        for buffer in buffers
        for kind, place, message in problem_rows(buffer.problems, show_all=show_all)
    )


def _columns(found: dict[int, str], comparison: RegionComparison) -> tuple[str, ...]:
    return tuple(found.get(column, UNKNOWN) for column in range(len(comparison.buffers)))


def _group(buffer: ComparedBuffer, group: int) -> str:
    """Its name, with its number where another group has the same."""
    names = buffer.group_names
    if group >= len(names):
        return str(group)
    return names[group] if names.count(names[group]) == 1 else f"{names[group]} ({group})"
