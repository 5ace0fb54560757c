"""Which functions does generated CUDA call that synchronise nothing?  By name, with their source.

Whole names, spelled out: a prefix would let ``__syncthreads_something_new`` pass as harmless.  Warp
shuffles, votes and ``ldmatrix`` carry ``sync`` in their name, but they exchange registers of
converged lanes and order no memory; the taxonomy doesn't list them.

Source: see ``cuda_callees``; each block names the place in TileLang 0.1.15 that prints it.
"""

from __future__ import annotations

from itertools import product

_MATH = """
    exp exp2 exp10 log log2 log10 log1p tan cos cosh sin sinh acos acosh asin asinh atan atan2 atanh
    tanh sqrt rsqrt rcbrt cbrt pow floor ceil trunc fabs round rint nearbyint fmod erf erfc hypot
    nextafter copysign ldexp fma fmaf fmax fmin max min abs rcp isnan isinf isfinite
"""
"""intrin_rule_cuda.cc, ``CUDAMath``: as ``name``, ``namef``, ``hname``, ``__namef``."""

_INTRINSICS = """
    habs hadd hsub hmul hdiv hfma hneg hmax hmin hmax_nan hmin_nan hadd2 hsub2 hmul2 hfma2 hneg2
    habs2 hmax2 hmin2 h2div heq hne hlt hle hgt hge hisnan hisinf clz clzll popc popcll ffs ffsll
    fns brev brevll byte_perm dp4a dp2a umulhi mulhi umul24 mul24 usad sad fdividef saturatef ldg
    ldcg ldca ldcs ldlu ldcv stwb stcg stcs stwt
    float2half float2half_rn half2float half22float2 float22half2_rn floats2half2_rn halves2half2
    low2half high2half half2half2 float2bfloat16 float2bfloat16_rn bfloat162float bfloat1622float2
    float22bfloat162_rn floats2bfloat162_rn halves2bfloat162 bfloat162bfloat162
    pack_half2 pack_bfloat162 pack_nv_bfloat162 float_as_int int_as_float float_as_uint
    uint_as_float double_as_longlong longlong_as_double half_as_ushort ushort_as_half int2float_rn
    float2int_rn float2int_rz float2uint_rn nv_cvt_float2_to_fp8x2 nv_cvt_float_to_fp8
    nv_cvt_halfraw2_to_fp8x2 nv_cvt_fp8_to_halfraw nv_cvt_fp8x2_to_halfraw2
    cvta_generic_to_shared cvta_generic_to_global nanosleep trap builtin_assume builtin_expect
    builtin_unreachable
    shfl shfl_up shfl_down shfl_xor shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync any_sync
    all_sync ballot_sync match_any_sync match_all_sync activemask reduce_add_sync reduce_max_sync
    reduce_min_sync reduce_and_sync reduce_or_sync reduce_xor_sync
"""
"""codegen_cuda.cc, ``CastNode``, ``MinNode``, ``MaxNode``, votes, shuffles: ``__<name>``."""

_CONVERSIONS = """
    bfloat162_to_e8m0x2 bfloat162_to_fp4x2 bfloat162_to_fp8x2 double2_to_e8m0x2 double2_to_fp4x2
    e2m1x2_to_e4m3x2 e2m1x4_to_e4m3x4 e4m3x2_to_bfloat162 e5m2x2_to_bfloat162 e8m0x2_to_bfloat162
    float2_to_e8m0x2 float2_to_fp4x2 fp4x2_to_bfloat162 fp4x2_to_double2 fp4x2_to_float2
    fp4x2_to_half2 fp8x2_to_float2 fp8x2_to_half2 half2_to_fp4x2 half2_to_fp8x2 fp8_to_half
    fp8_to_bfloat16 half_to_fp8 bfloat16_to_fp8 e2m1_to_e4m3 f32x1_to_e2m1x1_rs_sat
    f32x2_to_e2m1x2_rs_sat f32x4_to_e2m1x4_rs_sat f32x1_to_e4m3x1_rs_sat f32x1_to_e5m2x1_rs_sat
    f32x2_to_e4m3x2_rs_sat f32x2_to_e5m2x2_rs_sat f32x4_to_e4m3x4_rs_sat f32x4_to_e5m2x4_rs_sat
"""
"""codegen_cuda.cc, ``CastNode``: ``__tl_cvt_<name>``."""

