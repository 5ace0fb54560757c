"""How much of what the device could do at best was reached?"""

from __future__ import annotations

import re

from stagebench.model import Facts, Record, TimeFloor
from stagebench.model.timing import Measurement


class Rates(Record, frozen=True, kw_only=True):
    """Of one variant: matrix operations in 10¹² a second, and shares of two floors (0 to 1).

    ``of_peak`` is the time that the matrix units need at their peak rate over the time taken,
    ``of_bandwidth`` that of the compulsory bytes at peak bandwidth; ``None``: not known.
    """

    tera_flops: float | None
    of_peak: float | None
    of_bandwidth: float | None


def rates(facts: Facts | None, device: str, time: Measurement | None) -> Rates | None:
    """``None`` where the variant has no machine code facts or no time."""
    if facts is None or facts.machine is None or time is None or time.median_us <= 0:
        return None
    work = facts.machine.arithmetic
    if work is None:
        return None
    floor = _floor_of(work.floors, device)
    compute = None if floor is None else floor.compute_us
    return Rates(
        tera_flops=None if work.flops is None else round(work.flops / time.median_us / 1e6, 1),
        of_peak=None if compute is None else round(compute / time.median_us, 3),
        of_bandwidth=None if floor is None else round(floor.memory_us / time.median_us, 3),
    )


def _floor_of(floors: tuple[TimeFloor, ...], device: str) -> TimeFloor | None:
    """The floor whose device's model (``H200``) is in the driver's name for this one."""
    words = set(re.split(r"\W+", device))
    for floor in floors:
        models = [word for word in floor.device.split() if any(c.isdigit() for c in word)]
        if models and words.issuperset(models[:1]):
            return floor
    return None
