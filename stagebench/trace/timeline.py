"""What is drawn on a time axis?  Tracks of slices and counters, whoever measured them.

Times are integer nanoseconds of one axis that all tracks share; the first event need not be at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.model import Record, Scalar

BUSY = "busy"
"""The kind of a slice that is only the ground for others; a drawing makes it grey."""


class Slice(Record, frozen=True, kw_only=True):
    """Something that took from ``start_ns`` to ``end_ns``; slices of one ``kind`` share a colour.

    Where both are equal it is a moment.  ``args`` are shown with it.
    """

    name: str
    kind: str
    start_ns: int
    end_ns: int
    args: dict[str, Scalar]


class Track(Record, frozen=True, kw_only=True):
    """One row: ``group`` is the CTA (or block) that it belongs to."""

    group: str
    name: str
    slices: tuple[Slice, ...]


class Counter(Record, frozen=True, kw_only=True):
    """A value over time; each sample ``(ns, value)`` holds until the next."""

    group: str
    name: str
    unit: str
    samples: tuple[tuple[int, int], ...]


class Timeline(Record, frozen=True, kw_only=True):
    """All tracks and counters of one run."""

    title: str
    tracks: tuple[Track, ...]
    counters: tuple[Counter, ...]


def span(timeline: Timeline) -> tuple[int, int] | None:
    """The first and the last moment of anything; ``None`` where there is nothing."""
    slices = [item for track in timeline.tracks for item in track.slices]
    starts = [item.start_ns for item in slices]
    ends = [item.end_ns for item in slices]
    moments = [at for counter in timeline.counters for at, _ in counter.samples]
    if not starts and not moments:
        return None
    return min(starts + moments), max(ends + moments)


def rows(slices: Iterable[Slice]) -> tuple[tuple[Slice, ...], ...]:
    """Slices as rows in which any two either nest or don't overlap; outer ones first.

    A row is a stack: neither Perfetto nor a drawing can show slices that overlap without nesting
    in one.
    """
    found: list[list[Slice]] = []
    open_in: list[list[Slice]] = []
    for item in sorted(slices, key=_outer_first):
        for row, stack in zip(found, open_in, strict=True):
            while stack and stack[-1].end_ns <= item.start_ns:
                stack.pop()
            if not stack or item.end_ns <= stack[-1].end_ns:
                row.append(item)
                stack.append(item)
                break
        else:
            found.append([item])
            open_in.append([item])
    return tuple(tuple(row) for row in found)


def depths(row: Sequence[Slice]) -> tuple[int, ...]:
    """How many slices of a row of `rows` enclose each of its slices."""
    found: list[int] = []
    stack: list[Slice] = []
    for item in row:
        while stack and stack[-1].end_ns <= item.start_ns:
            stack.pop()
        found.append(len(stack))
        stack.append(item)
    return tuple(found)


def _outer_first(item: Slice) -> tuple[int, int, str]:
    return item.start_ns, -item.end_ns, item.name
