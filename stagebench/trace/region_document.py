"""What does ``stagebench decode --json`` say?  The same of each buffer, be it one or several."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import SCHEMA_VERSION, Record
from stagebench.trace.cuda_profiler import ProfilerTrace
from stagebench.trace.region_comparison import GroupSpan, RegionComparison
from stagebench.trace.region_stats import RegionStats, region_stats


class BufferDocument(Record, frozen=True, kw_only=True):
    """One buffer: its statistics, then all that was read; ``label`` tells it from the others."""

    file: str
    source: str
    label: str
    group_names: tuple[str, ...]
    by_group: tuple[RegionStats, ...]
    by_block: tuple[RegionStats, ...]
    spans: tuple[GroupSpan, ...]
    trace: ProfilerTrace


class RegionDocument(Record, frozen=True, kw_only=True):
    """The JSON of ``stagebench decode``; ``title`` is what all buffers share."""

    schema_version: int
    title: str
    buffers: tuple[BufferDocument, ...]


def document(comparison: RegionComparison, traces: Sequence[ProfilerTrace]) -> RegionDocument:
    """Everything that ``decode`` knows; ``traces`` are those that were compared."""
    return RegionDocument(
        schema_version=SCHEMA_VERSION,
        title=comparison.title,
        buffers=tuple(
            BufferDocument(
                file=one.file,
                source=one.source,
                label=one.label,
                group_names=one.group_names,
                by_group=one.by_group,
                by_block=region_stats(trace, by_block=True),
                spans=one.spans,
                trace=trace,
            )
            for one, trace in zip(comparison.buffers, traces, strict=True)
        ),
    )
