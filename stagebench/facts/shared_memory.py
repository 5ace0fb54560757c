"""How much shared memory does a CTA take, does it fit, and up to which depth would it?"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES
from stagebench.model import Observation, SharedBuffer, SharedMemory
from stagebench.model.observation import SeenLoopRequest

_STATIC_SCOPES = ("shared", "shared.barrier", "shared.cluster_barrier", "shared.tmem")


def shared_memory(
    observation: Observation,
    buffers: Sequence[SharedBuffer],
    *,
    arch: str,
    num_stages: int | None,
) -> SharedMemory:
    """Static and dynamic bytes of one CTA against the arch's opt-in limit."""
    kernel = observation.kernel
    static = sum(a.bytes or 0 for a in kernel.allocations if a.scope in _STATIC_SCOPES)
    dynamic = kernel.dynamic_smem_bytes
    limit = SHARED_MEMORY_LIMIT_BYTES.get(arch)
    total = static + dynamic
    return SharedMemory(
        static_bytes=static,
        dynamic_bytes=dynamic,
        total_bytes=total,
        limit_bytes=limit,
        fits=None if limit is None else total <= limit,
        max_num_stages=_deepest(observation.requests, buffers, total, limit, num_stages),
    )


def _deepest(
    requests: Sequence[SeenLoopRequest],
    buffers: Sequence[SharedBuffer],
    total: int,
    limit: int | None,
    num_stages: int | None,
) -> int | None:
    """The largest depth that fits if each versioned buffer grows by one version per stage.

    Answers only where this variant is described by that model: one loop asked for a depth, and
    every versioned buffer has exactly ``num_stages`` versions and shares its bytes with nobody.
    """
    if sum(1 for request in requests if request.num_stages or request.explicit_stage) != 1:
        return None
    versioned = [b for b in buffers if b.num_versions > 1 and b.offset_bytes is not None]
    if limit is None or num_stages is None or not versioned:
        return None
    if any(b.num_versions != num_stages or b.overlaps for b in versioned):
        return None
    per_stage = sum(b.bytes_per_version or 0 for b in versioned)
    if per_stage <= 0 or any(b.bytes_per_version is None for b in versioned):
        return None
    return max(0, (limit - (total - per_stage * num_stages)) // per_stage)
