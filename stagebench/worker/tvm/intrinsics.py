"""Which taxonomy op is an Apache TVM intrinsic, and where does it keep its arguments?

Names are compared without ``tirx.`` and with ``_`` for the dots of the device namespaces: TVM
registers each op as ``tirx.ptx.cp_async`` and (0.25) as ``tirx.ptx_cp_async``.  An intrinsic that
has an effect and is in neither table is reported as ``unknown:<name>``.  0.27's table of PTX
instructions: `stagebench.worker.tvm.ptx_table`.

Source: positions of arguments from the builders in ``tvm/backend/cuda/op.py`` (Apache TVM 0.25 and
0.26) and ``tvm/backend/cuda/cpp/builtins.py`` (0.27),
what each prints from ``tvm/backend/cuda/operator/intrinsics/*.py`` and from ``PrintStorageSync``
and ``VisitExpr_(CallNode)`` of ``codegen_cuda.cc``.
"""

from __future__ import annotations

from stagebench.worker.tir.intrinsic import Intrinsic
from stagebench.worker.tir.intrinsic import one_op as _one

_TMA = {"barrier": 2, "descriptor": 3}
_MARK = Intrinsic(("threadfence",), {"event": 0}, {"scope": "cta"})
"""CudaProfiler's marks fence the thread before or after they write their record."""

