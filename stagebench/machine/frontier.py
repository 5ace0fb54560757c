"""How deep may the pipeline be before shared memory runs out, on each arch?

Derived from one lowered variant: each versioned buffer, and each run of mbarriers whose number is
a multiple of the depth, grows with the depth; the rest stays.  That describes a variant only where
one loop asked for a depth, every versioned buffer has exactly ``num_stages`` versions and shares
its bytes with nobody (as in ``facts.shared_memory``); else the answer is ``None``, never a guess.
Another arch's frontier is that of *this* variant's buffers there: its own lowering may differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES
from stagebench.facts.shared_memory import deepest_static, stage_bytes
from stagebench.machine.devices import SM_LIMITS, SmLimits
from stagebench.machine.occupancy import ctas_by_shared_memory
from stagebench.model.facts import Facts
from stagebench.model.machine import FrontierPoint

_MBARRIER_BYTES = 8


@dataclass(frozen=True)
class DepthModel:
    """Shared memory of a CTA at depth ``n``: ``fixed_bytes + n * stage_bytes``.

    ``fixed_static_bytes`` and ``stage_static_bytes`` are static shared memory's part of them.
    """

    fixed_bytes: int
    stage_bytes: int
    fixed_static_bytes: int = 0
    stage_static_bytes: int = 0

    def cta_bytes(self, num_stages: int) -> int:
        """Static and dynamic bytes of one CTA at a depth."""
        return self.fixed_bytes + num_stages * self.stage_bytes

    def deepest(self, limits: SmLimits, ctas: int, target: str) -> int:
        """The largest depth at which ``ctas`` CTAs fit into an SM; 0 where not even 1 does.

        ``target`` is the arch with its feature letter, which has a say in static memory.
        """
        room = limits.smem_bytes // ctas // limits.smem_unit_bytes * limits.smem_unit_bytes
        room = min(room - limits.smem_reserved_bytes, limits.cta_smem_bytes)
        depth = max(0, (room - self.fixed_bytes) // self.stage_bytes)
        depth = deepest_static(target, self.fixed_static_bytes, self.stage_static_bytes, 0, depth)
        return depth if ctas_by_shared_memory(limits, self.cta_bytes(depth)) >= ctas else 0


def depth_model(facts: Facts, num_stages: int | None) -> DepthModel | None:
    """The model of a variant's shared memory; ``None`` where it doesn't describe the variant."""
    asked = [loop for loop in facts.pipeline_loops if loop.num_stages or loop.explicit_schedule]
    if len(asked) != 1 or not num_stages:
        return None
    memory = facts.shared_memory
    of_buffers = stage_bytes(facts.shared_buffers, memory.static_bytes, num_stages)
    if of_buffers is None:
        return None
    in_static = sum(barrier.count for barrier in facts.barriers) * _MBARRIER_BYTES
    grown = sum(barrier.count for barrier in facts.barriers if barrier.count % num_stages == 0)
    if in_static > memory.static_bytes:  # the barriers are not where we think
        return None
    barriers = grown // num_stages * _MBARRIER_BYTES
    stage, stage_static = of_buffers.total + barriers, of_buffers.static + barriers
    return DepthModel(
        memory.total_bytes - num_stages * stage,
        stage,
        memory.static_bytes - num_stages * stage_static,
        stage_static,
    )


def frontier(facts: Facts, num_stages: int | None, arch: str) -> tuple[FrontierPoint, ...]:
    """One point for each arch of the table, in its order.

    A variant for an architecture-specific target (``sm_90a``) is taken to be built for such a
    target elsewhere too.
    """
    model = depth_model(facts, num_stages)
    return tuple(
        FrontierPoint(
            arch=sm,
            max_num_stages=None if model is None else model.deepest(limits, 1, target),
            max_num_stages_two_ctas=None if model is None else model.deepest(limits, 2, target),
        )
        for sm, limits in SM_LIMITS.items()
        for target in [_target(sm, arch)]
    )


def _target(sm: str, arch: str) -> str:
    named = f"{sm}a"
    return named if arch.endswith("a") and named in SHARED_MEMORY_LIMIT_BYTES else sm
