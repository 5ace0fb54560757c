"""Can what a recorded file says be true together?  What no number tells by itself.

What one number can be is with the records (`stagebench.model.bounds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stagebench.gpu.records import LibraryTime, Profile, ProfiledVariant
from stagebench.model.timing import Measurement, RoleTime, SiteStall, VariantTiming
from stagebench.timing.measured import Measured, MeasuredSweep
from stagebench.timing.sweep_timings import CORRECT

_ROUNDING = 1e-6


def measured_problems(found: Measured) -> Iterator[str]:
    """What can't be in times: ``sweeps[1].timings has num_stages 2 twice``."""
    for index, sweep in enumerate(found.sweeps):
        yield from _sweep(f"sweeps[{index}]", sweep)
    yield from _libraries(found.libraries)


def profile_problems(found: Profile) -> Iterator[str]:
    """What can't be in verdicts."""
    if found.complete and not found.variants:
        yield "it is complete, and variants is empty"
    for name, times in Counter(one.id for one in found.variants).items():
        if times > 1:
            yield f"variants has {name} twice"
    for index, one in enumerate(found.variants):
        yield from _variant(f"variants[{index}]", one)
    yield from _libraries(found.libraries)


def _libraries(libraries: tuple[LibraryTime, ...]) -> Iterator[str]:
    for index, one in enumerate(libraries):
        yield from _time(f"libraries[{index}].time", one.time)


def _variant(place: str, one: ProfiledVariant) -> Iterator[str]:
    ran = one.correctness
    if ran.differing_runs > ran.runs:
        yield f"{place}.correctness has {ran.differing_runs} differing_runs of {ran.runs} runs"
    for kind, times in Counter(build.kind for build in one.builds).items():
        if times > 1:
            yield f"{place}.builds has {kind} twice"
    for index, build in enumerate(one.builds):
        yield from _time(f"{place}.builds[{index}].time", build.time)
        yield from _time(f"{place}.builds[{index}].device_time", build.device_time)


def _sweep(place: str, sweep: MeasuredSweep) -> Iterator[str]:
    if not sweep.timings:
        yield f"{place}.timings is empty"
    if len(sweep.rates) != len(sweep.timings):
        yield f"{place} has {len(sweep.rates)} rates for {len(sweep.timings)} timings"
    for depth, times in Counter(one.num_stages for one in sweep.timings).items():
        if times > 1 and depth is not None:
            yield f"{place}.timings has num_stages {depth} twice"
    for index, timing in enumerate(sweep.timings):
        yield from _timing(f"{place}.timings[{index}]", timing)


def _timing(place: str, timing: VariantTiming) -> Iterator[str]:
    if timing.verdict is not None and timing.correct != CORRECT.get(timing.verdict):
        yield f"{place} has verdict {timing.verdict!r} beside correct {timing.correct}"
    for name in ("base", "control", "probed"):
        yield from _time(f"{place}.{name}", getattr(timing, name))
    if timing.stalls is None:
        return
    for index, stall in enumerate(timing.stalls.sites):
        yield from _stall(f"{place}.stalls.sites[{index}]", stall)
    for index, role in enumerate(timing.stalls.roles):
        yield from _role(f"{place}.stalls.roles[{index}]", role)


def _time(place: str, time: Measurement | None) -> Iterator[str]:
    if time is not None and not time.low_us <= time.median_us <= time.high_us:
        yield (
            f"{place}.median_us is {time.median_us}, "
            f"and not in its interval, {time.low_us} to {time.high_us}"
        )


def _stall(place: str, stall: SiteStall) -> Iterator[str]:
    if stall.executions < stall.warps:
        yield f"{place}: {stall.warps} warps, and {stall.executions} executions"
    if not stall.p50_cycles <= stall.p95_cycles <= stall.max_cycles <= stall.total_cycles:
        yield f"{place}: p50_cycles, p95_cycles, max_cycles and total_cycles do not ascend"
    mean = stall.total_cycles / stall.executions
    if abs(mean - stall.mean_cycles) > _ROUNDING * max(mean, 1.0):
        yield (
            f"{place}.mean_cycles is {stall.mean_cycles}, "
            f"and {stall.total_cycles} / {stall.executions} is another"
        )


def _role(place: str, role: RoleTime) -> Iterator[str]:
    sections = [(f"{place}.sections[{n}]", each) for n, each in enumerate(role.sections)]
    for where, section in [(f"{place}.whole", role.whole), *sections]:
        busy = section.cycles - sum(section.stall_cycles.values())
        if section.busy_cycles != busy:
            yield f"{where}.busy_cycles is {section.busy_cycles}, and cycles less stalls {busy}"
