"""How deep may the pipeline be before shared memory runs out, on each arch?

Derived from one lowered variant: each versioned buffer, and each run of mbarriers whose number is
a multiple of the depth, grows with the depth; the rest stays.  That describes a variant only where
one loop asked for a depth, every versioned buffer has exactly ``num_stages`` versions and shares
its bytes with nobody (as in ``facts.shared_memory``); else the answer is ``None``, never a guess.
Another arch's frontier is that of *this* variant's buffers there: its own lowering may differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.machine.devices import SM_LIMITS, SmLimits
from stagebench.machine.occupancy import ctas_by_shared_memory
from stagebench.model.facts import Facts
from stagebench.model.machine import FrontierPoint

_MBARRIER_BYTES = 8


@dataclass(frozen=True)
class DepthModel:
    """Shared memory of a CTA at depth ``n``: ``fixed_bytes + n * stage_bytes``."""

    fixed_bytes: int
    stage_bytes: int

    def cta_bytes(self, num_stages: int) -> int:
        """Static and dynamic bytes of one CTA at a depth."""
        return self.fixed_bytes + num_stages * self.stage_bytes

    def deepest(self, limits: SmLimits, ctas: int) -> int:
        """The largest depth at which ``ctas`` CTAs fit into an SM; 0 where not even 1 does."""
        room = limits.smem_bytes // ctas // limits.smem_unit_bytes * limits.smem_unit_bytes
        room = min(room - limits.smem_reserved_bytes, limits.cta_smem_bytes)
        depth = max(0, (room - self.fixed_bytes) // self.stage_bytes)
        return depth if ctas_by_shared_memory(limits, self.cta_bytes(depth)) >= ctas else 0


def depth_model(facts: Facts, num_stages: int | None) -> DepthModel | None:
    """The model of a variant's shared memory; ``None`` where it doesn't describe the variant."""
    asked = [loop for loop in facts.pipeline_loops if loop.num_stages or loop.explicit_schedule]
    versioned = [
        buffer
        for buffer in facts.shared_buffers
        if buffer.num_versions > 1 and buffer.offset_bytes is not None
    ]
    if len(asked) != 1 or not num_stages or not versioned:
        return None
    if any(buffer.num_versions != num_stages or buffer.overlaps for buffer in versioned):
        return None
    sizes = [buffer.bytes_per_version for buffer in versioned]
    if any(not size for size in sizes):
        return None
    in_static = sum(barrier.count for barrier in facts.barriers) * _MBARRIER_BYTES
    grown = sum(barrier.count for barrier in facts.barriers if barrier.count % num_stages == 0)
    if in_static > facts.shared_memory.static_bytes:  # the barriers are not where we think
        return None
    stage = sum(size or 0 for size in sizes) + grown // num_stages * _MBARRIER_BYTES
    return DepthModel(facts.shared_memory.total_bytes - num_stages * stage, stage)


def frontier(facts: Facts, num_stages: int | None) -> tuple[FrontierPoint, ...]:
    """One point for each arch of the table, in its order."""
    model = depth_model(facts, num_stages)
    return tuple(
        FrontierPoint(
            arch=arch,
            max_num_stages=None if model is None else model.deepest(limits, 1),
            max_num_stages_two_ctas=None if model is None else model.deepest(limits, 2),
        )
        for arch, limits in SM_LIMITS.items()
    )
