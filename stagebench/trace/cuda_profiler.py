"""Which marked regions does a CudaProfiler buffer hold, and what is damaged in it?

`stagebench.trace.profiler_words` describes the words.  A lane's records are in program order, so
that its clock is unwrapped record by record: a step back by more than half of the timer's range is
a wrap, a smaller one a clock that went backwards.  Lanes are put on one axis by their first
records, which are taken to be less than half the range (2.1 s) apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stagebench.model import Record
from stagebench.model.facts import ProfilerFormat
from stagebench.trace.profiler_lanes import Lane, Shape, read_shape, split_lanes
from stagebench.trace.profiler_problems import ProblemLog, WireProblem, WireProblemKind
from stagebench.trace.profiler_words import (
    END,
    EVENT_IDS,
    FINALIZE,
    INSTANT,
    LAYOUTS,
    START,
    WRAP_NS,
)

if TYPE_CHECKING:
    from stagebench.trace.profiler_words import Words

_HALF = WRAP_NS // 2


class Region(Record, frozen=True, kw_only=True):
    """A start and its end (or an instant: both equal), in ns since the buffer's first record."""

    block: int
    group: int
    event: int
    name: str
    start_ns: int
    end_ns: int


class LaneSpan(Record, frozen=True, kw_only=True):
    """From a lane's first to its last record; ``sm`` where the format tells it."""

    block: int
    group: int
    sm: int | None
    start_ns: int
    end_ns: int


class ProfilerTrace(Record, frozen=True, kw_only=True):
    """All that a buffer says.  ``blocks`` and ``groups`` are ``None`` where nothing tells them.

    Regions are in the order of their starts.
    """

    format: ProfilerFormat
    blocks: int | None
    groups: int | None
    regions: tuple[Region, ...]
    instants: tuple[Region, ...]
    lanes: tuple[LaneSpan, ...]
    problems: tuple[WireProblem, ...]


def decode(
    words: Words,
    wire: ProfilerFormat,
    *,
    events: Sequence[str] = (),
    blocks: int | None = None,
    groups: int | None = None,
    stride: int | None = None,
    group_names: Sequence[str] = (),
    trailing_bytes: int = 0,
) -> ProfilerTrace:
    """Decode a buffer; whatever it holds, damage is reported and never raised.

    ``events`` are the names of the event ids from 0 on, ``group_names`` those of the groups: none,
    or one for each that has a record.  ``blocks``, ``groups`` and ``stride`` go before what the
    header says.
    """
    log = ProblemLog()
    if trailing_bytes:
        log.add(
            "truncated",
            f"{trailing_bytes} bytes after the last whole word: the file was cut",
            slot=len(words),
        )
    if len(events) > EVENT_IDS:
        log.add("event_alias", f"{len(events)} event names; a tag holds ids below {EVENT_IDS}")
    layout = LAYOUTS[wire]
    shape = read_shape(words, log, blocks=blocks, groups=groups, stride=stride, layout=layout)
    if shape is None:
        return _trace(wire, None, ((), (), ()), log)
    lanes = split_lanes(words, shape, log, wire, stride_is_given=stride is not None)
    reader = _Reader(shape, log, len(words), finalizes=layout.finalizes)
    for lane in lanes:
        reader.read(lane)
    found = reader.shifted(events)
    for group in sorted({lane.group for lane in found[2]}):
        if group_names and group >= len(group_names):
            _log_unnamed(log, "unknown_group", f"group {group}", group_names)
    return _trace(wire, shape, found, log)


