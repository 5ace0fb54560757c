"""Is a site in the prologue, the steady state or the epilogue of a pipelined loop?

Pipelined loops of the generated kernel are those that still carry the compiler's mark; of a
variable that none of them has, those that bear it where a depth was requested for it (loops that
fill and drain bear the same variable as the marked one).  What stands before the first is its
prologue, what stands behind the last its epilogue.  Between two of them copies and commits belong
to what comes, waits and tensor-core work to what was; anything else goes with its predecessor.  A
kernel without a pipelined loop has no sections.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model.facts import Role, Section
from stagebench.model.observation import SeenKernel, SeenLoop

_COPIES = ("cp_async_copy", "tma_load")
_TENSOR = ("wgmma", "mma_sync", "tcgen05_mma")
_OPENING = ("cp_async_copy", "cp_async_commit", "tma_load", "mbarrier_init", "mbarrier_expect_tx")
_CLOSING = (
    "cp_async_wait", "wgmma", "mma_sync", "tcgen05_mma", "wgmma_wait", "mbarrier_wait",
)  # fmt: skip


def assign_sections(
    kernel: SeenKernel, requested_vars: frozenset[str], roles: Sequence[Role]
) -> tuple[Section | None, ...]:
    """One section per site of ``kernel.sites``; ``roles`` are those of the same sites.

    Roles run side by side, so each is placed against its own loops and those of ``all``.
    """
    bodies = _steady_loops(kernel, requested_vars)
    return tuple(
        _section(index, kernel, [b for b in bodies if _concerns(b, role, roles)])
        for index, role in enumerate(roles)
    )


def _steady_loops(kernel: SeenKernel, requested_vars: frozenset[str]) -> list[SeenLoop]:
    """The loops whose trips are the steady state.

    Where a start or an extent is symbolic, fill and drain are loops with the mark as well: the one
    that both copies and multiplies is the body then.
    """
    marked = [loop for loop in kernel.loops if loop.pipelined]
    both = {loop.var for loop in marked if _has(loop, kernel, _COPIES, _TENSOR)}
    names = {loop.var for loop in marked}
    return [
        loop
        for loop in kernel.loops
        if (loop.pipelined and (loop.var not in both or _has(loop, kernel, _COPIES, _TENSOR)))
        or (not loop.pipelined and loop.var in requested_vars and loop.var not in names)
    ]


def _has(loop: SeenLoop, kernel: SeenKernel, *families: tuple[str, ...]) -> bool:
    ops = {site.op for site in kernel.sites[loop.start : loop.end]}
    return all(not ops.isdisjoint(family) for family in families)


def _concerns(body: SeenLoop, role: Role, roles: Sequence[Role]) -> bool:
    inside = set(roles[body.start : body.end])
    return role == "all" or role in inside or "all" in inside


def _section(index: int, kernel: SeenKernel, bodies: Sequence[SeenLoop]) -> Section | None:
    before = [body for body in bodies if body.end <= index]
    after = [body for body in bodies if body.start > index]
    if any(body.start <= index < body.end for body in bodies):
        return "body"
    if before and after:
        start = max(body.end for body in before)
        for position in range(index, start - 1, -1):
            op = kernel.sites[position].op
            if op in _OPENING:
                return "prologue"
            if op in _CLOSING:
                return "epilogue"
        return "epilogue"
    return "epilogue" if before else "prologue" if after else None
