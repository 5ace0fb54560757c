"""Which regions of a profiler's buffer took how long?  Records in, rows out."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.report import quantities
from stagebench.report.quantities import UNKNOWN
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.profiler_problems import HARMLESS, WireProblem
from stagebench.trace.region_stats import RegionStats

HEAD = ("group", "event", "n", "mean", "p50", "p95", "max", "total", "share")
_SHOWN_PROBLEMS = 12


def headline(trace: ProfilerTrace) -> str:
    """What was read: ``4 blocks × 2 groups, 96 regions, 2 instants``."""
    if trace.blocks is None or trace.groups is None:
        return "nothing could be read: the number of lanes is not known"
    parts = [
        f"{quantities.count(trace.blocks, 'block')} × {quantities.count(trace.groups, 'group')}",
        quantities.count(len(trace.regions), "region"),
    ]
    if trace.instants:
        parts.append(quantities.count(len(trace.instants), "instant"))
    silent = trace.blocks * trace.groups - len(trace.lanes)
    if silent:
        parts.append(f"{quantities.count(silent, 'lane')} without a record")
    return ", ".join(parts)


def region_rows(
    stats: Sequence[RegionStats], group_names: Sequence[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """A head and one row each; what took most of the time of its lanes comes first."""
    if not stats:
        return ()
    by_block = any(each.block is not None for each in stats)
    ordered = sorted(stats, key=lambda each: -each.total_ns)
    if by_block:
        ordered = sorted(ordered, key=lambda each: each.block or 0)
    rows = [
        (
            *((str(each.block),) if by_block else ()),
            group_names[each.group] if each.group < len(group_names) else str(each.group),
            each.event,
            str(each.n),
            *(nanoseconds(value) for value in (each.mean_ns, each.p50_ns, each.p95_ns)),
            nanoseconds(each.max_ns),
            nanoseconds(each.total_ns),
            UNKNOWN if each.share is None else f"{each.share:.1%}",
        )
        for each in ordered
    ]
    return ((*(("block",) if by_block else ()), *HEAD), *rows)


def problem_rows(
    problems: Sequence[WireProblem], *, show_all: bool = False
) -> tuple[tuple[str, str, str], ...]:
    """Kind, place and message; damage before what was put right, the buffer's before a lane's.

    What several lanes share is one row with the place of the first, unless ``show_all``.
    """
    groups: dict[object, list[WireProblem]] = {}
    for each in sorted(problems, key=lambda each: each.kind in HARMLESS):
        key = (each.kind, each.lane if show_all or each.lane is None else True)
        groups.setdefault(key, []).append(each)
    shown = list(groups.values()) if show_all else list(groups.values())[:_SHOWN_PROBLEMS]
    rows = [(found[0].kind.replace("_", " "), _place(found), _message(found)) for found in shown]
    if len(shown) < len(groups):
        rows.append(("", "", f"{len(groups) - len(shown)} more; --all shows them"))
    return tuple(rows)


def nanoseconds(value: float) -> str:
    """``96 ns``, ``1.25 µs``, ``3.10 ms``."""
    if value < 1000:
        return f"{value:.0f} ns"
    if value < 1e6:
        return f"{value / 1e3:.2f} µs"
    return f"{value / 1e6:.2f} ms"


def _place(found: Sequence[WireProblem]) -> str:
    first = found[0]
    lane = "" if first.lane is None else f"lane {first.lane}"
    slot = "" if first.slot is None else f"slot {first.slot}"
    place = ", ".join(part for part in (lane, slot) if part)
    return f"{len(found)} lanes, first {place}" if len(found) > 1 else place or UNKNOWN


def _message(found: Sequence[WireProblem]) -> str:
    times = sum(each.count for each in found)
    return found[0].message if times == len(found) else f"{found[0].message} (×{times})"
