"""Can a GPU launch the grid, block, cluster and shared memory of a plan?"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from stagebench.bundle.launch_checks import MAX_BLOCK, MAX_GRID, MAX_THREADS
from stagebench.bundle.plan_records import Plan
from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES


def extent_problems(plan: Plan) -> Iterator[tuple[str, str | None]]:
    """What is wrong, and what to do about it."""
    for name, extents in (("grid", plan.grid), ("block", plan.block), ("cluster", plan.cluster)):
        if extents is not None and (not 1 <= len(extents) <= 3 or min(extents) < 1):
            yield f"{name} = {list(extents)}: one to three extents, each at least 1", None
    yield from _above("grid", plan.grid, MAX_GRID)
    yield from _above("block", plan.block, MAX_BLOCK)
    if prod(plan.block) > MAX_THREADS:
        yield f"a block of {prod(plan.block)} threads: at most {MAX_THREADS}", None
    if plan.dynamic_smem_bytes < 0:
        yield f"dynamic_smem_bytes = {plan.dynamic_smem_bytes}: 0 or more", None
    allowed = SHARED_MEMORY_LIMIT_BYTES.get(plan.arch)
    if allowed is not None and plan.dynamic_smem_bytes > allowed:
        yield (
            f"dynamic_smem_bytes = {plan.dynamic_smem_bytes}: a block of {plan.arch} has "
            f"{allowed} bytes of shared memory at most",
            "fewer stages, or smaller tiles",
        )
    axes = zip("xyz", _three(plan.grid), _three(plan.cluster or ()), strict=True)
    for axis, all_ctas, of_cluster in axes:
        if all_ctas % of_cluster:
            yield f"grid.{axis} {all_ctas} is no multiple of the cluster's {of_cluster}", None


def _above(
    name: str, extents: tuple[int, ...], most: tuple[int, int, int]
) -> Iterator[tuple[str, str | None]]:
    for axis, extent, limit in zip("xyz", extents, most, strict=False):
        if extent > limit:
            yield f"{name}.{axis} is {extent}, and {limit} is the most", None


def _three(extents: tuple[int, ...]) -> tuple[int, ...]:
    return (*extents, 1, 1, 1)[:3]
