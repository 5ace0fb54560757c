"""Does the architecture have the instructions that the kernel is made of?

Compilers lower for any target that they are given: TMA for sm_80 is refused by the assembler alone.

**Source**: PTX ISA 9.0, "Target ISA Notes" of each instruction; ptxas 13.0 takes one of each op for
exactly these architectures.  A wait for an mbarrier is held to what ``test_wait`` needs (sm_80), as
which of the two it is can't be told from the op; ``try_wait`` needs sm_90.

Does not handle: an architecture that stagebench does not know, of which nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES, capability_of
from stagebench.model import Diagnostic, SyncOp


@dataclass(frozen=True)
class Needs:
    """The architectures that have some ops, and how that is said."""

    archs: frozenset[str]
    words: str


def _from(arch: str) -> Needs:
    """Also what every later architecture has."""
    known = SHARED_MEMORY_LIMIT_BYTES
    later = frozenset(one for one in known if capability_of(one) >= capability_of(arch))
    return Needs(later, f"from {arch} on")


def _only(*archs: str) -> Needs:
    """What is bound to some architectures: none has it for being newer."""
    return Needs(frozenset(archs), f"only in {', '.join(archs)}")


_ALL = _from("sm_70")
_AMPERE = _from("sm_80")
_HOPPER = _from("sm_90")
_WGMMA = _only("sm_90a")
_TENSOR_MEMORY = _only("sm_100a", "sm_103a", "sm_110a")
_SETMAXNREG = _only("sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a")
NEEDS = {
    op: needs
    for needs, ops in (
        (_ALL, "mma_sync syncthreads partial_barrier partial_barrier_arrive warp_sync grid_sync "
            "threadfence"),
        (_AMPERE, "cp_async_copy cp_async_commit cp_async_wait mbarrier_init mbarrier_arrive "
            "mbarrier_wait"),
        (_HOPPER, "tma_load tma_store tma_store_commit tma_store_wait tma_prefetch_descriptor "
            "mbarrier_expect_tx cluster_sync cluster_arrive cluster_wait griddepcontrol "
            "fence_proxy_async fence_barrier_init"),
        (_WGMMA, "wgmma wgmma_fence wgmma_commit wgmma_wait"),
        (_TENSOR_MEMORY, "tcgen05_mma tcgen05_commit tcgen05_wait tcgen05_fence tcgen05_alloc "
            "tcgen05_dealloc"),
        (_SETMAXNREG, "setmaxnreg"),
    )
    for op in ops.split()
}  # fmt: skip
"""What each op of the taxonomy needs; of ``unknown:<name>`` nothing is known."""


def not_on_arch(ops: Iterable[SyncOp], arch: str) -> tuple[Diagnostic, ...]:
    """One error for each kind of architecture that the kernel's ops need and this one is not."""
    if arch not in SHARED_MEMORY_LIMIT_BYTES:
        return ()
    missing: dict[str, dict[str, None]] = {}
    for op in ops:
        needs = NEEDS.get(op.op)
        if needs is not None and arch not in needs.archs:
            missing.setdefault(needs.words, {})[op.op] = None
    return tuple(
        Diagnostic(
            severity="error",
            code="not-on-this-arch",
            message=f"{arch} has no {', '.join(names)} ({words}): the kernel can't be assembled, "
            "and the compiler did not say so",
            evidence=(),
        )
        for words, names in missing.items()
    )
