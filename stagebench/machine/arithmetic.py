"""How much work is the kernel, and how fast could a device do it at best?

FLOPs are those of the matrix instructions that are executed, two for each multiply and add (an
integer product counts as well).  Compulsory bytes are each tensor argument once; a floor is the
larger of the time for the FLOPs at the peak dense rate and for the compulsory bytes at the peak
bandwidth.  Work outside matrix instructions is not counted, so a floor is a floor.

Shapes and types are read off the PTX opcode (PTX ISA, "mma", "wgmma.mma_async").  A
``tcgen05.mma`` has its shape in a descriptor: whoever knows it names the instruction
``tcgen05.mma.m128n128k16.f16.f32`` here.  An instruction of another spelling, or of sparse
operands, is an `UnknownMmaError`, never left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.machine.devices import Device, devices_of
from stagebench.model.machine import Arithmetic, MmaShape, TimeFloor

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_TYPE = re.compile(r"(?:f64|f32|f16|bf16|tf32|e4m3|e5m2|[us](?:8|4|32)|b1)")
_MICROSECONDS = 1e6


class UnknownMmaError(UsageError):
    """A matrix instruction whose shape or types can't be read off its name."""


@dataclass(frozen=True)
class MmaKind:
    """Shape and types of a matrix instruction, of one warp, warp-group or CTA."""

    m: int
    n: int
    k: int
    operands: str
    accumulator: str

    @property
    def flops(self) -> int:
        """Operations of one execution: a multiply and an add for each product."""
        return 2 * self.m * self.n * self.k


def mma_kind(instruction: str) -> MmaKind:
    """Read a PTX opcode.  Raises `UnknownMmaError`."""
    parts = instruction.split(".")
    shapes = [match for part in parts if (match := _SHAPE.fullmatch(part)) is not None]
    types = [part for part in parts if _TYPE.fullmatch(part)]
    if any(part.split("::")[0] == "sp" for part in parts):
        raise UnknownMmaError(f"{instruction}: sparse operands have rates of their own")
    if len(shapes) != 1:
        raise UnknownMmaError(f"{instruction}: no shape m…n…k… in the name")
    m, n, k = (int(size) for size in shapes[0].groups())
    if parts[0] == "tcgen05" and len(types) == 2:
        return MmaKind(m, n, k, operands=types[0], accumulator=types[1])
    # mma: D.A.B.C; wgmma: D.A.B
    if (parts[0], len(types)) not in (("mma", 4), ("wgmma", 3)):
        raise UnknownMmaError(f"{instruction}: no types of result and operands in the name")
    operands = types[1] if types[1] == types[2] else f"{types[1]}x{types[2]}"
    return MmaKind(m, n, k, operands=operands, accumulator=types[0])


@dataclass(frozen=True)
class Traffic:
    """Bytes through global memory; ``None``: not known.

    ``moved_bytes`` is what all CTAs load and store, ``tensor_bytes`` the size of each tensor
    argument of the launch.
    """

    moved_bytes: int | None
    tensor_bytes: Sequence[int] | None


def arithmetic(
    arch: str,
    executed: Mapping[str, int] | None,
    of_grid: Mapping[str, int] | None,
    traffic: Traffic,
) -> Arithmetic:
    """Work of the whole grid.

    ``executed`` maps a matrix instruction to its executions in one CTA, by all its warps (``mma``)
    or warp-groups (``wgmma``) together, ``of_grid`` to those in all CTAs; ``None``: not known.
    """
    kinds = {name: mma_kind(name) for name in sorted(executed or {})}
    shapes = (
        None
        if executed is None
        else tuple(
            MmaShape(
                instruction=name,
                m=kind.m,
                n=kind.n,
                k=kind.k,
                executed=executed[name],
                flops=kind.flops * executed[name],
            )
            for name, kind in kinds.items()
        )
    )
    work: list[tuple[MmaKind, int]] | None = None
    if of_grid is not None:
        total = [(mma_kind(name), count) for name, count in sorted(of_grid.items())]
        work = [(kind, kind.flops * count) for kind, count in total]
    flops = None if work is None else sum(each for _, each in work)
    compulsory = None if traffic.tensor_bytes is None else sum(traffic.tensor_bytes)
    floors: tuple[TimeFloor, ...] = ()
    if compulsory is not None:
        floors = tuple(_floor(device, work, compulsory) for device in devices_of(arch))
    return Arithmetic(
        mma=shapes,
        flops=flops,
        moved_bytes=traffic.moved_bytes,
        compulsory_bytes=compulsory,
        intensity=None if flops is None or not compulsory else flops / compulsory,
        floors=floors,
    )


def _floor(
    device: Device, work: Sequence[tuple[MmaKind, int]] | None, compulsory_bytes: int
) -> TimeFloor:
    """``compute_us`` is ``None`` where the work or one of its rates is not known."""
    memory_us = compulsory_bytes / (device.memory_gb_per_s * 1e9) * _MICROSECONDS
    compute_us: float | None = None if work is None else 0.0
    for kind, flops in work or ():
        rate = device.tera_rate(kind.operands, kind.accumulator)
        if rate is None or compute_us is None:
            compute_us = None
            break
        compute_us += flops / (rate * 1e12) * _MICROSECONDS
    by_compute = compute_us is not None and compute_us > memory_us
    return TimeFloor(
        device=device.name,
        compute_us=compute_us,
        memory_us=memory_us,
        floor_us=max(memory_us, compute_us or 0.0),
        bound_by="compute" if by_compute else "memory",
        source=device.source,
    )
