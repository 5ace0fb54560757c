"""How much of what the device could do at best was reached?

Computed when it is measured, by the driver's name for the device, and kept beside the times: a
recorded file is shown with the same rates, whatever its device is called there.
"""

from __future__ import annotations

import re

from stagebench.machine.arithmetic import UnknownMmaError, mma_kind
from stagebench.machine.devices import DEVICES, Device
from stagebench.model import Arithmetic, MachineCode, Record
from stagebench.model.bounds import Amount, Excess
from stagebench.model.timing import Measurement


class Rates(Record, frozen=True, kw_only=True):
    """Of one variant: matrix operations in 10¹² a second, and shares of two floors (0 to 1).

    ``of_peak`` is the time that the matrix units need at their peak rate over the time taken,
    ``of_bandwidth`` that of the compulsory bytes at peak bandwidth; ``None``: not known.
    """

    tera_flops: Amount | None
    of_peak: Excess | None
    of_bandwidth: Excess | None


def rates(machine: MachineCode | None, device: str, time: Measurement | None) -> Rates | None:
    """``device`` is the driver's name; ``None`` without machine code, or without a time.

    The floors are those of the device that ran the code, not of the arch that it is for.
    """
    if machine is None or time is None or time.median_us <= 0:
        return None
    work = machine.arithmetic
    if work is None:
        return None
    known = find_device(device)
    compute = None if known is None else _compute_us(work, known)
    memory = None
    if known is not None and work.compulsory_bytes is not None:
        memory = work.compulsory_bytes / known.memory_gb_per_s / 1e3
    taken = time.median_us
    return Rates(
        tera_flops=round(work.flops / taken / 1e6, 1) if work.flops else None,
        of_peak=None if compute is None else round(compute / taken, 3),
        of_bandwidth=None if memory is None else round(memory / taken, 3),
    )


def find_device(name: str) -> Device | None:
    """The device of our table whose model (``H200``) is in the driver's name for this one."""
    words = set(re.split(r"\W+", name))
    for device in DEVICES:
        models = [word for word in device.name.split() if any(c.isdigit() for c in word)]
        if models and models[0] in words:
            return device
    return None


def _compute_us(work: Arithmetic, device: Device) -> float | None:
    """Time of all matrix operations at the device's peak dense rates, in microseconds."""
    if work.flops is None or work.mma is None:
        return None
    of_cta = sum(shape.flops for shape in work.mma)
    if not of_cta:  # no matrix instruction, or none in the CTA that was walked: no rate to hold to
        return None
    total = 0.0
    for shape in work.mma:
        try:
            kind = mma_kind(shape.instruction)
        except UnknownMmaError:
            return None
        rate = device.tera_rate(kind.operands, kind.accumulator)
        if rate is None:
            return None
        total += work.flops * (shape.flops / of_cta) / rate / 1e6
    return total
