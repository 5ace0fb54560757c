"""Which operation does a called function perform?

Three answers: it is an operation of the taxonomy (``SYNC``, ``BARRIER_METHODS``), it is known to be
none (``is_plain``), or nobody told us, and then the site is ``unknown:<callee>``.  A name is looked
up whole, without its template arguments; nothing is guessed from a part of a name.

Source: every name that TileLang 0.1.15 can print: ``src/cuda/codegen/codegen_cuda.cc`` (``VisitExpr_``
of ``CallNode``, ``CastNode``, ``MinNode``, ``MaxNode``, ``BroadcastNode``; ``PrintStorageSync``; ``VisitStmt_``
of ``AttrStmtNode`` and ``AssertStmtNode``), ``src/cuda/codegen/intrin_rule_cuda.cc`` and TVM's
``src/target/cuda/intrin_rule_cuda.cc`` (math), ``src/op/{logical,math}.cc``,
``src/backend/common/op/{reduce,scan,finalize_reducer}.h`` and ``src/cuda/op/finalize_reducer.cc``
(templates that are called by name), ``cuda/language/print.py``, ``language/customize.py``.  What a
template does was read in ``src/tl_templates/cuda/*.h``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product as pairs

from stagebench.facts.cuda_records import HiddenSync
from stagebench.model.base import Extent

Args = dict[str, Extent]
Found = list[tuple[str, Args]]
Reader = Callable[[Sequence[Extent], Sequence[Extent]], Found]
"""From the template arguments and the call's arguments to ops and what can be read of each."""