SYNC: dict[str, Intrinsic] = {
    "ptx_cp_async": _one("cp_async_copy"),
    "ptx_cp_async_raw": _one("cp_async_copy"),
    "cp_async_raw": _one("cp_async_copy"),
    "ptx_cp_async_commit_group": _one("cp_async_commit"),
    "ptx_cp_async_wait_group": _one("cp_async_wait", max_pending=0),
    "ptx_cp_async_mbarrier_arrive": Intrinsic(
        ("mbarrier_arrive",), {"barrier": 0}, {"via": "cp_async"}
    ),
    "ptx_cp_async_bulk_tensor_global_to_cluster": Intrinsic(("tma_load",), _TMA),
    "ptx_cp_async_bulk_tensor_g2s_cluster": Intrinsic(("tma_load",), _TMA),
    "ptx_cp_async_bulk_tensor_g2s_cta": Intrinsic(("tma_load",), _TMA),
    "ptx_cp_async_bulk_tensor_tile_gather4_global_to_cluster": Intrinsic(
        ("tma_load",), _TMA, {"mode": "gather4"}
    ),
    "ptx_cp_async_bulk_tensor_shared_to_global": _one("tma_store"),
    "ptx_cp_async_bulk_tensor_shared_to_global_reduce": Intrinsic(
        ("tma_store",), {}, {"mode": "reduce"}
    ),
    "ptx_cp_async_bulk_tensor_global_to_cluster_prefetch": _one("tma_prefetch"),
    "ptx_cp_async_bulk_tensor_prefetch": _one("tma_prefetch"),
    "ptx_cp_async_bulk": Intrinsic(("tma_load",), {"bytes": 4, "barrier": 5}, {"mode": "bulk"}),
    "ptx_cp_async_bulk_g2s_cta": Intrinsic(
        ("tma_load",), {"bytes": 2, "barrier": 5}, {"mode": "bulk"}
    ),
    "ptx_cp_async_bulk_g2s_cluster": Intrinsic(
        ("tma_load",), {"bytes": 2, "barrier": 3}, {"mode": "bulk"}
    ),
    "ptx_cp_async_bulk_s2g": Intrinsic(("tma_store",), {"bytes": 2}, {"mode": "bulk"}),
    "ptx_cp_async_bulk_s2s_cluster": Intrinsic(("tma_store",), {"bytes": 2}, {"mode": "cluster"}),
    "ptx_cp_async_bulk_shared_to_cluster": Intrinsic(
        ("tma_store",), {"bytes": 2}, {"mode": "cluster"}
    ),
    "ptx_cp_async_bulk_commit_group": _one("tma_store_commit"),
    "ptx_cp_async_bulk_wait_group": _one("tma_store_wait", max_pending=0, read=1),
    "ptx_prefetch_tensormap": _one("tma_prefetch_descriptor", descriptor=0),
    "ptx_mbarrier_init": _one("mbarrier_init", barrier=0, count=1),
    "ptx_mbarrier_arrive": _one("mbarrier_arrive", barrier=0),
    "ptx_mbarrier_arrive_no_complete": _one("mbarrier_arrive", barrier=0),
    "ptx_mbarrier_arrive_expect_tx": Intrinsic(
        ("mbarrier_arrive", "mbarrier_expect_tx"), {"barrier": 0, "bytes": 1}
    ),
    "ptx_mbarrier_try_wait": _one("mbarrier_wait", barrier=0, parity=1),
    "ptx_mbarrier_try_wait_acquire_cluster": _one("mbarrier_wait", barrier=0, parity=1),
    "ptx_mbarrier_try_wait_once": _one("mbarrier_wait", barrier=0, parity=1),
    "ptx_mbarrier_test_wait_parity": _one("mbarrier_wait", barrier=0, parity=1),
    "cuda_mbarrier_wait": _one("mbarrier_wait", barrier=0, parity=1),
    "cuda_mbarrier_wait_acquire_cluster": _one("mbarrier_wait", barrier=0, parity=1),
    "ptx_fence_mbarrier_init": _one("fence_barrier_init"),
    "ptx_fence_proxy_async": _one("fence_proxy_async"),
    "ptx_fence": _one("threadfence", scope=1),
    "cuda_thread_fence": _one("threadfence"),
    "timer_start_cuda": _MARK,
    "timer_end_cuda": _MARK,
    "timer_finalize_cuda": Intrinsic(("threadfence",), {}, {"scope": "cta"}),
    "ptx_wgmma_fence": _one("wgmma_fence"),
    "ptx_wgmma_commit_group": _one("wgmma_commit"),
    "ptx_wgmma_wait_group": _one("wgmma_wait", max_pending=0),
    "ptx_wgmma_mma_async_ss": _one("wgmma"),
    "ptx_wgmma_mma_async_rs": _one("wgmma"),
    "ptx_mma": _one("mma_sync"),
    "ptx_mma_legacy": _one("mma_sync"),
    "ptx_legacy_mma": _one("mma_sync"),
    "ptx_mma_sp": _one("mma_sync"),
    "tvm_mma_sync": _one("mma_sync"),
    "tvm_bmma_sync": _one("mma_sync"),
    "ptx_tcgen05_mma": _one("tcgen05_mma"),
    "ptx_tcgen05_mma_sp": _one("tcgen05_mma"),
    "ptx_tcgen05_mma_block_scale": _one("tcgen05_mma"),
    "ptx_tcgen05_mma_sp_block_scale": _one("tcgen05_mma"),
    "ptx_tcgen05_commit": _one("tcgen05_commit", barrier=0),
    "ptx_tcgen05_wait_ld": Intrinsic(("tcgen05_wait",), {}, {"kind": "ld"}),
    "ptx_tcgen05_wait_st": Intrinsic(("tcgen05_wait",), {}, {"kind": "st"}),
    "ptx_tcgen05_fence_before_thread_sync": Intrinsic(("tcgen05_fence",), {}, {"when": "before"}),
    "ptx_tcgen05_fence_after_thread_sync": Intrinsic(("tcgen05_fence",), {}, {"when": "after"}),
    "ptx_tcgen05_alloc": _one("tcgen05_alloc", columns=1),
    "ptx_tcgen05_dealloc": _one("tcgen05_dealloc"),
    "cuda_cta_sync": _one("syncthreads"),
    "cuda_syncthreads_and": Intrinsic(("syncthreads",), {}, {"reduction": "and"}),
    "cuda_syncthreads_or": Intrinsic(("syncthreads",), {}, {"reduction": "or"}),
    "cuda_warp_sync": _one("warp_sync"),
    "cuda_warpgroup_sync": Intrinsic(("partial_barrier",), {"barrier_id": 0}, {"threads": 128}),
    "cuda_grid_sync": _one("grid_sync"),
    "cuda_cluster_sync": _one("cluster_sync"),
    "ptx_bar_sync": _one("partial_barrier", barrier_id=0, threads=1),
    "ptx_barrier_sync": _one("partial_barrier", barrier_id=0, threads=1),
    "ptx_bar_arrive": _one("partial_barrier_arrive", barrier_id=0, threads=1),
    "ptx_barrier_cluster_arrive": _one("cluster_arrive"),
    "ptx_barrier_cluster_wait": _one("cluster_wait"),
    "ptx_setmaxnreg": _one("setmaxnreg", increase=0, registers=1),
    "ptx_griddepcontrol_wait": Intrinsic(("griddepcontrol",), {}, {"kind": "wait"}),
    "ptx_griddepcontrol_launch_dependents": Intrinsic(
        ("griddepcontrol",), {}, {"kind": "launch_dependents"}
    ),
}
"""Intrinsics that synchronise, move data asynchronously or issue tensor-core work.

``tvm_storage_sync`` is not here: its scope decides what it is (`storage_sync`).
"""

