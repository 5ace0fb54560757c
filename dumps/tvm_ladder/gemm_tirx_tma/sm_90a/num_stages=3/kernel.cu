
#ifdef __CUDACC_RTC__
  #include <cuda/std/cstdint>
  using cuda::std::uint8_t;
  using cuda::std::uint16_t;
  using cuda::std::uint32_t;
  using cuda::std::uint64_t;
  using cuda::std::int8_t;
  using cuda::std::int16_t;
  using cuda::std::int32_t;
  using cuda::std::int64_t;

  #include <cuda/std/type_traits>
  namespace std {
    using cuda::std::is_same;
    using cuda::std::is_same_v;
    using cuda::std::is_integral;
    using cuda::std::is_signed;
    using cuda::std::is_unsigned;
    using cuda::std::is_floating_point;
    using cuda::std::enable_if;
    using cuda::std::conditional;
  }

  // NVRTC uses asm/volatile instead of __asm__/__volatile__ (gcc extension).
  #ifndef __asm__
  #define __asm__ asm
  #endif
  #ifndef __volatile__
  #define __volatile__ volatile
  #endif
#else
  #include <cstdint>
  #include <type_traits>
  #include <cuda.h>
#endif

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 530)
#include <cuda_fp16.h>
__device__ half max(half a, half b)
{
  return __hgt(__half(a), __half(b)) ? a : b;
}
__device__ half min(half a, half b)
{
  return __hlt(__half(a), __half(b)) ? a : b;
}
#endif // __CUDA_ARCH__ >= 530

// Pack two half values.
static inline __device__ __host__ unsigned
__pack_half2(const half x, const half y) {
  unsigned v0 = *((unsigned short *)&x);
  unsigned v1 = *((unsigned short *)&y);
  return (v1 << 16) | v0;
}

#define CUDA_UNSUPPORTED_HALF_MATH_BINARY(HALF_MATH_NAME, FP32_MATH_NAME) \
static inline __device__ __host__ half HALF_MATH_NAME(half x, half y) {   \
  float tmp_x = __half2float(x);                                          \
  float tmp_y = __half2float(y);                                          \
  float result = FP32_MATH_NAME(tmp_x, tmp_y);                            \
  return __float2half(result);                                            \
}

#define CUDA_UNSUPPORTED_HALF_MATH_UNARY(HALF_MATH_NAME, FP32_MATH_NAME) \
static inline __device__ __host__ half HALF_MATH_NAME(half x) {          \
  float tmp_x = __half2float(x);                                         \
  float result = FP32_MATH_NAME(tmp_x);                                  \
  return __float2half(result);                                           \
}

// Some fp16 math functions are not supported in cuda_fp16.h,
// so we define them here to make sure the generated CUDA code
// is valid.
#if defined(__CUDA_ARCH__)
#if (__CUDA_ARCH__ >= 530)
CUDA_UNSUPPORTED_HALF_MATH_BINARY(hpow, powf)
#if ((__CUDACC_VER_MAJOR__ < 12) || ((__CUDACC_VER_MAJOR__ == 12) && (__CUDACC_VER_MINOR__ < 8)))
CUDA_UNSUPPORTED_HALF_MATH_UNARY(htanh, tanhf)
#endif
CUDA_UNSUPPORTED_HALF_MATH_UNARY(htan, tanf)
CUDA_UNSUPPORTED_HALF_MATH_UNARY(hatan, atanf)
CUDA_UNSUPPORTED_HALF_MATH_UNARY(herf, erf)
#else
CUDA_UNSUPPORTED_HALF_MATH_UNARY(hexp, exp)
#endif
#endif

#undef CUDA_UNSUPPORTED_HALF_MATH_BINARY
#undef CUDA_UNSUPPORTED_HALF_MATH_UNARY

template <typename T, typename TVec2>
struct __align__(8) half4_bfloat164 {
  T x, y, z, w;
  __host__ __device__ half4_bfloat164() : x(T(0)), y(T(0)), z(T(0)), w(T(0)) {}
  __host__ __device__ half4_bfloat164(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}

};

using half4 = half4_bfloat164<__half, __half2>;
__host__ __device__ half4 make_half4(__half x, __half y, __half z, __half w) {
    return half4(x, y, z, w);
}

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 700)
#define __shfl_sync(mask, var, lane, width) \
        __shfl((var), (lane), (width))

#define __shfl_down_sync(mask, var, offset, width) \
        __shfl_down((var), (offset), (width))

#define __shfl_up_sync(mask, var, offset, width) \
        __shfl_up((var), (offset), (width))
#endif

#if (((__CUDACC_VER_MAJOR__ == 11) && (__CUDACC_VER_MINOR__ >= 4)) || \
     (__CUDACC_VER_MAJOR__ > 11))
#define TVM_ENABLE_L2_PREFETCH 1
#else
#define TVM_ENABLE_L2_PREFETCH 0
#endif

#ifdef _WIN32
  using uint = unsigned int;
  using uchar = unsigned char;
  using ushort = unsigned short;
  using int64_t = long long;
  using uint64_t = unsigned long long;
