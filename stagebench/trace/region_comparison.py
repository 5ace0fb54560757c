"""How do the regions of several buffers compare?  One buffer for each depth, say: their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stagebench.model import Record
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.profiler_problems import WireProblem
from stagebench.trace.region_stats import RegionStats, region_stats

_SEPARATORS = re.compile(r"[/,]")


class GroupSpan(Record, frozen=True, kw_only=True):
    """From the first to the last record of a lane of ``group``: the mean over its blocks."""

    group: int
    mean_ns: float


class ComparedBuffer(Record, frozen=True, kw_only=True):
    """One buffer of several; ``label`` tells it from the others."""

    file: str
    source: str
    label: str
    group_names: tuple[str, ...]
    by_group: tuple[RegionStats, ...]
    spans: tuple[GroupSpan, ...]
    problems: tuple[WireProblem, ...]


class RegionComparison(Record, frozen=True, kw_only=True):
    """Buffers side by side; ``title`` is what they share."""

    title: str
    buffers: tuple[ComparedBuffer, ...]


def compare(
    files: Sequence[str],
    sources: Sequence[str],
    group_names: Sequence[tuple[str, ...]],
    traces: Sequence[ProfilerTrace],
) -> RegionComparison:
    """Buffers in the order given; all sequences are as long."""
    title, labels = name_apart(files, sources)
    return RegionComparison(
        title=title,
        buffers=tuple(
            ComparedBuffer(
                file=file,
                source=source,
                label=label,
                group_names=names,
                by_group=region_stats(trace),
                spans=group_spans(trace),
                problems=trace.problems,
            )
            for file, source, label, names, trace in zip(
                files, sources, labels, group_names, traces, strict=True
            )
        ),
    )


def group_spans(trace: ProfilerTrace) -> tuple[GroupSpan, ...]:
    """By group; a group without a record has none."""
    found: dict[int, list[int]] = {}
    for lane in trace.lanes:
        found.setdefault(lane.group, []).append(lane.end_ns - lane.start_ns)
    return tuple(
        GroupSpan(group=group, mean_ns=sum(times) / len(times))
        for group, times in sorted(found.items())
    )


def name_apart(files: Sequence[str], sources: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What all sources share, and what tells each from the others.

    Where sources don't tell them apart (or one is not known), the names of the files do.
    """
    parts = [[part for part in _SEPARATORS.split(source) if part] for source in sources]
    shared = [part for part in parts[0] if all(part in each for each in parts)]
    labels = tuple(", ".join(part for part in each if part not in shared) for each in parts)
    if all(labels) and len(set(labels)) == len(labels):
        return " · ".join(shared), labels
    names = tuple(file.rsplit("/", 1)[-1] for file in files)
    return " · ".join(shared), names if len(set(names)) == len(names) else tuple(files)
