"""What does an SM hold, and what can a named device do at most?

Limits of an SM by compute capability: CUDA C++ Programming Guide, "Compute Capabilities", table
"Technical Specifications per Compute Capability"; allocation units and the barriers of an SM:
``cuda_occupancy.h`` of CUDA 13.0 (``cudaOccSMemAllocationGranularity``,
``cudaOccRegAllocationGranularity``, ``cudaOccSubPartitionsPerMultiprocessor``,
``cudaOccMaxBlocksPerMultiprocessor``, ``cudaOccMaxBlocksPerSMBlockBarrierLimit``).  Named barriers
of a CTA: PTX ISA, "bar, barrier".

Rates of a device are dense, in units of 10¹² operations a second, at the clock that the vendor
rates it for; its datasheet or architecture paper is named beside it.  A rate that is missing is not
known to us: no floor is computed from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_KIB = 1024
WARP_THREADS = 32
MAX_CTA_THREADS = 1024


@dataclass(frozen=True)
class SmLimits:
    """Limits of one SM.  Registers are 32-bit; they are allocated to whole warps.

    ``register_unit`` is the number of registers that a warp's allocation is rounded up to,
    ``sub_partitions`` the parts of the SM that warps are spread over.  ``smem_reserved_bytes`` is
    what the system takes of the shared memory of each CTA.  ``sm_barriers`` are the named barriers
    of an SM, for all its CTAs (``None``: they don't limit), ``cta_barriers`` those of a CTA.
    """

    arch: str
    max_threads: int
    max_ctas: int
    smem_bytes: int
    cta_smem_bytes: int
    sm_barriers: int | None
    registers: int = 65536
    cta_registers: int = 65536
    thread_registers: int = 255
    register_unit: int = 256
    sub_partitions: int = 4
    smem_unit_bytes: int = 128
    smem_reserved_bytes: int = _KIB
    cta_barriers: int = 16

    @property
    def max_warps(self) -> int:
        """Resident warps of an SM."""
        return self.max_threads // WARP_THREADS


SM_LIMITS: Mapping[str, SmLimits] = {
    limits.arch: limits
    for limits in (
        SmLimits("sm_80", 2048, 32, 164 * _KIB, 163 * _KIB, sm_barriers=None),
        SmLimits("sm_86", 1536, 16, 100 * _KIB, 99 * _KIB, sm_barriers=None),
        SmLimits("sm_89", 1536, 24, 100 * _KIB, 99 * _KIB, sm_barriers=None),
        SmLimits("sm_90", 2048, 32, 228 * _KIB, 227 * _KIB, sm_barriers=64),
        SmLimits("sm_100", 2048, 32, 228 * _KIB, 227 * _KIB, sm_barriers=64),
        SmLimits("sm_120", 1536, 24, 100 * _KIB, 99 * _KIB, sm_barriers=24),
    )
}
"""By arch without its feature letter."""


@dataclass(frozen=True)
class Device:
    """A product: peak dense rates by kind of product, in 10¹² a second, and its memory.

    A rate's key is the operands' type, and the accumulator's where the rate depends on it
    (``f16:f32``).  ``l2_bytes`` and ``sm_count`` are ``None`` where the source doesn't say.
    """

    name: str
    arch: str
    tera_rates: Mapping[str, float]
    memory_gb_per_s: float
    sm_count: int | None
    l2_bytes: int | None
    source: str

    def tera_rate(self, operands: str, accumulator: str) -> float | None:
        """The peak rate for products of a type into an accumulator; ``None``: not known."""
        rate = self.tera_rates.get(f"{operands}:{accumulator}")
        return self.tera_rates.get(operands) if rate is None else rate


_MIB = 1024 * _KIB
_F16 = ("f16", "bf16")
_F8 = ("e4m3", "e5m2")


def _rates(**rates: float) -> dict[str, float]:
    """Spell out types that share a rate; ``f16_f32`` is f16 operands into an f32 accumulator."""
    found: dict[str, float] = {}
    for name, rate in rates.items():
        operands, _, accumulator = name.partition("_")
        for kind in {"f16": _F16, "f8": _F8, "s8": ("s8", "u8")}.get(operands, (operands,)):
            if (kind, accumulator) != ("bf16", "f16"):
                found[f"{kind}:{accumulator}" if accumulator else kind] = rate
    return found


DEVICES = (
    Device(
        name="A100 80GB SXM",
        arch="sm_80",
        tera_rates=_rates(f64=19.5, tf32=156, f16=312, s8=624),
        memory_gb_per_s=2039,
        sm_count=108,
        l2_bytes=40 * _MIB,
        source="NVIDIA A100 Tensor Core GPU datasheet; A100 architecture whitepaper (SMs, L2)",
    ),
    Device(
        name="RTX 3090",
        arch="sm_86",
        tera_rates=_rates(tf32=35.6, f16_f32=71.2, f16_f16=142.3, s8=284.7),
        memory_gb_per_s=936.2,
        sm_count=82,
        l2_bytes=6 * _MIB,
        source="NVIDIA Ampere GA102 GPU architecture whitepaper, appendix",
    ),
    Device(
        name="RTX 4090",
        arch="sm_89",
        tera_rates=_rates(
            tf32=82.6, f16_f32=165.2, f16_f16=330.3, f8_f32=330.3, f8_f16=660.6, s8=660.6
        ),
        memory_gb_per_s=1008,
        sm_count=128,
        l2_bytes=72 * _MIB,
        source="NVIDIA Ada GPU architecture whitepaper, appendix A",
    ),
    Device(
        name="L40S",
        arch="sm_89",
        tera_rates=_rates(tf32=183, f16=362.05, f8=733, s8=733),
        memory_gb_per_s=864,
        sm_count=142,
        l2_bytes=None,
        source="NVIDIA L40S datasheet (18 176 CUDA cores, 128 an SM)",
    ),
    Device(
        name="H100 SXM",
        arch="sm_90",
        tera_rates=_rates(f64=66.9, tf32=494.7, f16=989.4, f8=1978.9, s8=1978.9),
        memory_gb_per_s=3350,
        sm_count=132,
        l2_bytes=50 * _MIB,
        source="NVIDIA H100 Tensor Core GPU datasheet; H100 architecture whitepaper (SMs, L2)",
    ),
    Device(
        name="H200 SXM",
        arch="sm_90",
        tera_rates=_rates(f64=66.9, tf32=494.7, f16=989.4, f8=1978.9, s8=1978.9),
        memory_gb_per_s=4800,
        sm_count=132,
        l2_bytes=None,
        source="NVIDIA H200 Tensor Core GPU datasheet",
    ),
    Device(
        name="B200",
        arch="sm_100",
        tera_rates=_rates(f64=40, tf32=1125, f16=2250, f8=4500, s8=4500),
        memory_gb_per_s=8000,
        sm_count=None,
        l2_bytes=None,
        source="NVIDIA HGX B200 datasheet, an eighth of the board; Blackwell architecture brief",
    ),
    Device(
        name="RTX 5090",
        arch="sm_120",
        tera_rates=_rates(tf32=104.8, f16_f32=209.5, f16_f16=419, f8_f32=419, f8_f16=838, s8=838),
        memory_gb_per_s=1792,
        sm_count=170,
        l2_bytes=96 * _MIB,
        source="NVIDIA RTX Blackwell GPU architecture whitepaper, appendix A",
    ),
)
"""Named devices, oldest first."""


def sm_family(arch: str) -> str:
    """The arch without its feature letter: ``sm_90`` of ``sm_90a``."""
    return re.sub(r"[af]$", "", arch)


def sm_limits(arch: str) -> SmLimits | None:
    """The limits of an arch, feature letter or not; ``None`` where it is in no table of ours."""
    return SM_LIMITS.get(sm_family(arch))


def devices_of(arch: str) -> tuple[Device, ...]:
    """The named devices that code for ``arch`` is for."""
    return tuple(device for device in DEVICES if device.arch == sm_family(arch))