_GLOBAL = """
    make_int make_uint make_bfloat162 printf assert device_assert device_assert_with_msg
    debug_print_var debug_print_buffer_value debug_print_msg DP4A
    atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExch atomicCAS
    atomicInc atomicDec AtomicAdd AtomicAddRet AtomicAddx2 AtomicAddx2Ret AtomicAddx4 AtomicAddx4Ret
    AtomicLoad AtomicStore AtomicOr AtomicMax AtomicMaxRet AtomicMin AtomicMinRet
    tl_fp4_packed_load tl_fp4_packed_store tl_int4_packed_load tl_int4_packed_store
    tl_uint4_packed_load tl_uint4_packed_store tl_pack_int4x2 tl_pack_uint4x2 smem_ptr_to_uint
    cuda_cast
    curand curand4 curand_init curand_uniform curand_uniform4 curand_uniform_double
    curand_uniform2_double curand_uniform4_double curand_normal curand_normal2 curand_normal4
    curand_normal_double curand_normal2_double curand_normal4_double curand_log_normal
    curand_log_normal2 curand_log_normal4 curand_poisson
    cute::elect_one_sync cooperative_groups::this_grid cooperative_groups::this_cluster
    cooperative_groups::this_thread_block cg::this_grid cg::this_cluster cg::this_thread_block
    nvshmem_my_pe nvshmem_n_pes nvcuda::wmma::fill_fragment
    nvcuda::wmma::load_matrix_sync nvcuda::wmma::store_matrix_sync
"""
"""codegen_cuda.cc (``VisitExpr_(CallNode)``, ``AssertStmtNode``), print.py, customize.py."""

_TYPES = """
    reinterpret_cast static_cast const_cast dynamic_cast bit_cast
    bool char short int long unsigned float double signed
    half half2 half_t bfloat16_t __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16
    nv_bfloat162 tfloat32_t fp8_e4_t fp8_e5_t fp8_e8_t fp4_e2_t fp4_e2_2_t float_e4m3_t float_e5m2_t
    uchar ushort uint ulong int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t
    dim3 uint1 uint2 uint3 uint4 int1 int2 int3 int4 float1 float2 float3 float4 double2 longlong2
    longlong4 ulonglong2 ulonglong4 short2 short4 ushort2 ushort4 char2 char4 uchar2 uchar4
    cutlass::half_t cutlass::bfloat16_t cutlass::tfloat32_t half4 bfloat164
"""
"""codegen_cuda.cc, ``PrintType``: casts and constructors.  Apache TVM defines ``half4`` and
``bfloat164`` in its CUDA (``DeclareCUDAHeader``'s struct of four)."""

