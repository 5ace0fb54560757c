"""When did each warp wait?  A decoded probe buffer on the device's one time axis.

The clock of an SM counts cycles, the globaltimer nanoseconds for the whole device (PTX ISA,
"Special Registers": ``%clock64``, ``%globaltimer``).  The warps of a CTA share an SM: between its
earliest entry and its latest exit the clock is mapped to the timer by a straight line.  A CTA that
lived for too few ticks of the timer gets the median rate of the others; without any it is left out.
"""

from __future__ import annotations

import numpy as np

from stagebench.model.timing import ProbeMetadata, StallCause
from stagebench.timing.decode import Flags, Ints, ProbeRun
from stagebench.timing.stalls import cause
from stagebench.trace.timeline import Counter, Slice, Timeline, Track

BUSY = "busy"
KINDS: dict[StallCause, str] = {
    "data": "waits for data",
    "slot": "waits for a free slot",
    "compute": "waits for the tensor core",
    "barrier": "waits at a barrier",
    "other": "waits for something else",
}
_LEAST_NS = 1024  # 32 ticks of 32 ns, what a Hopper GPU's globaltimer advances by


def to_timeline(
    run: ProbeRun, metadata: ProbeMetadata, *, title: str, every_warp: bool = False
) -> Timeline:
    """One track for each CTA and role (its first warp; with ``every_warp`` all of them).

    The counter of a CTA is how many slots its producer has filled or is filling ahead of its
    consumers: empty waits passed less full waits passed; there is none where the two differ in
    number.  Warps that never came to their end are left out.
    """
    tracks: list[Track] = []
    counters: list[Counter] = []
    rates = _rates(run)
    for cta in np.unique(run.cta).tolist():
        lanes = np.flatnonzero((run.cta == cta) & run.finished)
        axis = _axis(run, lanes, rates)
        if axis is None:
            continue
        group = f"CTA {cta}, SM {run.sm[lanes[0]]}"
        shown = lanes if every_warp else _first_of_role(run, lanes, metadata)
        tracks += [_track(run, lane, metadata, axis, group) for lane in shown.tolist()]
        samples = _slots_ahead(run, lanes, metadata, axis)
        if samples:
            counters.append(Counter(group=group, name="slots ahead", unit="slots", samples=samples))
    return Timeline(title=title, tracks=tuple(tracks), counters=tuple(counters))


class _Axis:
    """The line from an SM's clock to the device's nanoseconds."""

    def __init__(self, clock: int, timer: int, rate: float) -> None:
        self._clock, self._timer, self._rate = clock, timer, rate

    def ns(self, clock: int) -> int:
        """The moment of a clock value, to the nanosecond."""
        return self._timer + round((clock - self._clock) * self._rate)


def _ends(run: ProbeRun, lanes: Ints) -> tuple[int, int, int, int]:
    """Clock and timer at the earliest entry, and what they advanced until the latest exit."""
    first = lanes[np.argmin(run.clock_entry[lanes])]
    last = lanes[np.argmax(run.clock_exit[lanes])]
    clock, timer = int(run.clock_entry[first]), int(run.timer_entry[first])
    return clock, timer, int(run.clock_exit[last]) - clock, int(run.timer_exit[last]) - timer


def _rates(run: ProbeRun) -> float | None:
    """The median of the CTAs' nanoseconds per cycle."""
    found = []
    for cta in np.unique(run.cta).tolist():
        lanes = np.flatnonzero((run.cta == cta) & run.finished)
        if len(lanes):
            _, _, cycles, ns = _ends(run, lanes)
            if cycles > 0 and ns >= _LEAST_NS:
                found.append(ns / cycles)
    return float(np.median(found)) if found else None


def _axis(run: ProbeRun, lanes: Ints, usual: float | None) -> _Axis | None:
    if len(lanes) == 0:
        return None
    clock, timer, cycles, ns = _ends(run, lanes)
    rate = ns / cycles if cycles > 0 and ns >= _LEAST_NS else usual
    return None if rate is None else _Axis(clock, timer, rate)


def _first_of_role(run: ProbeRun, lanes: Ints, metadata: ProbeMetadata) -> Ints:
    first: dict[str, int] = {}
    for lane in sorted(lanes.tolist(), key=lambda lane: int(run.warp[lane])):
        first.setdefault(metadata.warp_roles[int(run.warp[lane])], lane)
    return np.array(list(first.values()), dtype=np.int64)


def _track(run: ProbeRun, lane: int, metadata: ProbeMetadata, axis: _Axis, group: str) -> Track:
    warp, entry = int(run.warp[lane]), int(run.clock_entry[lane])
    role = metadata.warp_roles[warp]
    slices = [
        Slice(
            name=role,
            kind=BUSY,
            start_ns=axis.ns(entry),
            end_ns=max(axis.ns(entry), axis.ns(int(run.clock_exit[lane]))),
            args={},
        )
    ]
    for number in np.flatnonzero(run.lane == lane).tolist():
        site = metadata.sites[int(run.site[number])]
        start, cycles = entry + int(run.start[number]), int(run.cycles[number])
        slices.append(
            Slice(
                name=site.name,
                kind=KINDS[cause(site)],
                start_ns=axis.ns(start),
                end_ns=axis.ns(start + cycles),
                args={"cycles": cycles, "section": site.section, "cuda_line": site.cuda_line},
            )
        )
    return Track(group=group, name=f"{role}, warp {warp}", slices=tuple(slices))


def _slots_ahead(
    run: ProbeRun, lanes: Ints, metadata: ProbeMetadata, axis: _Axis
) -> tuple[tuple[int, int], ...]:
    """+1 where the first warp that waits for slots got one, -1 where the first for data did."""
    kinds = np.array([site.barrier_kind or "" for site in metadata.sites])
    ends = []
    for kind, change in (("empty", 1), ("full", -1)):
        waits: Flags = np.isin(run.lane, lanes)
        if len(run.site):
            waits &= kinds[run.site] == kind
        who = run.lane[waits]
        if len(who) == 0:
            return ()
        mine = waits & (run.lane == who[np.argmin(run.warp[who])])
        clocks = run.clock_entry[run.lane] + run.start + run.cycles
        ends.append([(axis.ns(clock), -change, change) for clock in clocks[mine].tolist()])
    taken, used = ends
    if len(taken) != len(used):
        return ()
    found: list[tuple[int, int]] = []
    ahead = 0
    for at, _, change in sorted(taken + used):
        ahead += change
        if found and found[-1][0] == at:
            found.pop()
        found.append((at, ahead))
    return tuple(found)
