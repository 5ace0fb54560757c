"""In which order do people read sync ops?"""

from __future__ import annotations

SYNC_ORDER = (
    "cp_async_copy", "cp_async_commit", "cp_async_wait",
    "tma_load", "tma_store", "tma_store_commit", "tma_store_wait", "tma_prefetch_descriptor",
    "mbarrier_init", "mbarrier_expect_tx", "mbarrier_arrive", "mbarrier_wait",
    "wgmma", "wgmma_fence", "wgmma_commit", "wgmma_wait", "mma_sync",
    "tcgen05_mma", "tcgen05_commit", "tcgen05_wait", "tcgen05_fence", "tcgen05_alloc",
    "tcgen05_dealloc",
    "syncthreads", "partial_barrier", "cluster_sync", "fence_proxy_async", "fence_barrier_init",
    "setmaxnreg",
)  # fmt: skip
"""Ops in the order in which people read them; others follow, unknown ones last."""


def sync_rank(op: str) -> tuple[bool, int, str]:
    """Sort key: ops in reading order, what we don't know last."""
    known = SYNC_ORDER.index(op) if op in SYNC_ORDER else len(SYNC_ORDER)
    return (op.startswith("unknown:"), known, op)
