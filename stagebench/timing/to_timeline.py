"""When did each warp wait?  A decoded probe buffer on the device's one time axis.

The clock of an SM counts cycles, the globaltimer nanoseconds for the whole device (PTX ISA,
"Special Registers": ``%clock64``, ``%globaltimer``).  The warps of a CTA share an SM: between its
earliest entry and its latest exit the clock is mapped to the timer by a straight line.  A CTA that
lived for too few ticks of the timer gets the median rate of the others; without any it is left out.
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from stagebench.model.timing import ProbeMetadata, StallCause
from stagebench.timing.decode import ProbeRun
from stagebench.timing.stalls import cause
from stagebench.trace.timeline import BUSY, Counter, Slice, Timeline, Track

KINDS: dict[StallCause, str] = {
    "data": "waits for data",
    "slot": "waits for a free slot",
    "compute": "waits for the tensor core",
    "barrier": "waits at a barrier",
    "other": "waits for something else",
}
_LEAST_NS = 1024  # 32 ticks of 32 ns, what a Hopper GPU's globaltimer advances by


def to_timeline(
    run: ProbeRun,
    metadata: ProbeMetadata,
    *,
    title: str,
    every_warp: bool = False,
    ctas: Container[int] | None = None,
) -> Timeline:
    """One track for each CTA and role (its first warp; with ``every_warp`` all of them).

    ``ctas`` are the linear ids to show (all).  The counter of a CTA is how many slots its producer
    has filled or is filling ahead of its consumers: empty waits passed less full waits passed;
    there is none where the two differ in number.  Warps that never came to their end are left out.
    """
    tracks: list[Track] = []
    counters: list[Counter] = []
    by_cta = _lanes_by_cta(run)
    usual = _usual_rate(run, by_cta)
    records = _Records(run)
    for cta, lanes in by_cta.items():
        axis = _axis(run, lanes, usual) if ctas is None or cta in ctas else None
        if axis is None:
            continue
        group = f"CTA {cta}, SM {run.sm[lanes[0]]}"
        shown = lanes if every_warp else _first_of_role(run, lanes, metadata)
        tracks += [_track(run, records, lane, metadata, axis, group) for lane in shown]
        samples = _slots_ahead(run, records, lanes, metadata, axis)
        if samples:
            counters.append(Counter(group=group, name="slots ahead", unit="slots", samples=samples))
    return Timeline(title=title, tracks=tuple(tracks), counters=tuple(counters))


class _Records:
    """The records of one lane: site, clock before the wait, cycles.  A run's lanes are in order."""

    def __init__(self, run: ProbeRun) -> None:
        self._run = run
        self._bounds = np.searchsorted(run.lane, np.arange(len(run.cta) + 1)).tolist()

    def of(self, lane: int) -> list[tuple[int, int, int]]:
        """In program order."""
        mine = slice(self._bounds[lane], self._bounds[lane + 1])
        run, entry = self._run, int(self._run.clock_entry[lane])
        sites, cycles = run.site[mine].tolist(), run.cycles[mine].tolist()
        clocks = [entry + start for start in run.start[mine].tolist()]
        return list(zip(sites, clocks, cycles, strict=True))


def _lanes_by_cta(run: ProbeRun) -> dict[int, list[int]]:
    """The finished lanes of each CTA, in the order of their warps."""
    found: dict[int, list[int]] = {}
    for lane in np.flatnonzero(run.finished).tolist():
        found.setdefault(int(run.cta[lane]), []).append(lane)
    return found


class _Axis:
    """The line from an SM's clock to the device's nanoseconds."""

    def __init__(self, clock: int, timer: int, rate: float) -> None:
        self._clock, self._timer, self._rate = clock, timer, rate

    def ns(self, clock: int) -> int:
        """The moment of a clock value, to the nanosecond."""
        return self._timer + round((clock - self._clock) * self._rate)


def _ends(run: ProbeRun, lanes: list[int]) -> tuple[int, int, int, int]:
    """Clock and timer at the earliest entry, and what they advanced until the latest exit."""
    first = min(lanes, key=lambda lane: int(run.clock_entry[lane]))
    last = max(lanes, key=lambda lane: int(run.clock_exit[lane]))
    clock, timer = int(run.clock_entry[first]), int(run.timer_entry[first])
    return clock, timer, int(run.clock_exit[last]) - clock, int(run.timer_exit[last]) - timer


def _usual_rate(run: ProbeRun, by_cta: dict[int, list[int]]) -> float | None:
    """The median of the CTAs' nanoseconds per cycle."""
    ends = [_ends(run, lanes) for lanes in by_cta.values()]
    found = [ns / cycles for _, _, cycles, ns in ends if cycles > 0 and ns >= _LEAST_NS]
    return float(np.median(found)) if found else None


def _axis(run: ProbeRun, lanes: list[int], usual: float | None) -> _Axis | None:
    clock, timer, cycles, ns = _ends(run, lanes)
    rate = ns / cycles if cycles > 0 and ns >= _LEAST_NS else usual
    return None if rate is None else _Axis(clock, timer, rate)


def _first_of_role(run: ProbeRun, lanes: list[int], metadata: ProbeMetadata) -> list[int]:
    first: dict[str, int] = {}
    for lane in lanes:
        first.setdefault(metadata.warp_roles[int(run.warp[lane])], lane)
    return list(first.values())


def _track(
    run: ProbeRun,
    records: _Records,
    lane: int,
    metadata: ProbeMetadata,
    axis: _Axis,
    group: str,
) -> Track:
    warp, entry = int(run.warp[lane]), int(run.clock_entry[lane])
    role = metadata.warp_roles[warp]
    start = axis.ns(entry)
    end = max(start, axis.ns(int(run.clock_exit[lane])))
    slices = [Slice(name=role, kind=BUSY, start_ns=start, end_ns=end, args={})]
    for number, clock, cycles in records.of(lane):
        site = metadata.sites[number]
        slices.append(
            Slice(
                name=site.name,
                kind=KINDS[cause(site)],
                start_ns=axis.ns(clock),
                end_ns=axis.ns(clock + cycles),
                args={"cycles": cycles, "section": site.section, "cuda_line": site.cuda_line},
            )
        )
    return Track(group=group, name=f"{role}, warp {warp}", slices=tuple(slices))


def _slots_ahead(
    run: ProbeRun,
    records: _Records,
    lanes: list[int],
    metadata: ProbeMetadata,
    axis: _Axis,
) -> tuple[tuple[int, int], ...]:
    """+1 where the first warp that waits for slots got one, -1 where the first for data did."""
    taken = _passed(records, lanes, metadata, "empty")
    used = _passed(records, lanes, metadata, "full")
    if not taken or len(taken) != len(used) or not run.complete[lanes].all():
        return ()
    changes = [(clock, -1, 1) for clock in taken] + [(clock, 0, -1) for clock in used]
    found: list[tuple[int, int]] = []
    ahead = 0
    for clock, _, change in sorted(changes):
        ahead += change
        at = axis.ns(clock)
        if found and found[-1][0] == at:
            found.pop()
        found.append((at, ahead))
    return tuple(found)


def _passed(records: _Records, lanes: list[int], metadata: ProbeMetadata, kind: str) -> list[int]:
    """Clocks at which the first warp with such waits got past them."""
    for lane in lanes:
        clocks = [
            clock + cycles
            for site, clock, cycles in records.of(lane)
            if metadata.sites[site].barrier_kind == kind
        ]
        if clocks:
            return clocks
    return []