#else
  #define uint unsigned int
  #define uchar unsigned char
  #define ushort unsigned short
#endif

__forceinline__ __device__ void ptx_cp_async_bulk_tensor_g2cluster_tile_2d(void* dst, void* bar, unsigned long long tensormap_addr, uint16_t cta_mask, unsigned long long cache_policy, int coord0, int coord1) {
    unsigned int dst_addr = __cvta_generic_to_shared(dst);
    unsigned int bar_addr = __cvta_generic_to_shared(bar);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
        :
        : "r"(dst_addr), "l"(tensormap_addr), "r"(bar_addr),
          "r"(coord0), "r"(coord1)
        : "memory"
    );
}

__forceinline__ __device__ void tvm_builtin_ptx_mbarrier_arrive_expect_tx(void* barrier, int byte_count) {
    unsigned int barrier_addr = __cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                 :: "r"(barrier_addr), "r"(byte_count) : "memory");
}

__forceinline__ __device__ void tvm_builtin_ptx_mbarrier_arrive(void* barrier) {
    unsigned int barrier_addr = __cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];"
                 :: "r"(barrier_addr) : "memory");
}

__forceinline__ __device__ void tvm_builtin_ptx_mbarrier_try_wait(void* barrier, int phase) {
    unsigned int barrier_addr_int = __cvta_generic_to_shared(barrier);
    unsigned int ticks = 0x989680;
    asm volatile(
        "{\n"
        ".reg .pred                P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n"
        "@P1                       bra.uni DONE;\n"
        "bra.uni                   LAB_WAIT;\n"
        "DONE:\n"
        "}\n"
        :: "r"(barrier_addr_int), "r"(phase), "r"(ticks) : "memory");
}

__forceinline__ __device__ void tvm_builtin_cuda_cta_sync() {
    __syncthreads();
}