class _Reader:
    """Reads lanes one by one; times are relative to the first record of the first lane."""

    def __init__(self, shape: Shape, log: ProblemLog, size: int, *, finalizes: bool) -> None:
        self._shape, self._log, self._size, self._finalizes = shape, log, size, finalizes
        self._anchor: int | None = None
        self._regions: list[tuple[int, int, int, int]] = []
        self._instants: list[tuple[int, int, int, int]] = []
        self._lanes: list[tuple[int, int | None, int, int]] = []

    def read(self, lane: Lane) -> None:
        """Pair the starts and ends of one lane."""
        end = self._end(lane)
        used = min(end + 1, len(lane.slots))
        times = self._unwrap(lane, used)
        self._holes(lane, used)
        self._pair(lane, times, end)
        if end == len(lane.slots):
            self._unfinished(lane)
        self._lanes.append((lane.index, self._sm(lane), min(times), max(times)))

    def shifted(
        self, names: Sequence[str]
    ) -> tuple[tuple[Region, ...], tuple[Region, ...], tuple[LaneSpan, ...]]:
        """Everything named, and with the first moment of all at 0."""
        for event in sorted({found[3] for found in (*self._regions, *self._instants)}):
            if names and event >= len(names):
                _log_unnamed(self._log, "unknown_event", f"event {event}", names)
        groups = self._shape.groups
        zero = min((start for _, _, start, _ in self._lanes), default=0)

        def regions(found: list[tuple[int, int, int, int]]) -> tuple[Region, ...]:
            return tuple(
                Region(
                    block=lane // groups,
                    group=lane % groups,
                    event=event,
                    name=_name(event, names),
                    start_ns=start - zero,
                    end_ns=end - zero,
                )
                for start, end, lane, event in sorted(found)
            )

        lanes = tuple(
            LaneSpan(
                block=lane // groups,
                group=lane % groups,
                sm=sm,
                start_ns=start - zero,
                end_ns=end - zero,
            )
            for lane, sm, start, end in self._lanes
        )
        return regions(self._regions), regions(self._instants), lanes

    def _unwrap(self, lane: Lane, used: int) -> list[int]:
        if self._anchor is None:
            self._anchor = lane.times[0]
        found: list[int] = []
        previous = _nearest(lane.times[0], self._anchor)
        raw = lane.times[0]
        for slot, time in zip(lane.slots[:used], lane.times[:used], strict=True):
            now = _nearest(time, previous)
            if now < previous:
                self._log.add(
                    "clock_backwards",
                    f"the clock goes back by {previous - now} ns",
                    lane=lane.index,
                    slot=slot,
                )
            elif time < raw:
                self._log.add(
                    "timer_wrapped",
                    "the 32-bit timer wrapped between two records; unwrapped by their order",
                    lane=lane.index,
                    slot=slot,
                )
            found.append(now)
            previous, raw = max(previous, now), time
        return found

    def _end(self, lane: Lane) -> int:
        """The index of the finalize record; where there is none, how many records there are.

        A format without finalize does not know its type.
        """
        finalized = [index for index, kind in enumerate(lane.types) if kind == FINALIZE]
        if not self._finalizes:
            for index in finalized:
                self._log.add(
                    "unknown_type",
                    "a record of type 3, which this format does not have: is it the other format?",
                    lane=lane.index,
                    slot=lane.slots[index],
                )
            return len(lane.slots)
        if not finalized:
            return len(lane.slots)
        beyond = len(lane.slots) - 1 - finalized[0]
        if beyond:
            self._log.add(
                "after_finalize",
                "records after the lane's last one: an older run's, not read",
                lane=lane.index,
                slot=lane.slots[finalized[0] + 1],
                count=beyond,
            )
        return finalized[0]

    def _holes(self, lane: Lane, used: int) -> None:
        expected = 1 + lane.index
        for slot in lane.slots[:used]:
            if slot != expected:
                missing = (slot - expected) // self._shape.stride
                self._log.add(
                    "hole", "empty slots before a record: overwritten, or never written",
                    lane=lane.index, slot=expected, count=missing,
                )  # fmt: skip
            expected = slot + self._shape.stride

    def _pair(self, lane: Lane, times: list[int], end: int) -> None:
        open_at: dict[int, list[int]] = {}
        for index in range(end):
            event, kind = lane.events[index], lane.types[index]
            if kind == START:
                open_at.setdefault(event, []).append(index)
            elif kind == END and open_at.get(event):
                start = open_at[event].pop()
                self._regions.append((times[start], times[index], lane.index, event))
            elif kind == END:
                self._log.add(
                    "missing_start", f"an end of event {event} without its start",
                    lane=lane.index, slot=lane.slots[index],
                )  # fmt: skip
            elif kind == INSTANT:
                self._instants.append((times[index], times[index], lane.index, event))
        for index in sorted(index for starts in open_at.values() for index in starts):
            self._log.add(
                "missing_end", f"a start of event {lane.events[index]} without its end",
                lane=lane.index, slot=lane.slots[index],
            )  # fmt: skip

    def _unfinished(self, lane: Lane) -> None:
        """No finalize: the lane's slots were used up, or the kernel never came to its end."""
        beyond = lane.slots[-1] + self._shape.stride >= self._size
        if beyond:
            self._log.add(
                "lane_full",
                "the lane's last slot is used and nothing says that it ended there: later records "
                "were written past the buffer (there is no bounds check on the device)",
                lane=lane.index,
                slot=lane.slots[-1],
            )
        elif self._finalizes:
            self._log.add(
                "not_finalized",
                "the lane has no finalize record: the kernel stopped early, or never finalizes",
                lane=lane.index,
                slot=lane.slots[-1],
            )

    def _sm(self, lane: Lane) -> int | None:
        if len(set(lane.sms)) > 1:
            self._log.add(
                "sm_changed",
                f"records of one lane name SMs {sorted(set(lane.sms))}: lanes alias, or this is "
                "the other format",
                lane=lane.index,
                slot=lane.slots[0],
            )
            return None
        return lane.sms[0] if lane.sms else None


def _nearest(time: int, reference: int) -> int:
    """The moment with these low 32 bits that is nearest to ``reference``."""
    return reference + ((time - reference + _HALF) % WRAP_NS) - _HALF


def _trace(
    wire: ProfilerFormat,
    shape: Shape | None,
    found: tuple[tuple[Region, ...], tuple[Region, ...], tuple[LaneSpan, ...]],
    log: ProblemLog,
) -> ProfilerTrace:
    regions, instants, lanes = found
    return ProfilerTrace(
        format=wire,
        blocks=None if shape is None else shape.blocks,
        groups=None if shape is None else shape.groups,
        regions=regions,
        instants=instants,
        lanes=lanes,
        problems=log.problems(),
    )


def _log_unnamed(log: ProblemLog, kind: WireProblemKind, what: str, names: Sequence[str]) -> None:
    given = "1 was" if len(names) == 1 else f"{len(names)} were"
    log.add(kind, f"{what} has no name: {given} given")


def _name(event: int, names: Sequence[str]) -> str:
    return names[event] if event < len(names) else f"event {event}"
