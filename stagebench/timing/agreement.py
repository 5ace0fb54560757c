"""Do the verdicts and the times that lie together say the same?  They may be of two runs.

Only what both say is held against each other: times of an older version have no verdict but wrong
or right, and no builds that were refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from stagebench.gpu.records import Profile
from stagebench.model.timing import Measurement, VariantTiming
from stagebench.timing.measured import Measured
from stagebench.timing.sweep_timings import sweep_key, sweep_timings

_BUILDS = ("base", "control", "probed")


def disagreements(profile: Profile, measured: Measured, names: tuple[str, str]) -> tuple[str, ...]:
    """One line for each thing that differs; ``names`` are those of the two, as a line has them."""
    return tuple(_differences(profile, measured, names))


def _differences(profile: Profile, measured: Measured, names: tuple[str, str]) -> Iterator[str]:
    if profile.device.name != measured.device:
        yield f"the device is {profile.device.name} in {names[0]}, {measured.device} in {names[1]}"
    said = {
        (sweep_key(variant), one.num_stages): one
        for variant, timings in sweep_timings(profile.variants, {}, {})
        for one in timings
    }
    told = {
        (sweep_key(sweep.variant), one.num_stages): one
        for sweep in measured.sweeps
        for one in sweep.timings
    }
    ids = {(sweep_key(one.variant), one.variant.num_stages): one.id for one in profile.variants}
    for key, one in said.items():
        if key not in told:
            yield f"{ids[key]} is in {names[0]}, and not in {names[1]}"
            continue
        for what, left, right in _values(one, told[key]):
            if left != right:
                yield f"{ids[key]}: {what} {left} in {names[0]}, {right} in {names[1]}"
    for sweep in measured.sweeps:
        for timing in sweep.timings:
            if (sweep_key(sweep.variant), timing.num_stages) not in said:
                variant = f"{sweep.variant.kernel}/{sweep.variant.arch}"
                depth = f"num_stages={timing.num_stages}"
                yield f"{variant}/{depth} is in {names[1]}, and not in {names[0]}"


def _values(left: VariantTiming, right: VariantTiming) -> Iterator[tuple[str, str, str]]:
    if right.verdict is None:
        yield "its output is", _soundness(left), _soundness(right)
    else:
        yield "it is", str(left.verdict), right.verdict
        yield "refused builds are", _refused(left), _refused(right)
    for build in _BUILDS:
        yield f"{build} takes", _time(getattr(left, build)), _time(getattr(right, build))


def _soundness(timing: VariantTiming) -> str:
    return "bad" if timing.bad else "not bad"


def _refused(timing: VariantTiming) -> str:
    return ", ".join(f"{build} ({why})" for build, why in sorted(timing.refused.items())) or "none"


def _time(time: Measurement | None) -> str:
    return "no known time" if time is None else f"{time.median_us:.6g} µs"
