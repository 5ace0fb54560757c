"""Which of TileLang's ops read the global memory that they are given, and which write it?"""

from __future__ import annotations

from stagebench.worker.tir.nodes import bare_name
from stagebench.worker.tir.tensors import TensorOps

_READ = frozenset(
    {"ptx_cp_async", "ptx_cp_async_bulk", "ptx_ldmatrix", "tma_load", "tma_load_im2col", "ldg32",
     "ldg64", "ldg128", "ldg256", "prefetch_tma_descriptor", "prefetch"}
)  # fmt: skip
"""Ops that only read the global memory that they are given a pointer to."""
_WRITTEN = frozenset({"tma_store", "stg32", "stg64", "stg128", "stg256"})
"""Ops that only write it; anything else may do both."""

_READ_BY_NAME = frozenset({"tl::prefetch_tma_descriptor"})
"""Device functions (``call_extern``) that read at most: how 0.1.9 prefetches a descriptor."""

TENSOR_OPS = TensorOps(
    read=_READ, written=_WRITTEN, name_of=bare_name, functions_read=_READ_BY_NAME
)