def _op(op: str, *arguments: str, **fixed: Extent) -> Reader:
    """An op whose call arguments have these names, in order; ``""`` skips one."""

    def read(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
        del templates
        return [(op, {**fixed, **_named(arguments, values)})]

    return read


def _templated(op: str, *parameters: str, **fixed: Extent) -> Reader:
    """An op whose template arguments have these names, in order."""

    def read(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
        del values
        return [(op, {**fixed, **_named(parameters, templates)})]

    return read


def _named(names: Sequence[str], values: Sequence[Extent]) -> Args:
    return {name: value for name, value in zip(names, values, strict=False) if name}


def _cp_async(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    return [("cp_async_copy", _named(("bytes",), templates) | _named(("", "", "predicate"), values))]


def _tma_load(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """``tma_load(descriptor, barrier, smem, coordinates…)`` or ``(smem, global, barrier, bytes)``.

    Source: tl_templates/cuda/copy_sm90.h; the bulk form has four arguments and its third is the
    barrier, the one-dimensional tensor form has four and its second is.
    """
    args: Args = _named(("cache_hint",), templates)
    if len(values) == 4 and _is_barrier(values[2]) and not _is_barrier(values[1]):
        return [("tma_load", {**args, "variant": "bulk", **_named(("", "", "barrier", "bytes"), values)})]
    return [("tma_load", {**args, **_named(("descriptor", "barrier"), values)})]


def _is_barrier(value: Extent) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\w+\[.*\]", value) is not None


def _tma_store(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """``tma_store(descriptor, smem, coordinates…)``, or ``(global, smem, bytes)`` for plain bulk."""
    args: Args = _named(("cache_hint",), templates)
    return [("tma_store", {**args, **_named(("descriptor",), values)})]


def _tma_store_wait(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    del values
    args = _named(("max_pending",), templates)
    read = templates[1] if len(templates) > 1 else 1  # template default of `Read` is true
    return [("tma_store_wait", {**args, "read": read})]


def _arrive_and_expect(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """One call, two effects: an arrival and an expected transaction."""
    del templates
    return [
        ("mbarrier_arrive", _named(("", "cta", "predicate"), values)),
        ("mbarrier_expect_tx", _named(("bytes", "cta", "predicate"), values)),
    ]


def _partial(templates: Sequence[Extent], values: Sequence[Extent]) -> Found:
    """``__sync_thread_partial(id = 0, threads = 0)``: ``bar.sync id, threads``."""
    del templates
    return [("partial_barrier", {"barrier_id": 0, "threads": 0} | _named(("barrier_id", "threads"), values))]


def _syncthreads(reduction: str) -> Reader:
    return _op("syncthreads", "predicate", reduction=reduction)


SYNC: dict[str, Reader] = {
    # copy.h
    "tl::cp_async_gs": _cp_async,
    "tl::cp_async_gs_conditional": _cp_async,
    "tl::cp_async_commit": _op("cp_async_commit"),
    "tl::cp_async_wait": _templated("cp_async_wait", "max_pending"),
    # copy_sm90.h, copy_sm100.h
    "tl::tma_load": _tma_load,
    "tl::tma_load_2sm": _op("tma_load", "descriptor", "barrier", variant="2sm"),
    "tl::tma_load_multicast": _op(
        "tma_load", "descriptor", "barrier", "", "mask", variant="multicast"
    ),
    "tl::tma_load_im2col": _op("tma_load", "descriptor", "barrier", variant="im2col"),
    "tl::tma_load_gather4": _op("tma_load", "descriptor", "barrier", variant="gather4"),
    "tl::tma_store": _tma_store,
    "tl::tma_store_add": _op("tma_store", "descriptor", variant="reduce"),
    "tl::tma_store_scatter4": _op("tma_store", "descriptor", variant="scatter4"),
    "tl::tma_store_cluster": _op(
        "tma_store", "", "", "cta", "bytes", "barrier", variant="cluster"
    ),
    "tl::prefetch_tma_descriptor": _op("tma_prefetch_descriptor", "descriptor"),
    # barrier.h
    "tl::tma_store_arrive": _op("tma_store_commit"),
    "tl::tma_store_wait": _tma_store_wait,
    "tl::fence_proxy_async": _op("fence_proxy_async"),
    "tl::fence_barrier_init": _op("fence_barrier_init"),
    "tl::mbarrier_cp_async_arrive": _op("cp_async_mbarrier_arrive", "barrier"),
    "tl::mbarrier_cp_async_arrive_noinc": _op(
        "cp_async_mbarrier_arrive", "barrier", variant="noinc"
    ),
    "tl::mbarrier_init": _op("mbarrier_init", "barrier", "count"),
    "tl::mbarrier_try_wait": _op("mbarrier_try_wait", "barrier", "parity"),
    "tl::mbarrier_wait": _op("mbarrier_wait", "barrier", "parity"),
    "tl::mbarrier_arrive": _op("mbarrier_arrive", "barrier"),
    "tl::mbarrier_expect_tx": _op("mbarrier_expect_tx", "barrier", "bytes"),
    "tl::mbarrier_arrive_expect_tx": lambda _, values: [
        ("mbarrier_arrive", _named(("barrier",), values)),
        ("mbarrier_expect_tx", _named(("barrier", "bytes"), values)),
    ],
    # common.h
    "tl::__sync_thread_partial": _partial,
    "tl::__named_barrier_arrive": _op("partial_barrier_arrive", "barrier_id", "threads"),
    # cluster.h
    "tl::cluster_arrive": _op("cluster_arrive"),
    "tl::cluster_arrive_relaxed": _op("cluster_arrive", variant="relaxed"),
    "tl::cluster_wait": _op("cluster_wait"),
    "tl::cluster_sync": _op("cluster_sync"),
    "tl::clc_try_cancel": _op("clc_try_cancel", "", "barrier"),
    "tl::clc_try_cancel_multicast": _op("clc_try_cancel", "", "barrier", variant="multicast"),
    # intrin.h, instruction/wgmma.h, instruction/wgmma_sp.h
    "tl::warpgroup_arrive": _op("wgmma_fence"),
    "tl::warpgroup_commit_batch": _op("wgmma_commit"),
    "tl::warpgroup_wait": _templated("wgmma_wait", "max_pending"),
    "tl::wait_wgmma": _templated("wgmma_wait", "max_pending"),
    "tl::warpgroup_reg_alloc": _templated("setmaxnreg", "registers", direction="inc"),
    "tl::warpgroup_reg_dealloc": _templated("setmaxnreg", "registers", direction="dec"),
    **{
        f"tl::{name}": _templated("wgmma", "a_type", "b_type", "c_type", "m", "n", "k")
        for name in ("wgmma_ss", "wgmma_rs", "wgmma_sp_ss", "wgmma_sp_rs")
    },
    # instruction/mma*.h
    **{
        f"tl::{name}": _templated("mma_sync", "a_type", "b_type", "c_type", "m", "n", "k")
        for name in ("mma_sync", "mma_sync_sm70", "mma_sp_sync")
    },
    "tl::sm120_mma_sync_blockscaled": _templated("mma_sync", "kind"),
    "nvcuda::wmma::mma_sync": _op("mma_sync", variant="wmma"),
    "nvcuda::wmma::bmma_sync": _op("mma_sync", variant="wmma"),
    # tcgen_05.h, instruction/tcgen05mma.h
    **{
        f"tl::{name}": _templated("tcgen05_mma", "type")
        for name in (
            "tcgen05mma_ss", "tcgen05mma_ts", "tcgen05mma_ws_ss", "tcgen05mma_blockscaled_ss",
        )
    },
    "tl::tcgen05_mma_arrive": _op("tcgen05_commit", "barrier"),
    "tl::tcgen05_before_thread_sync": _op("tcgen05_fence", kind="before_thread_sync"),
    "tl::tcgen05_after_thread_sync": _op("tcgen05_fence", kind="after_thread_sync"),
    "tl::fence_view_async_tmem_load": _op("tcgen05_wait", kind="ld"),
    "tl::fence_view_async_tmem_store": _op("tcgen05_wait", kind="st"),
    "tl::tmem_allocate": _op("tcgen05_alloc", "", "columns"),
    "tl::tmem_deallocate": _op("tcgen05_dealloc", "", "columns"),
    "tl::tcgen05_cp": _op("tcgen05_cp"),
    # CUDA C++ Programming Guide: synchronisation, fences, cooperative groups; runtime API (PDL)
    "__syncthreads": _op("syncthreads"),
    "__syncthreads_and": _syncthreads("and"),
    "__syncthreads_or": _syncthreads("or"),
    "__syncthreads_count": _syncthreads("count"),
    "__syncwarp": _op("warp_sync", "mask"),
    "__threadfence": _op("threadfence", scope="gpu"),
    "__threadfence_block": _op("threadfence", scope="cta"),
    "__threadfence_system": _op("threadfence", scope="sys"),
    "cudaGridDependencySynchronize": _op("griddepcontrol", kind="wait"),
    "cudaTriggerProgrammaticLaunchCompletion": _op("griddepcontrol", kind="launch_dependents"),
}  # fmt: skip

BARRIER_METHODS: dict[str, Reader] = {
    "init": _op("mbarrier_init", "count"),
    "wait": _op("mbarrier_wait", "parity"),
    "try_wait": _op("mbarrier_try_wait", "parity"),
    "test_wait": _op("mbarrier_try_wait", "parity", "predicate"),
    "arrive": _op("mbarrier_arrive", "cta", "predicate"),
    "expect_transaction": _op("mbarrier_expect_tx", "bytes"),
    "arrive_and_expect_tx": _arrive_and_expect,
}
"""Methods of ``struct Barrier`` (tl_templates/cuda/barrier.h), on an element of a barrier array."""

GROUP_METHODS: dict[tuple[str, str], str] = {
    ("this_grid", "sync"): "grid_sync",
    ("this_cluster", "sync"): "cluster_sync",
    ("this_thread_block", "sync"): "syncthreads",
}
"""``cooperative_groups::<function>().<method>()``; codegen_cuda.cc prints the first."""

_MATH = (
    "exp exp2 exp10 log log2 log10 log1p tan cos cosh sin sinh acos acosh asin asinh atan atan2 atanh"
    " tanh sqrt rsqrt rcbrt cbrt pow floor ceil trunc fabs round rint nearbyint fmod erf erfc hypot"
    " nextafter copysign ldexp fma fmaf fmax fmin max min abs rcp sigmoid"
).split()

_PLAIN_NAMES = frozenset(
    # math: `name`, `namef`, `hname`, `__namef` (intrin_rule_cuda.cc, CUDAMath and CUDAFastMath)
    [name for base in _MATH for name in (base, f"{base}f", f"h{base}", f"__{base}f", f"h2{base}")]
    # rounded arithmetic (codegen_cuda.cc: ieee_*)
    + [
        f"__{prefix}{op}_{mode}"
        for prefix, op, mode in pairs(
            ("f", "d", "h"),
            ("add", "sub", "mul", "maf", "ma", "rcp", "sqrt", "rsqrt", "div"),
            ("rn", "rz", "ru", "rd"),
        )
    ]
    + [
        f"__{op}"
        for op in (
            "habs hadd hsub hmul hdiv hfma hneg hmax hmin hmax_nan hmin_nan hadd2 hsub2 hmul2 hfma2"
            " hneg2 habs2 hmax2 hmin2 h2div heq hne hlt hle hgt hge hisnan hisinf clz clzll popc popcll"
            " ffs ffsll fns brev brevll byte_perm dp4a dp2a umulhi mulhi umul24 mul24 usad sad"
            " fdividef saturatef frcp_rn fsqrt_rn ldg ldcg ldca ldcs ldlu ldcv stwb stcg stcs stwt"
            " float2half float2half_rn half2float half22float2 float22half2_rn floats2half2_rn"
            " halves2half2 low2half high2half half2half2 float2bfloat16 float2bfloat16_rn"
            " bfloat162float bfloat1622float2 float22bfloat162_rn floats2bfloat162_rn"
            " halves2bfloat162 bfloat162bfloat162 pack_half2 pack_bfloat162 pack_nv_bfloat162"
            " float_as_int int_as_float float_as_uint uint_as_float double_as_longlong"
            " longlong_as_double half_as_ushort ushort_as_half int2float_rn float2int_rn float2int_rz"
            " float2uint_rn nv_cvt_float2_to_fp8x2 nv_cvt_float_to_fp8 nv_cvt_halfraw2_to_fp8x2"
            " nv_cvt_fp8_to_halfraw nv_cvt_fp8x2_to_halfraw2 cvta_generic_to_shared"
            " cvta_generic_to_global nanosleep builtin_assume builtin_expect builtin_unreachable trap"
            " isnan isinf isfinite nv_ptx_builtin"
            # warp exchange: registers of converged lanes, orders no memory
            " shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync any_sync all_sync ballot_sync"
            " match_any_sync match_all_sync activemask reduce_add_sync reduce_max_sync"
            " reduce_min_sync reduce_and_sync reduce_or_sync reduce_xor_sync"
        ).split()
    ]
    # conversions (codegen_cuda.cc, CastNode; cuda_fp8.h, cuda_fp4.h)
    + [
        f"__tl_cvt_{name}"
        for name in (
            "bfloat162_to_e8m0x2 bfloat162_to_fp4x2 bfloat162_to_fp8x2 double2_to_e8m0x2"
            " double2_to_fp4x2 e2m1x2_to_e4m3x2 e2m1x4_to_e4m3x4 e4m3x2_to_bfloat162"
            " e5m2x2_to_bfloat162 e8m0x2_to_bfloat162 float2_to_e8m0x2 float2_to_fp4x2"
            " fp4x2_to_bfloat162 fp4x2_to_double2 fp4x2_to_float2 fp4x2_to_half2 fp8x2_to_float2"
            " fp8x2_to_half2 half2_to_fp4x2 half2_to_fp8x2 fp8_to_half fp8_to_bfloat16 half_to_fp8"
            " bfloat16_to_fp8 e2m1_to_e4m3 f32x1_to_e2m1x1_rs_sat f32x2_to_e2m1x2_rs_sat"
            " f32x4_to_e2m1x4_rs_sat f32x1_to_e4m3x1_rs_sat f32x1_to_e5m2x1_rs_sat"
            " f32x2_to_e4m3x2_rs_sat f32x2_to_e5m2x2_rs_sat f32x4_to_e4m3x4_rs_sat"
            " f32x4_to_e5m2x4_rs_sat"
        ).split()
    ]
    # vector constructors (codegen_cuda.cc: BroadcastNode, RampNode; common.h, cuda_fp8.h, cuda_fp4.h)
    + [
        f"make_{element}{lanes}"
        for element in (
            "char uchar short ushort int uint long ulong longlong ulonglong float double half"
            " bfloat16 __nv_bfloat16 fp8_e4_ fp8_e5_ fp8_e8_ fp4_e2_ nv_bfloat16"
        ).split()
        for lanes in ("", "1", "2", "3", "4", "8", "16", "32", "_2", "_4", "_8", "_16", "_32",
                      "2_t", "4_t", "8_t", "16_t", "32_t", "64_t")
    ]
    + (
        "make_half2 make_bfloat162 make_bfloat16x2 make_dim3 isnan isinf isfinite printf assert"
        " device_assert device_assert_with_msg debug_print_var debug_print_buffer_value"
        " debug_print_msg DP4A atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor"
        " atomicExch atomicCAS atomicInc atomicDec AtomicAdd AtomicAddRet AtomicAddx2 AtomicAddx2Ret"
        " AtomicAddx4 AtomicAddx4Ret AtomicLoad AtomicStore AtomicOr AtomicMax AtomicMaxRet AtomicMin"
        " AtomicMinRet tl_fp4_packed_load tl_fp4_packed_store tl_int4_packed_load"
        " tl_int4_packed_store tl_uint4_packed_load tl_uint4_packed_store tl_pack_int4x2"
        " tl_pack_uint4x2 smem_ptr_to_uint cast_smem_ptr_to_int cuda_cast"
        " curand curand4 curand_init curand_uniform curand_uniform4 curand_uniform_double"
        " curand_uniform2_double curand_uniform4_double curand_normal curand_normal2 curand_normal4"
        " curand_normal_double curand_normal2_double curand_normal4_double curand_log_normal"
        " curand_log_normal2 curand_log_normal4 curand_poisson"
        # casts and constructors of scalar types (codegen_cuda.cc, PrintType)
        " reinterpret_cast static_cast const_cast dynamic_cast bit_cast half half2 half_t bfloat16_t"
        " __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 nv_bfloat162 tfloat32_t fp8_e4_t"
        " fp8_e5_t fp8_e8_t fp4_e2_t fp4_e2_2_t float_e4m3_t float_e5m2_t uchar ushort uint ulong"
        " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t dim3 uint1 uint2"
        " uint3 uint4 int1 int2 int3 int4 float1 float2 float3 float4 double2 longlong2 longlong4"
        " ulonglong2 ulonglong4 short2 short4 ushort2 ushort4 char2 char4 uchar2 uchar4"
        " tfloat32_t::bitcast fp8_e4_t::bitcast fp8_e5_t::bitcast fp8_e8_t::bitcast"
        " fp4_e2_t::bitcast float_e4m3_t::bitcast float_e5m2_t::bitcast half_t::bitcast"
        " bfloat16_t::bitcast cutlass::half_t cutlass::bfloat16_t cutlass::tfloat32_t"
        " cute::elect_one_sync cooperative_groups::this_grid cooperative_groups::this_cluster"
        " cooperative_groups::this_thread_block cg::this_grid cg::this_cluster"
        " cg::this_thread_block std::numeric_limits::infinity std::numeric_limits::quiet_NaN"
        " std::numeric_limits::max std::numeric_limits::min std::numeric_limits::lowest"
        " cuda::std::numeric_limits::infinity cuda::std::numeric_limits::quiet_NaN"
        " nvcuda::wmma::fill_fragment nvcuda::wmma::load_matrix_sync"
        " nvcuda::wmma::store_matrix_sync"
    ).split()
    + [
        f"tl::{name}"
        for name in (
            "Any All RoundTiesAwayFromZero abs2 add2 sub2 mul2 fma2 max2 min2 max2_nan min2_nan"
            " broadcast clamp clamp2 fast_max fast_min fast_rcp from_uint1 to_uint1 make_vec"
            " make_fp4_vec pack_b8x4 pack_half2 pack_bfloat16x4 pack_float16x4 pow_of_int"
            " __tl_cvt_f32x1_to_bf16x1_rs_sat __tl_cvt_f32x1_to_f16x1_rs_sat"
            " __tl_cvt_f32x2_to_bf16x2_rs_sat __tl_cvt_f32x2_to_f16x2_rs_sat"
            " shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync warp_reduce warp_reduce_sum"
            " warp_reduce_max warp_reduce_min warp_reduce_bitand warp_reduce_bitor"
            " get_lane_idx get_warp_idx get_warp_idx_sync get_warp_group_idx tl_shuffle_elect"
            " block_rank_in_cluster block_id_in_cluster cluster_grid_dims cluster_id_in_grid"
            " cluster_shape set_block_rank smem_ptr_to_uint cast_smem_ptr_to_int"
            " rasterization2DRow rasterization2DColumn rasterization2DRowWithCluster"
            " rasterization2DColumnWithCluster"
            # descriptors; `warpgroup_fence_operand` is an empty asm that pins registers (intrin.h)
            " initialize_wgmma_descriptor initialize_tcgen05_descriptor increase_descriptor_offset"
            " make_sf_smem_desc warpgroup_fence_operand st_bulk_shared"
            " ptx_ldmatrix_x1 ptx_ldmatrix_x2 ptx_ldmatrix_x4 ptx_ldmatrix_x1_trans"
            " ptx_ldmatrix_x2_trans ptx_ldmatrix_x4_trans ptx_stmatrix_x1 ptx_stmatrix_x2"
            " ptx_stmatrix_x4 ptx_stmatrix_x1_trans ptx_stmatrix_x2_trans ptx_stmatrix_x4_trans"
            " ptx_stmatrix_m8n8_x1 ptx_stmatrix_m8n8_x2 ptx_stmatrix_m8n8_x4"
            " ptx_stmatrix_m8n8_x1_trans ptx_stmatrix_m8n8_x2_trans ptx_stmatrix_m8n8_x4_trans"
            " ptx_stmatrix_m16n8_x1_trans ptx_stmatrix_m16n8_x2_trans ptx_stmatrix_m16n8_x4_trans"
            " load_shared_32 load_shared_64 load_shared_128 store_shared_32 store_shared_64"
            " store_shared_128 load_global_32 load_global_64 load_global_128 load_global_256"
            " load_global_32_conditional load_global_64_conditional load_global_128_conditional"
            " load_global_256_conditional store_global_32 store_global_64 store_global_128"
            " store_global_256 store_global_32_conditional store_global_64_conditional"
            " store_global_128_conditional store_global_256_conditional"
            # scans work on one warp segment with shuffles (scan.h)
            " CumSum1D::run CumSum2D::run CumMax1D::run CumMax2D::run"
        ).split()
    ]
)  # fmt: skip

PLAIN_METHODS = frozenset(
    "to_half to_nv_bfloat16 raw storage map_shared_rank num_blocks block_rank thread_rank size"
    " x y z w data".split()
)
"""Methods that read a value (codegen_cuda.cc: casts, cluster stores)."""


def is_plain(name: str) -> bool:
    """Whether a callee (without template arguments) is known to synchronise nothing itself."""
    return name in _PLAIN_NAMES or name in _HIDING


def hidden_syncs(name: str, callee: str, templates: Sequence[Extent], line: int) -> list[HiddenSync]:
    """What a template synchronises inside, per call; ``dynamic`` is filled in by the caller."""
    found = _HIDING[name](templates) if name in _HIDING else []
    return [
        HiddenSync(op=op, callee=callee, args=args, per_call=count, line=line, dynamic=count)
        for op, count, args in found
    ]


_Hidden = list[tuple[str, int, Args]]


def _all_reduce(templates: Sequence[Extent]) -> _Hidden:
    """Two barriers for each level of the butterfly that crosses warps (offset of 32 or more).

    Source: tl_templates/cuda/reduce.h, ``AllReduce::butterfly_reduce_scalar``: barrier 1, store,
    barrier 2, load; ``NamedBarrier<n>`` is ``bar.sync id, n``, the default is ``__syncthreads``.
    """
    threads, scale = (templates[1], templates[2]) if len(templates) > 2 else ("?", "?")
    if not isinstance(threads, int) or not isinstance(scale, int) or scale < 1:
        return [("unknown:tl::AllReduce", 1, {})]
    levels = 0
    while threads > scale:
        threads //= 2
        levels += threads >= 32
    if not levels:
        return []
    barrier = templates[4] if len(templates) > 4 else "tl::SyncThreadsBarrier"
    match = re.fullmatch(r"(?:tl::)?NamedBarrier<(.*)>", str(barrier))
    if match is None:
        return [("syncthreads", 2 * levels, {})]
    width: Extent = int(match[1]) if match[1].strip().isdigit() else match[1].strip()
    return [
        ("partial_barrier", levels, {"barrier_id": barrier_id, "threads": width})
        for barrier_id in (1, 2)
    ]


def _always(*found: tuple[str, Args]) -> Callable[[Sequence[Extent]], _Hidden]:
    return lambda _templates: [(op, 1, args) for op, args in found]


_CLC_READ = _always(("fence_proxy_async", {}))
_HIDING: dict[str, Callable[[Sequence[Extent]], _Hidden]] = {
    "tl::AllReduce::run": _all_reduce,
    "tl::AllReduce::run_batch": _all_reduce,
    "tl::tcgen05_sf_warp_transpose": _always(("warp_sync", {})),
    "tl::clc_is_canceled": _CLC_READ,
    "tl::clc_get_first_ctaid_x": _CLC_READ,
    "tl::clc_get_first_ctaid_y": _CLC_READ,
    "tl::clc_get_first_ctaid_z": _CLC_READ,
    "tl::tma_store_cluster": _always(
        ("mbarrier_arrive", {}), ("mbarrier_expect_tx", {}), ("fence_proxy_async", {})
    ),
    **{
        f"tl::tcgen05_{verb}_{datapaths}dp{bits}bNx": _always(("tcgen05_wait", {"kind": verb}))
        for verb, datapaths, bits in pairs(("ld", "st"), (16, 32), (32, 64, 128, 256))
    },
}  # fmt: skip
"""Templates that synchronise inside.  ``tcgen05_ld_*`` ends with ``tcgen05.wait::ld`` (copy_sm100.h)."""
