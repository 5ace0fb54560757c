"""Which taxonomy op is a TileLang intrinsic, and where does it keep its arguments?

Source: the branches of ``CodeGenTileLangCUDA::VisitExpr_`` and ``PrintStorageSync`` in
``src/cuda/codegen/codegen_cuda.cc`` of TileLang 0.1.15, which decide what each intrinsic becomes.
Releases before 0.1.10 spell the namespace ``tir`` instead of ``tirx``; names are looked up without
it.  An intrinsic that has an effect and is in neither table is reported as ``unknown:<name>``.
"""

from __future__ import annotations

from stagebench.worker.tir.intrinsic import Intrinsic
from stagebench.worker.tir.intrinsic import one_op as _one

SYNC: dict[str, Intrinsic] = {
    "ptx_cp_async": _one("cp_async_copy"),
    "ptx_commit_group": _one("cp_async_commit"),
    "ptx_wait_group": _one("cp_async_wait", max_pending=0),
    "ptx_cp_async_barrier": Intrinsic(("mbarrier_arrive",), {"barrier": 0}, {"via": "cp_async"}),
    "ptx_cp_async_barrier_noinc": Intrinsic(
        ("mbarrier_arrive",), {"barrier": 0}, {"via": "cp_async_noinc"}
    ),
    "ptx_arrive_barrier": _one("mbarrier_arrive", barrier=0),
    "ptx_arrive_cluster_barrier": _one("mbarrier_arrive", barrier=0, cta=1),
    "ptx_arrive_barrier_expect_tx": Intrinsic(
        ("mbarrier_arrive", "mbarrier_expect_tx"), {"barrier": 0, "bytes": 1}
    ),
    "mbarrier_expect_tx": _one("mbarrier_expect_tx", barrier=0, bytes=1),
    "mbarrier_wait_parity": _one("mbarrier_wait", barrier=0, parity=1),
    "ptx_wait_barrier": _one("mbarrier_wait", barrier=0),
    "ptx_init_barrier_thread_count": _one("mbarrier_init", barrier=0, count=1),
    "ptx_fence_barrier_init": _one("fence_barrier_init"),
    "fence_proxy_async": _one("fence_proxy_async"),
    "prefetch_tma_descriptor": _one("tma_prefetch_descriptor", descriptor=0),
    "tma_load": _one("tma_load", descriptor=0, barrier=1),
    "tma_load_multicast": Intrinsic(
        ("tma_load",), {"descriptor": 0, "barrier": 1}, {"mode": "multicast"}
    ),
    "tma_load_im2col": Intrinsic(
        ("tma_load",), {"descriptor": 0, "barrier": 1}, {"mode": "im2col"}
    ),
    "tma_load_gather4": Intrinsic(
        ("tma_load",), {"descriptor": 0, "barrier": 1}, {"mode": "gather4"}
    ),
    "ptx_cp_async_bulk": Intrinsic(("tma_load",), {"bytes": 4}, {"mode": "bulk"}),
    "tma_store": _one("tma_store"),
    "tma_store_scatter4": Intrinsic(("tma_store",), {}, {"mode": "scatter4"}),
    "tma_store_cluster": Intrinsic(("tma_store",), {"bytes": 3}, {"mode": "cluster"}),
    "tma_store_arrive": _one("tma_store_commit"),
    "tma_store_wait": _one("tma_store_wait", max_pending=0),
    "warpgroup_arrive": _one("wgmma_fence"),
    "warpgroup_commit_batch": _one("wgmma_commit"),
    "warpgroup_wait": _one("wgmma_wait", max_pending=0),
    "wait_wgmma": _one("wgmma_wait", max_pending=0),
    "ptx_wgmma_ss": _one("wgmma", shape=0),
    "ptx_wgmma_rs": _one("wgmma", shape=0),
    "ptx_wgmma_sp_ss": _one("wgmma", shape=0),
    "ptx_wgmma_sp_rs": _one("wgmma", shape=0),
    "ptx_mma": _one("mma_sync", shape=0),
    "ptx_mma_sp": _one("mma_sync", shape=0),
    "ptx_mma_sm70": _one("mma_sync", shape=0),
    "ptx_mma_block_scale": _one("mma_sync"),
    "tvm_mma_sync": _one("mma_sync"),
    "tvm_bmma_sync": _one("mma_sync"),
    "ptx_tcgen05_mma_ss": _one("tcgen05_mma"),
    "ptx_tcgen05_mma_ts": _one("tcgen05_mma"),
    "ptx_tcgen05_mma_blockscaled_ss": _one("tcgen05_mma"),
    "tcgen05_mma_arrive": _one("tcgen05_commit", barrier=0),
    "tcgen05_before_thread_sync": Intrinsic(("tcgen05_fence",), {}, {"when": "before"}),
    "tcgen05_after_thread_sync": Intrinsic(("tcgen05_fence",), {}, {"when": "after"}),
    "ptx_init_tensor_memory": _one("tcgen05_alloc", columns=1),
    "ptx_deallocate_tensor_memory": _one("tcgen05_dealloc"),
    "syncthreads_count": Intrinsic(("syncthreads",), {}, {"reduction": "count"}),
    "syncthreads_and": Intrinsic(("syncthreads",), {}, {"reduction": "and"}),
    "syncthreads_or": Intrinsic(("syncthreads",), {}, {"reduction": "or"}),
    "named_barrier_arrive": _one("partial_barrier_arrive", barrier_id=0, threads=1),
    "sync_warp": _one("warp_sync"),
    "sync_grid": _one("grid_sync"),
    "cluster_arrive": _one("cluster_arrive"),
    "cluster_arrive_relaxed": Intrinsic(("cluster_arrive",), {}, {"order": "relaxed"}),
    "cluster_wait": _one("cluster_wait"),
    "cluster_sync": _one("cluster_sync"),
    "pdl_sync": Intrinsic(("griddepcontrol",), {}, {"kind": "wait"}),
    "pdl_trigger": Intrinsic(("griddepcontrol",), {}, {"kind": "launch_dependents"}),
    "set_max_nreg": _one("setmaxnreg", registers=0, increase=1),
}
"""Intrinsics that synchronise, move data asynchronously or issue tensor-core work.

``tvm_storage_sync`` is not here: its scope and arguments decide what it is (`storage_sync`).
"""