__forceinline__ __device__ void tvm_builtin_ptx_fence_proxy_async_shared_cta() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__forceinline__ __device__ void tvm_builtin_ptx_mbarrier_init(void* barrier, int thread_count) {
    unsigned int barrier_addr = __cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(barrier_addr), "r"(thread_count) : "memory");
}
extern "C" __global__ void __launch_bounds__(256) gemm_kernel_kernel(const __grid_constant__ CUtensorMap A_map, const __grid_constant__ CUtensorMap B_map, float* __restrict__ C_ptr);
extern "C" __global__ void __launch_bounds__(256) gemm_kernel_kernel(const __grid_constant__ CUtensorMap A_map, const __grid_constant__ CUtensorMap B_map, float* __restrict__ C_ptr) {
  int warp_id_in_cta = __shfl_sync((uint)4294967295, (((int)threadIdx.x) >> 5), 0, 32);
  int bx = ((int)blockIdx.x);
  int by = ((int)blockIdx.y);
  int thread = ((int)threadIdx.x);
  __shared__ alignas(128) half A_shared_ptr[6144];
  __shared__ alignas(128) half B_shared_ptr[6144];
  __shared__ alignas(8) uint64_t full_ptr[3];
  __shared__ alignas(8) uint64_t empty_ptr[3];
  alignas(64) float C_local_ptr[32];
  if (((int)threadIdx.x) == 0) {
    tvm_builtin_ptx_mbarrier_init((&(full_ptr[0])), 1);
    tvm_builtin_ptx_mbarrier_init((&(empty_ptr[0])), 128);
    tvm_builtin_ptx_mbarrier_init((&(full_ptr[1])), 1);
    tvm_builtin_ptx_mbarrier_init((&(empty_ptr[1])), 128);
    tvm_builtin_ptx_mbarrier_init((&(full_ptr[2])), 1);
    tvm_builtin_ptx_mbarrier_init((&(empty_ptr[2])), 128);
    tvm_builtin_ptx_fence_proxy_async_shared_cta();
  }
  tvm_builtin_cuda_cta_sync();
  int cse_v3 = (((int)blockIdx.x) * 64);
  if (((int)threadIdx.x) < 128) {
    if (((int)threadIdx.x) == 0) {
      for (int trip = 0; trip < 32; ++trip) {
        int cse_v1 = (trip % 3);
        if (3 <= trip) {
          tvm_builtin_ptx_mbarrier_try_wait((&(empty_ptr[(trip % 3)])), (((trip / 3) + 1) & 1));
        }
        tvm_builtin_ptx_mbarrier_arrive_expect_tx((&(full_ptr[(trip % 3)])), 8192);
        int cse_v2 = (trip * 32);
        int cse_v7 = ((trip % 3) * 2048);
        ptx_cp_async_bulk_tensor_g2cluster_tile_2d((&(A_shared_ptr[((trip % 3) * 2048)])), (&(full_ptr[(trip % 3)])), ((unsigned long long)(&(A_map))), 0, (uint64_t)0, (trip * 32), (((int)blockIdx.y) * 64));
        ptx_cp_async_bulk_tensor_g2cluster_tile_2d((&(B_shared_ptr[((trip % 3) * 2048)])), (&(full_ptr[(trip % 3)])), ((unsigned long long)(&(B_map))), 0, (uint64_t)0, (trip * 32), (((int)blockIdx.x) * 64));
      }
    }
  } else {
    C_local_ptr[0] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[1] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[2] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[3] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[4] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[5] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[6] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[7] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[8] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[9] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[10] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[11] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[12] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[13] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[14] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[15] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[16] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[17] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[18] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[19] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[20] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[21] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[22] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[23] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[24] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[25] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[26] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[27] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[28] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[29] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[30] = 0x0p+0f/*0.000000e+00*/;
    C_local_ptr[31] = 0x0p+0f/*0.000000e+00*/;
    int cse_v5 = (((int)threadIdx.x) >> 4);
    int cse_v6 = (((int)threadIdx.x) & 15);
    for (int trip_1 = 0; trip_1 < 32; ++trip_1) {
      int cse_v4 = (trip_1 % 3);
      tvm_builtin_ptx_mbarrier_try_wait((&(full_ptr[(trip_1 % 3)])), ((trip_1 % 6) / 3));
      for (int k = 0; k < 32; ++k) {
        int cse_v8 = ((trip_1 % 3) * 2048);
        int cse_v9 = ((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k);
        int cse_v10 = ((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k);
        int cse_v11 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2048);
        C_local_ptr[0] = (C_local_ptr[0] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2048)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        int cse_v12 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32);
        C_local_ptr[1] = (C_local_ptr[1] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2048)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        int cse_v13 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64);
        C_local_ptr[2] = (C_local_ptr[2] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2048)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        int cse_v14 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96);
        C_local_ptr[3] = (C_local_ptr[3] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2048)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v15 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2016);
        C_local_ptr[4] = (C_local_ptr[4] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2016)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[5] = (C_local_ptr[5] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2016)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[6] = (C_local_ptr[6] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2016)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[7] = (C_local_ptr[7] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 2016)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v16 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1984);
        C_local_ptr[8] = (C_local_ptr[8] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1984)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[9] = (C_local_ptr[9] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1984)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[10] = (C_local_ptr[10] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1984)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[11] = (C_local_ptr[11] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1984)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v17 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1952);
        C_local_ptr[12] = (C_local_ptr[12] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1952)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[13] = (C_local_ptr[13] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1952)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[14] = (C_local_ptr[14] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1952)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[15] = (C_local_ptr[15] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1952)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v18 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1920);
        C_local_ptr[16] = (C_local_ptr[16] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1920)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[17] = (C_local_ptr[17] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1920)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[18] = (C_local_ptr[18] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1920)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[19] = (C_local_ptr[19] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1920)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v19 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1888);
        C_local_ptr[20] = (C_local_ptr[20] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1888)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[21] = (C_local_ptr[21] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1888)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[22] = (C_local_ptr[22] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1888)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[23] = (C_local_ptr[23] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1888)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v20 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1856);
        C_local_ptr[24] = (C_local_ptr[24] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1856)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[25] = (C_local_ptr[25] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1856)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[26] = (C_local_ptr[26] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1856)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[27] = (C_local_ptr[27] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1856)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
        int cse_v21 = (((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1824);
        C_local_ptr[28] = (C_local_ptr[28] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1824)]) * ((float)B_shared_ptr[((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
        C_local_ptr[29] = (C_local_ptr[29] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1824)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
        C_local_ptr[30] = (C_local_ptr[30] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1824)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
        C_local_ptr[31] = (C_local_ptr[31] + (((float)A_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) - 1824)]) * ((float)B_shared_ptr[(((((trip_1 % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      }
      tvm_builtin_ptx_mbarrier_arrive((&(empty_ptr[(trip_1 % 3)])));
    }
    int cse_v22 = ((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4));
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 65536)] = C_local_ptr[0];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 65535)] = C_local_ptr[1];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 65534)] = C_local_ptr[2];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 65533)] = C_local_ptr[3];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 64512)] = C_local_ptr[4];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 64511)] = C_local_ptr[5];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 64510)] = C_local_ptr[6];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 64509)] = C_local_ptr[7];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 63488)] = C_local_ptr[8];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 63487)] = C_local_ptr[9];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 63486)] = C_local_ptr[10];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 63485)] = C_local_ptr[11];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 62464)] = C_local_ptr[12];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 62463)] = C_local_ptr[13];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 62462)] = C_local_ptr[14];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 62461)] = C_local_ptr[15];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 61440)] = C_local_ptr[16];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 61439)] = C_local_ptr[17];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 61438)] = C_local_ptr[18];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 61437)] = C_local_ptr[19];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 60416)] = C_local_ptr[20];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 60415)] = C_local_ptr[21];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 60414)] = C_local_ptr[22];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 60413)] = C_local_ptr[23];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 59392)] = C_local_ptr[24];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 59391)] = C_local_ptr[25];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 59390)] = C_local_ptr[26];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 59389)] = C_local_ptr[27];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 58368)] = C_local_ptr[28];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 58367)] = C_local_ptr[29];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 58366)] = C_local_ptr[30];
    C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) - 58365)] = C_local_ptr[31];
  }
}

