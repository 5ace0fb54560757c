"""Which device stands for an arch when a kernel's file asks for the GPU?  See the table.

An arch does not determine a device: several products share one.  Each arch answers as its data
centre product (or the one product that there is), and every answer is noted with its name, because
a persistent kernel's grid depends on it.

Sources.  Limits per block and per SM: CUDA C++ Programming Guide, "Compute Capabilities", table
"Technical Specifications per Compute Capability".  SM counts, L2 sizes and memory: the NVIDIA
whitepapers "Tesla V100 GPU Architecture", "Turing GPU Architecture" (T4), "A100 Tensor Core GPU
Architecture" (table "Comparison of NVIDIA Data Center GPUs"), "Ampere GA102 GPU Architecture"
(A40), "Ada GPU Architecture" (L40S has AD102 with 142 SMs), "H100 Tensor Core GPU Architecture"
(H100 SXM5), "RTX Blackwell GPU Architecture" (RTX 5090), "Jetson AGX Orin" technical brief.  B200:
a query of the driver quoted in pytorch/ao pull request 4002 (148 SMs, 126.5 MB of L2).
"""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.facts.arch import capability_of

_KIB = 1024
_MIB = 1024 * 1024
_GIB = 1024 * 1024 * 1024


@dataclass(frozen=True)
class Device:
    """A representative device.  ``*_bytes`` are bytes; ``smem_*`` is shared memory."""

    name: str
    major: int
    minor: int
    sms: int
    l2_bytes: int
    memory_bytes: int
    smem_per_sm_bytes: int
    smem_optin_bytes: int
    threads_per_sm: int


def _device(
    name: str,
    capability: tuple[int, int],
    sms: int,
    l2_mib: float,
    memory_gib: int,
    smem_per_sm_kib: int,
    threads: int,
) -> Device:
    # One KiB of an SM's shared memory is the system's since compute capability 8.0; 7.0 and 7.5
    # give a block all of it (same table: 96 and 64 KB).
    reserved = 1 if capability >= (8, 0) else 0
    return Device(
        name=name,
        major=capability[0],
        minor=capability[1],
        sms=sms,
        l2_bytes=int(l2_mib * _MIB),
        memory_bytes=memory_gib * _GIB,
        smem_per_sm_bytes=smem_per_sm_kib * _KIB,
        smem_optin_bytes=(smem_per_sm_kib - reserved) * _KIB,
        threads_per_sm=threads,
    )


DEVICES: dict[tuple[int, int], Device] = {
    (device.major, device.minor): device
    for device in (
        _device("Tesla V100-SXM2-32GB", (7, 0), 80, 6, 32, 96, 2048),
        _device("Tesla T4", (7, 5), 40, 4, 16, 64, 1024),
        _device("NVIDIA A100-SXM4-80GB", (8, 0), 108, 40, 80, 164, 2048),
        _device("NVIDIA A40", (8, 6), 84, 6, 48, 100, 1536),
        _device("Orin", (8, 7), 16, 4, 64, 164, 1536),
        _device("NVIDIA L40S", (8, 9), 142, 96, 48, 100, 1536),
        _device("NVIDIA H100 80GB HBM3", (9, 0), 132, 50, 80, 228, 2048),
        _device("NVIDIA B200", (10, 0), 148, 126.5, 180, 228, 2048),
        _device("NVIDIA GeForce RTX 5090", (12, 0), 170, 96, 32, 100, 1536),
    )
}


def device_of(arch: str) -> Device | None:
    """Find the device that stands for ``arch``; ``None`` where the table has none."""
    return DEVICES.get(capability_of(arch))