HARMLESS = frozenset(
    {
        # no code at all
        "no_set_max_nreg", "annotate_producer_reg_dealloc", "annotate_consumer_reg_alloc",
        "type_annotation", "undef", "assume", "conflict_hint",
        # addresses, descriptors, registers
        "address_of", "tvm_access_ptr", "access_ptr", "region", "handle_add_byte_offset",
        "initialize_wgmma_descriptor", "initialize_tcgen05_descriptor",
        "increase_descriptor_offset", "warpgroup_fence_operand", "tl_shuffle_elect", "tvm_tuple",
        "reinterpret", "create_tma_descriptor", "create_tma_im2col_descriptor",
        # data movement between registers and shared or tensor memory; synchronous
        "ptx_ldmatrix", "ptx_stmatrix", "tcgen05_ld", "tcgen05_st", "ptx_tcgen05_cp_warpx4",
        "ptx_tcgen05_sf_warp_transpose", "ptx_st_bulk_shared", "ptx_cluster_store", "mma_fill",
        "mma_store", "tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_store_matrix_sync",
        "ldg32", "ldg64", "ldg128", "ldg256", "stg32", "stg64", "stg128", "stg256",
        "lds32", "lds64", "lds128", "sts32", "sts64", "sts128", "ptx_ldg32", "__ldg",
        # atomics
        "atomic_add_elem_op", "atomic_add_ret_elem_op", "atomic_addx2_elem_op",
        "atomic_addx2_ret_elem_op", "atomic_addx4_elem_op", "atomic_addx4_ret_elem_op",
        "atomic_load_elem_op", "atomic_max_elem_op", "atomic_max_ret_elem_op",
        "atomic_min_elem_op", "atomic_min_ret_elem_op", "atomic_or_elem_op",
        "atomic_store_elem_op", "atomic_add",
        # warp votes, shuffles and reductions: they converge a warp, they order nothing else
        "any_sync", "all_sync", "ballot_sync", "ballot", "activemask", "shfl_sync",
        "shfl_xor_sync", "shfl_down_sync", "shfl_up_sync", "__shfl_sync", "__shfl_up_sync",
        "__shfl_down_sync", "__activemask", "match_any_sync", "match_all_sync",
        "warp_reduce_sum", "warp_reduce_max", "warp_reduce_min", "warp_reduce_bitand",
        "warp_reduce_bitor", "tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down",
        "tvm_warp_activemask", "get_lane_idx", "get_warp_idx", "get_warp_idx_sync",
        "get_warp_group_idx", "block_rank_in_cluster",
        # control
        "loop_break", "break_loop", "continue_loop", "thread_return", "ret", "if_then_else",
        "likely", "device_assert", "device_assert_with_msg", "rng_init", "rng_rand",
        "rng_rand_float", "clc_is_canceled", "clc_get_first_ctaid_x", "clc_get_first_ctaid_y",
        "clc_get_first_ctaid_z",
    }
)  # fmt: skip
"""Intrinsics that the code generator knows and that are no synchronisation, by kind of reason."""
