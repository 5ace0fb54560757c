"""How much shared memory does a CTA take, does it fit, and up to which depth would it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES, static_limit_bytes
from stagebench.model import Observation, SharedBuffer, SharedMemory
from stagebench.model.facts import STATIC_LIMIT_BYTES
from stagebench.model.observation import SeenLoopRequest

_STATIC_SCOPES = ("shared", "shared.barrier", "shared.cluster_barrier", "shared.tmem")


def shared_memory(
    observation: Observation,
    buffers: Sequence[SharedBuffer],
    *,
    arch: str,
    num_stages: int | None,
) -> SharedMemory:
    """Static and dynamic bytes of one CTA against the arch's limits: static's, and that of both."""
    kernel = observation.kernel
    static = sum(a.bytes or 0 for a in kernel.allocations if a.scope in _STATIC_SCOPES)
    dynamic = kernel.dynamic_smem_bytes
    limit = SHARED_MEMORY_LIMIT_BYTES.get(arch)
    exceeds = _exceeds(arch, static, static + dynamic)
    stage = None
    if _one_depth(observation.requests) and num_stages is not None:
        stage = stage_bytes(buffers, static, num_stages)
    deepest = None
    if limit is not None and num_stages is not None and stage is not None:
        deepest = max(0, (limit - (static + dynamic - stage.total * num_stages)) // stage.total)
        deepest = deepest_static(arch, static, stage.static, num_stages, deepest)
    return SharedMemory(
        static_bytes=static,
        dynamic_bytes=dynamic,
        total_bytes=static + dynamic,
        limit_bytes=limit,
        fits=None if limit is None else exceeds is None,
        max_num_stages=deepest,
        exceeds=exceeds,
    )


def _exceeds(arch: str, static: int, total: int) -> Literal["static", "total"] | None:
    """Which limit is exceeded; ``None``: none, or the limits are not known."""
    limit, of_static = SHARED_MEMORY_LIMIT_BYTES.get(arch), static_limit_bytes(arch)
    if of_static == STATIC_LIMIT_BYTES and static > of_static:
        return "static"
    return "total" if limit is not None and total > limit else None


@dataclass(frozen=True)
class StageBytes:
    """Bytes that each further stage takes, of both kinds and of the static one alone."""

    total: int
    static: int


def stage_bytes(
    buffers: Sequence[SharedBuffer], static_bytes: int, num_stages: int
) -> StageBytes | None:
    """What a stage takes if each versioned buffer grows by one version per stage.

    Answers only where this variant is described by that model: every versioned buffer has exactly
    ``num_stages`` versions and shares its bytes with nobody.  Static buffers have no offsets: they
    are apart if the kernel's static memory holds all of them.
    """
    static = [buffer for buffer in buffers if buffer.scope == "shared"]
    if sum(buffer.total_bytes or 0 for buffer in static) > static_bytes:
        static = []
    versioned = [
        b for b in buffers if b.num_versions > 1 and (b.offset_bytes is not None or b in static)
    ]
    if not versioned or any(b.num_versions != num_stages or b.overlaps for b in versioned):
        return None
    if any(not buffer.bytes_per_version for buffer in versioned):
        return None
    return StageBytes(
        total=sum(buffer.bytes_per_version or 0 for buffer in versioned),
        static=sum(b.bytes_per_version or 0 for b in versioned if b.offset_bytes is None),
    )


def deepest_static(
    arch: str, static_bytes: int, stage_static: int, num_stages: int, deepest: int
) -> int:
    """The largest depth up to ``deepest`` at which the static part keeps to its own limit."""
    room = (static_limit_bytes(arch) or 0) - (static_bytes - stage_static * num_stages)
    if room < 0:
        return 0
    return min(deepest, room // stage_static) if stage_static else deepest


def _one_depth(requests: Sequence[SeenLoopRequest]) -> bool:
    return sum(1 for request in requests if request.num_stages or request.explicit_stage) == 1