_ARITHMETIC = (
    f"ptx_{verb}_{kind}"
    for verb in ("add", "sub", "mul", "fma", "max")
    for kind in ("f32", "f32x2", "f64", "rn_f32_bf16")
)
HARMLESS = frozenset(
    {
        # addresses, descriptors, registers
        "tvm_access_ptr", "tvm_stack_alloca", "cuda_cvta_generic_to_shared", "ptx_mapa",
        "ptx_map_shared_rank", "cuda_smem_addr_from_uint64", "cuda_get_tmem_addr",
        "cuda_sm100_tma_2sm_mbarrier_addr", "cuda_runtime_instr_desc", "cuda_thread_rank",
        "ptx_wgmma_encode_matrix_descriptor", "ptx_wgmma_noop_barrier",
        "ptx_tcgen05_encode_instr_descriptor", "ptx_tcgen05_encode_matrix_descriptor",
        "ptx_tcgen05_encode_instr_descriptor_block_scaled", "ptx_elect_sync",
        "cuda_elect_sync", "cuda_wgmma_encode_matrix_descriptor", "cuda_wgmma_noop_barrier",
        "cuda_tcgen05_encode_instr_descriptor", "cuda_tcgen05_encode_matrix_descriptor",
        "cuda_tcgen05_encode_instr_descriptor_block_scaled", "cuda_sm100_2sm_leader_smem_addr",
        # data movement between registers and memory; synchronous
        "ptx_ldmatrix", "ptx_ldmatrix_legacy", "ptx_stmatrix", "mma_fill", "mma_fill_legacy",
        "mma_store", "mma_store_legacy", "tvm_fill_fragment", "tvm_store_matrix_sync", "cuda_ldg",
        "cuda_copy_bytes", "ptx_ld", "ptx_st", "ptx_ld_volatile", "ptx_ld_acquire",
        "ptx_ld_global_acquire", "ptx_ld_global_nc", "ptx_ld_mmio", "ptx_ld_relaxed",
        "ptx_st_mmio", "ptx_st_relaxed", "ptx_st_release", "ptx_st_volatile", "masked_store",
        "ptx_mbarrier_complete_tx", "ptx_legacy_ldmatrix", "ptx_st_bulk", "ptx_tcgen05_ld",
        "ptx_tcgen05_st",
        "ptx_tcgen05_cp", "ptx_tcgen05_shift", "ptx_tcgen05_relinquish_alloc_permit",
        # atomics
        "atomic_add", "cuda_atomic_add", "cuda_atomic_cas", "ptx_red_scalar", "ptx_atom_scalar",
        # arithmetic and conversions
        *_ARITHMETIC, "cuda_fadd2_rn", "cuda_fmul2_rn", "cuda_hmax2", "cuda_hmin2",
        "cuda_make_float2", "cuda_float2_x", "cuda_float2_y", "cuda_half2float",
        "cuda_float22half2", "cuda_bfloat162float", "cuda_bfloat1622float2",
        "cuda_float22bfloat162_rn", "cuda_float22bfloat162_rn_from_float2",
        "cuda_float8tohalf8", "cuda_half8tofloat8", "cuda_fp8x4_e4m3_from_float4",
        "cuda_float_as_uint", "cuda_uint_as_float", "cuda_ffs_u32", "ptx_fns_b32",
        # warp votes, shuffles and reductions: they converge a warp, they order nothing else
        "tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down",
        "tvm_warp_shuffle_xor", "tvm_warp_activemask", "cuda___shfl_sync", "cuda___shfl_up_sync",
        "cuda___shfl_down_sync", "cuda___shfl_xor_sync", "cuda___activemask", "cuda_ballot_sync",
        "cuda_warp_reduce", "cuda_reduce_add_sync_u32", "cuda_reduce_min_sync_u32",
        # who we are among the GPUs
        "nvshmem_my_pe", "nvshmem_n_pes",
        # control and time
        "ret", "thread_return", "break_loop", "continue_loop", "cuda_printf", "cuda_nano_sleep",
        "cuda_clock64", "cuda_trap_when_assert_failed", "timer_init_cuda", "cuda_iket_mark",
        "cuda_iket_official_event", "cuda_iket_range_end", "cuda_iket_range_pop",
        "cuda_iket_range_push", "cuda_iket_range_start", "cuda_iket_sentinel_token",
    }
)  # fmt: skip
"""Intrinsics that the code generator knows and that are no synchronisation, by kind of reason."""


def nvshmem_name(name: str) -> str:
    """As CUDA calls an operation of NVSHMEM: those of a warp or a block are its extensions.

    Source: ``tvm/backend/cuda/operator/intrinsics/nvshmem.py``.
    """
    is_extension = name.startswith("nvshmem_") and name.endswith(("_warp", "_block"))
    return name.replace("nvshmem_", "nvshmemx_", 1) if is_extension else name


def short_name(full: str) -> str:
    """``ptx_cp_async`` of ``tirx.ptx.cp_async`` (and of ``tirx.ptx_cp_async``)."""
    for namespace in ("tirx.", "tir.", "s_tir."):
        full = full.removeprefix(namespace)
    return full.replace(".", "_")
