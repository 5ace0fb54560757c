"""Which capability and shared-memory limits has an arch, and which architectures are known?

Source: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per
Compute Capability": maximum amount of shared memory per thread block (opt-in, that is with
``cudaFuncAttributeMaxDynamicSharedMemorySize``).

*Static* shared memory is held to 48 KiB (same guide, "Shared Memory": a kernel that takes more must
take it dynamically).  The assembler holds it: ptxas 13.0 refuses more for every target ("uses too
much shared data (0xc001 bytes, 0xc000 max)") but the architecture-specific ones (``sm_90a``), where
its maximum is the opt-in limit (0x38c00) and a Hopper GPU launches such a kernel without opting in.
"""

from __future__ import annotations

import difflib
import re

from stagebench.errors import UsageError
from stagebench.model.facts import STATIC_LIMIT_BYTES

_KIB = 1024
_ARCH = re.compile(r"sm_(\d+)(\d)[af]?")
SHARED_MEMORY_LIMIT_BYTES = {
    "sm_70": 96 * _KIB,
    "sm_75": 64 * _KIB,
    "sm_80": 163 * _KIB,
    "sm_86": 99 * _KIB,
    "sm_87": 163 * _KIB,
    "sm_89": 99 * _KIB,
    "sm_90": 227 * _KIB,
    "sm_90a": 227 * _KIB,
    "sm_100": 227 * _KIB,
    "sm_100a": 227 * _KIB,
    "sm_103": 227 * _KIB,
    "sm_103a": 227 * _KIB,
    "sm_110": 227 * _KIB,
    "sm_110a": 227 * _KIB,
    "sm_120": 99 * _KIB,
    "sm_120a": 99 * _KIB,
    "sm_121": 99 * _KIB,
    "sm_121a": 99 * _KIB,
}
"""Opt-in limit of shared memory per block, in bytes, by arch."""


def capability_of(arch: str) -> tuple[int, int]:
    """Split ``sm_90a`` into ``(9, 0)``; `UsageError` for what is not written like that."""
    match = _ARCH.fullmatch(arch)
    if match is None:
        raise UsageError(
            f"{arch!r} is not a CUDA arch", hint="write it like sm_80, sm_90a, sm_100a"
        )
    return int(match[1]), int(match[2])


def static_limit_bytes(arch: str) -> int | None:
    """The limit of the static part alone; ``None`` where the arch is not in the table."""
    opt_in = SHARED_MEMORY_LIMIT_BYTES.get(arch)
    return opt_in if opt_in is None or arch.endswith("a") else STATIC_LIMIT_BYTES


def check_arch(arch: str) -> str:
    """Return the arch if it is one that we know; raise `UsageError` with the nearest names."""
    if arch in SHARED_MEMORY_LIMIT_BYTES:
        return arch
    near = difflib.get_close_matches(arch, SHARED_MEMORY_LIMIT_BYTES, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else None
    known = " ".join(SHARED_MEMORY_LIMIT_BYTES)
    raise UsageError(f"unknown arch {arch!r} (known: {known})", hint=hint)
