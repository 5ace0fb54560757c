"""Does the architecture have the instructions that the kernel is made of?

Compilers lower for any target that they are given: TMA for sm_80 is refused by the assembler alone.

**Source**: PTX ISA 9.0, "Target ISA Notes" of each instruction (``cp.async``, and ``mbarrier`` but
for its transactions: sm_80; bulk copies, transactions, clusters, proxies: sm_90; ``wgmma`` and
``setmaxnreg``: sm_90a; ``tcgen05``: sm_100a).
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.model import Diagnostic, SyncOp

_HOPPER = (
    "tma_load", "tma_store", "tma_store_commit", "tma_store_wait", "tma_prefetch_descriptor",
    "mbarrier_expect_tx", "wgmma", "wgmma_fence", "wgmma_commit", "wgmma_wait",
    "cluster_sync", "cluster_arrive", "cluster_wait", "griddepcontrol", "fence_proxy_async",
    "fence_barrier_init", "setmaxnreg",
)  # fmt: skip
_AMPERE = (
    "cp_async_copy", "cp_async_commit", "cp_async_wait", "mbarrier_init", "mbarrier_arrive",
    "mbarrier_wait",
)  # fmt: skip
_NEEDS = {
    **dict.fromkeys(_AMPERE, 80),
    **dict.fromkeys(_HOPPER, 90),
}
"""The first capability that has an op; ``tcgen05_*`` is told by its name."""


def not_on_arch(ops: Iterable[SyncOp], arch: str) -> tuple[Diagnostic, ...]:
    """One error for each capability that the kernel's ops need and the arch is older than."""
    digits = "".join(char for char in arch if char.isdigit())
    missing: dict[int, dict[str, None]] = {}
    for op in ops:
        needs = 100 if op.op.startswith("tcgen05_") else _NEEDS.get(op.op, 0)
        if digits and int(digits) < needs:
            missing.setdefault(needs, {})[op.op] = None
    return tuple(
        Diagnostic(
            severity="error",
            code="not-on-this-arch",
            message=f"{arch} has no {', '.join(names)} (from sm_{needs} on): the kernel can't be "
            "assembled, and the compiler did not say so",
            evidence=(),
        )
        for needs, names in sorted(missing.items())
    )
