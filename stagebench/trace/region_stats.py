"""How long did each marked region take?  By event and group over all blocks, and by block."""

from __future__ import annotations

from collections.abc import Collection

from stagebench.model import Record
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.timeline import Slice, Timeline, Track


class RegionStats(Record, frozen=True, kw_only=True):
    """Durations of one event in one group; ``block`` is ``None`` for all blocks together.

    The clock counts whole nanoseconds: what lies between two of them is told to the half.
    ``share`` is the regions' part of the time from first to last record of the lanes that have
    them: above 1 where regions of one name nest.  ``None``: these lanes span no time.
    """

    event: str
    group: int
    block: int | None
    n: int
    mean_ns: float
    p50_ns: float
    p95_ns: float
    max_ns: int
    total_ns: int
    share: float | None


def region_stats(trace: ProfilerTrace, *, by_block: bool = False) -> tuple[RegionStats, ...]:
    """By group and event id; with ``by_block`` one for each block that has the event."""
    found: dict[tuple[int, int, int | None], list[int]] = {}
    where: dict[tuple[int, int, int | None], set[int]] = {}
    for region in trace.regions:
        key = region.group, region.event, region.block if by_block else None
        found.setdefault(key, []).append(region.end_ns - region.start_ns)
        where.setdefault(key, set()).add(region.block)
    names = {region.event: region.name for region in trace.regions}
    spans = {(lane.block, lane.group): lane.end_ns - lane.start_ns for lane in trace.lanes}
    result = []
    for key in sorted(found, key=lambda key: (key[0], key[1], key[2] or 0)):
        group, event, block = key
        time = sum(spans[each, group] for each in where[key])
        result.append(_stats(names[event], group, block, found[key], time))
    return tuple(result)


def _stats(
    event: str, group: int, block: int | None, durations: list[int], time: int
) -> RegionStats:
    import numpy as np

    middle, high = (np.round(np.percentile(durations, (50, 95)) * 2) / 2).tolist()
    total = sum(durations)
    return RegionStats(
        event=event,
        group=group,
        block=block,
        n=len(durations),
        mean_ns=total / len(durations),
        p50_ns=middle,
        p95_ns=high,
        max_ns=max(durations),
        total_ns=total,
        share=total / time if time else None,
    )


def region_timeline(
    trace: ProfilerTrace,
    *,
    title: str,
    group_names: tuple[str, ...] = (),
    blocks: Collection[int] | None = None,
) -> Timeline:
    """One track per block and group, with every region and instant; ``blocks`` alone, or all."""
    slices: dict[tuple[int, int], list[Slice]] = {
        (lane.block, lane.group): []
        for lane in trace.lanes
        if blocks is None or lane.block in blocks
    }
    for region in (*trace.regions, *trace.instants):
        if blocks is not None and region.block not in blocks:
            continue
        name = region.name
        slices[region.block, region.group].append(
            Slice(name=name, kind=name, start_ns=region.start_ns, end_ns=region.end_ns, args={})
        )
    return Timeline(
        title=title,
        tracks=tuple(
            Track(
                group=f"block {block}",
                name=group_names[group] if group < len(group_names) else f"group {group}",
                slices=tuple(sorted(found, key=lambda item: (item.start_ns, -item.end_ns))),
            )
            for (block, group), found in sorted(slices.items())
        ),
        counters=(),
    )
