"""Which of Apache TVM's ops read the global memory that they are given, and which write it?"""

from __future__ import annotations

from stagebench.worker.tir.tensors import TensorOps
from stagebench.worker.tvm.intrinsics import short_name

_LOADS = (
    "ptx_cp_async", "ptx_cp_async_bulk", "ptx_cp_async_bulk_g2s_cta",
    "ptx_cp_async_bulk_g2s_cluster", "ptx_cp_async_bulk_tensor_global_to_cluster",
    "ptx_cp_async_bulk_tensor_tile_gather4_global_to_cluster",
    "ptx_cp_async_bulk_tensor_global_to_cluster_prefetch", "ptx_prefetch_tensormap",
    "tvm_load_matrix_sync", "cuda_ldg", "ptx_ld", "ptx_ld_acquire", "ptx_ld_global_acquire",
    "ptx_ld_volatile", "ptx_ld_global_nc", "ptx_ld_mmio", "ptx_ld_relaxed", "ptx_cp_async_raw",
    "cp_async_raw", "ptx_cp_async_ca", "ptx_cp_async_cg", "ptx_cp_async_bulk_tensor_g2s_cluster",
    "ptx_cp_async_bulk_tensor_g2s_cta", "ptx_cp_async_bulk_tensor_prefetch", "ptx_prefetch",
    "ptx_ld_vec",
)  # fmt: skip
_STORES = (
    "ptx_cp_async_bulk_s2g", "ptx_cp_async_bulk_tensor_shared_to_global",
    "ptx_cp_async_bulk_tensor_s2g",
    "tvm_store_matrix_sync", "timer_init_cuda", "timer_start_cuda", "timer_end_cuda",
    "timer_finalize_cuda",
)  # fmt: skip

TENSOR_OPS = TensorOps(read=frozenset(_LOADS), written=frozenset(_STORES), name_of=short_name)