_TL = """
    Any All RoundTiesAwayFromZero abs2 add2 sub2 mul2 fma2 max2 min2 max2_nan min2_nan broadcast
    clamp clamp2 fast_max fast_min fast_rcp from_uint1 to_uint1 make_vec make_fp4_vec pack_b8x4
    pack_half2 pack_bfloat16x4 pack_float16x4 pow_of_int __tl_cvt_f32x1_to_bf16x1_rs_sat
    __tl_cvt_f32x1_to_f16x1_rs_sat __tl_cvt_f32x2_to_bf16x2_rs_sat __tl_cvt_f32x2_to_f16x2_rs_sat
    shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync warp_reduce warp_reduce_sum warp_reduce_max
    warp_reduce_min warp_reduce_bitand warp_reduce_bitor get_lane_idx get_warp_idx get_warp_idx_sync
    get_warp_group_idx tl_shuffle_elect block_rank_in_cluster block_id_in_cluster cluster_grid_dims
    cluster_id_in_grid cluster_shape set_block_rank smem_ptr_to_uint rasterization2DRow
    rasterization2DColumn rasterization2DRowWithCluster rasterization2DColumnWithCluster
    initialize_wgmma_descriptor initialize_tcgen05_descriptor increase_descriptor_offset
    make_sf_smem_desc warpgroup_fence_operand st_bulk_shared tcgen05_cp
    ptx_ldmatrix_x1 ptx_ldmatrix_x2 ptx_ldmatrix_x4 ptx_ldmatrix_x1_trans ptx_ldmatrix_x2_trans
    ptx_ldmatrix_x4_trans ptx_stmatrix_x1 ptx_stmatrix_x2 ptx_stmatrix_x4 ptx_stmatrix_x1_trans
    ptx_stmatrix_x2_trans ptx_stmatrix_x4_trans ptx_stmatrix_m8n8_x1 ptx_stmatrix_m8n8_x2
    ptx_stmatrix_m8n8_x4 ptx_stmatrix_m8n8_x1_trans ptx_stmatrix_m8n8_x2_trans
    ptx_stmatrix_m8n8_x4_trans ptx_stmatrix_m16n8_x1_trans ptx_stmatrix_m16n8_x2_trans
    ptx_stmatrix_m16n8_x4_trans
    load_shared_32 load_shared_64 load_shared_128 store_shared_32 store_shared_64 store_shared_128
    load_global_32 load_global_64 load_global_128 load_global_256 load_global_32_conditional
    load_global_64_conditional load_global_128_conditional load_global_256_conditional
    store_global_32 store_global_64 store_global_128 store_global_256 store_global_32_conditional
    store_global_64_conditional store_global_128_conditional store_global_256_conditional
    CumSum1D::run CumSum2D::run CumMax1D::run CumMax2D::run
"""
"""``tl::<name>``, tl_templates/cuda/*.h.  ``warpgroup_fence_operand`` is an empty ``asm`` that pins
registers (intrin.h); scans stay within a warp (scan.h); ``tcgen05_cp`` completes with the next
``tcgen05.commit`` and is data movement to the IR reader too."""

_BITCASTS = (
    "tfloat32_t fp8_e4_t fp8_e5_t fp8_e8_t fp4_e2_t float_e4m3_t float_e5m2_t half_t bfloat16_t"
)
_VECTORS = """
    char uchar short ushort int uint long ulong longlong ulonglong float double half nv_bfloat16
    bfloat16_ half_ fp8_e4_ fp8_e5_ fp8_e8_ fp4_e2_
"""
_LANES = "1 2 3 4 8 16 32 64"
_LIMITS = "infinity quiet_NaN max min lowest"

PLAIN = frozenset(
    [
        *(f"{prefix}{name}" for prefix in ("", "h", "h2") for name in _MATH.split()),
        *(f"{prefix}{name}f" for prefix in ("", "__") for name in _MATH.split()),
        *(  # codegen_cuda.cc, ieee_add … ieee_fdiv
            f"__{kind}{operation}_{mode}"
            for kind, operation, mode in product(
                ("f", "d", "h"),
                ("add", "sub", "mul", "ma", "maf", "rcp", "sqrt", "rsqrt", "div"),
                ("rn", "rz", "ru", "rd"),
            )
        ),
        *(f"__{name}" for name in _INTRINSICS.split()),
        *(f"__tl_cvt_{name}" for name in _CONVERSIONS.split()),
        *_GLOBAL.split(),
        *_TYPES.split(),
        *(f"tl::{name}" for name in _TL.split()),
        *(f"{name}::bitcast" for name in _BITCASTS.split()),
        *(  # codegen_cuda.cc, BroadcastNode, RampNode; common.h, cuda_fp8.h
            f"make_{element}{lanes}{suffix}"
            for element, lanes, suffix in product(_VECTORS.split(), _LANES.split(), ("", "_t"))
        ),
        *(
            f"{space}numeric_limits::{name}"
            for space, name in product(("std::", "cuda::std::"), _LIMITS.split())
        ),
    ]
)
"""Every known name without template arguments."""
