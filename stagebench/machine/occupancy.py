"""How many CTAs fit into an SM at once, and which resource allows no more?

As ``cuda_occupancy.h`` of CUDA 13.0 computes it (``cudaOccMaxActiveBlocksPerMultiprocessor``), with
as much of the L1 as the SM has given to shared memory, and without MPS or cluster launch.  Where
``setmaxnreg`` is used, ``registers`` is the launch budget: the hardware allocates that.
"""

from __future__ import annotations

from stagebench.errors import UsageError
from stagebench.facts.arch import static_limit_bytes
from stagebench.machine.devices import MAX_CTA_THREADS, WARP_THREADS, SmLimits, sm_limits
from stagebench.model.machine import Limiter, Occupancy


def occupancy(
    arch: str,
    threads: int,
    registers: int,
    static_smem: int,
    dynamic_smem: int,
    *,
    barriers: int | None = None,
) -> Occupancy | None:
    """Whole CTAs and their warps in one SM; ``None`` for an arch that is in no table.

    ``threads`` are of a CTA, ``registers`` of a thread, shared memory in bytes of a CTA,
    ``barriers`` the named barriers that a CTA uses (``None``: not looked at).  A CTA that can't be
    launched at all gives 0.
    """
    limits = sm_limits(arch)
    if limits is None:
        return None
    if threads <= 0 or min(registers, static_smem, dynamic_smem, barriers or 0) < 0:
        raise UsageError(
            f"no occupancy of {threads} threads with {registers} registers,"
            f" {static_smem} + {dynamic_smem} bytes of shared memory, {barriers} barriers"
        )
    warps = -(-threads // WARP_THREADS)
    allowed: dict[Limiter, int] = {"ctas": limits.max_ctas}
    allowed["threads"] = limits.max_warps // warps if threads <= MAX_CTA_THREADS else 0
    by_registers = _by_registers(limits, warps, registers)
    if by_registers is not None:
        allowed["registers"] = by_registers
    allowed["shared_memory"] = ctas_by_shared_memory(limits, static_smem + dynamic_smem)
    of_static = static_limit_bytes(arch)
    if of_static is not None and static_smem > of_static:
        allowed["shared_memory"] = 0
    if barriers and limits.sm_barriers is not None:
        allowed["barriers"] = limits.sm_barriers // barriers
    ctas = min(allowed.values())
    return Occupancy(
        ctas_per_sm=ctas,
        warps_per_sm=ctas * warps,
        max_warps_per_sm=limits.max_warps,
        limiters=tuple(name for name in _ORDER if allowed.get(name) == ctas),
    )


_ORDER: tuple[Limiter, ...] = ("shared_memory", "registers", "threads", "ctas", "barriers")


def ctas_by_shared_memory(limits: SmLimits, cta_bytes: int) -> int:
    """CTAs of ``cta_bytes`` (static and dynamic) that an SM's shared memory holds."""
    unit = limits.smem_unit_bytes
    allocated = -(-(cta_bytes + limits.smem_reserved_bytes) // unit) * unit
    if allocated > limits.cta_smem_bytes + limits.smem_reserved_bytes:
        return 0
    return limits.smem_bytes // allocated


def _by_registers(limits: SmLimits, warps: int, registers: int) -> int | None:
    """CTAs by registers; ``None``: a kernel without registers is not limited by them."""
    if registers == 0:
        return None
    unit = limits.register_unit
    of_warp = -(-registers * WARP_THREADS // unit) * unit
    parts = limits.sub_partitions
    # The launch check assumes that a CTA's warps fill every sub-partition alike
    assumed = of_warp * -(-warps // parts) * parts
    if registers > limits.thread_registers or assumed > limits.cta_registers:
        return 0
    return limits.registers // parts // of_warp * parts // warps
