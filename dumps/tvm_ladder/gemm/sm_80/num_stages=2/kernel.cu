
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

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_wait_group_0() {
    asm volatile("cp.async.wait_group 0;");
}

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_wait_group_1() {
    asm volatile("cp.async.wait_group 1;");
}

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_commit_group() {
    asm volatile("cp.async.commit_group;");
}

__forceinline__ __device__ void ptx_cp_async_legacy_cg_16_2_2(void* dst, int dst_off, void* src, int src_off) {
  uint8_t* dst_p = (uint8_t*)dst + dst_off * 2;
  uint8_t* src_p = (uint8_t*)src + src_off * 2;
  unsigned int dst_addr = __cvta_generic_to_shared(dst_p);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;"
    :: "r"(dst_addr), "l"(src_p), "n"(16));
}
extern "C" __global__ void __launch_bounds__(128) main_kernel(half* __restrict__ A, half* __restrict__ B, float* __restrict__ C);
extern "C" __global__ void __launch_bounds__(128) main_kernel(half* __restrict__ A, half* __restrict__ B, float* __restrict__ C) {
  alignas(64) float C_local[32];
  __shared__ alignas(64) half A_shared[4096];
  __shared__ alignas(64) half B_shared[4096];
  for (int i_2_init = 0; i_2_init < 8; ++i_2_init) {
    for (int j_2_init = 0; j_2_init < 4; ++j_2_init) {
      C_local[((i_2_init * 4) + j_2_init)] = 0x0p+0f/*0.000000e+00*/;
    }
  }
  int cse_v1 = (((int)blockIdx.y) * 65536);
  int cse_v2 = (((int)threadIdx.y) * 4096);
  int cse_v3 = (((int)threadIdx.y) * 128);
  int cse_v4 = (((int)threadIdx.x) * 8);
  int cse_v5 = (((int)blockIdx.x) * 65536);
  int cse_v9 = ((((int)threadIdx.x) >> 2) * 1024);
  int cse_v10 = ((((int)threadIdx.x) & 3) * 8);
  for (int ax0_ax1_fused_0 = 0; ax0_ax1_fused_0 < 2; ++ax0_ax1_fused_0) {
    ptx_cp_async_legacy_cg_16_2_2(A_shared, (((ax0_ax1_fused_0 * 1024) + (((int)threadIdx.y) * 128)) + (((int)threadIdx.x) * 8)), A, (((((((int)blockIdx.y) * 65536) + (ax0_ax1_fused_0 * 32768)) + (((int)threadIdx.y) * 4096)) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)));
  }
  for (int ax0_ax1_fused_0_1 = 0; ax0_ax1_fused_0_1 < 2; ++ax0_ax1_fused_0_1) {
    ptx_cp_async_legacy_cg_16_2_2(B_shared, (((ax0_ax1_fused_0_1 * 1024) + (((int)threadIdx.y) * 128)) + (((int)threadIdx.x) * 8)), B, (((((((int)blockIdx.x) * 65536) + (ax0_ax1_fused_0_1 * 32768)) + (((int)threadIdx.y) * 4096)) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)));
  }
  tvm_builtin_ptx_cp_async_commit_group();
  int cse_v7 = (((int)threadIdx.y) * 256);
  int cse_v8 = (((int)threadIdx.x) * 128);
  for (int k_0 = 0; k_0 < 31; ++k_0) {
    int cse_v6 = (k_0 * 32);
    int cse_v14 = (((k_0 + 1) & 1) * 2048);
    __syncthreads();
    for (int ax0_ax1_fused_0_2 = 0; ax0_ax1_fused_0_2 < 2; ++ax0_ax1_fused_0_2) {
      ptx_cp_async_legacy_cg_16_2_2(A_shared, ((((((k_0 + 1) & 1) * 2048) + (ax0_ax1_fused_0_2 * 1024)) + (((int)threadIdx.y) * 128)) + (((int)threadIdx.x) * 8)), A, (((((((((int)blockIdx.y) * 65536) + (ax0_ax1_fused_0_2 * 32768)) + (((int)threadIdx.y) * 4096)) + ((((int)threadIdx.x) >> 2) * 1024)) + (k_0 * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32));
    }
    for (int ax0_ax1_fused_0_3 = 0; ax0_ax1_fused_0_3 < 2; ++ax0_ax1_fused_0_3) {
      ptx_cp_async_legacy_cg_16_2_2(B_shared, ((((((k_0 + 1) & 1) * 2048) + (ax0_ax1_fused_0_3 * 1024)) + (((int)threadIdx.y) * 128)) + (((int)threadIdx.x) * 8)), B, (((((((((int)blockIdx.x) * 65536) + (ax0_ax1_fused_0_3 * 32768)) + (((int)threadIdx.y) * 4096)) + ((((int)threadIdx.x) >> 2) * 1024)) + (k_0 * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32));
    }
    tvm_builtin_ptx_cp_async_commit_group();
    tvm_builtin_ptx_cp_async_wait_group_1();
    __syncthreads();
    for (int k_1 = 0; k_1 < 32; ++k_1) {
      for (int i_2 = 0; i_2 < 8; ++i_2) {
        for (int j_2 = 0; j_2 < 4; ++j_2) {
          int cse_v11 = ((i_2 * 4) + j_2);
          int cse_v12 = ((k_0 & 1) * 2048);
          C_local[((i_2 * 4) + j_2)] = (C_local[((i_2 * 4) + j_2)] + (((float)A_shared[(((((k_0 & 1) * 2048) + (((int)threadIdx.y) * 256)) + (i_2 * 32)) + k_1)]) * ((float)B_shared[(((((k_0 & 1) * 2048) + (((int)threadIdx.x) * 128)) + (j_2 * 32)) + k_1)])));
        }
      }
    }
  }
  tvm_builtin_ptx_cp_async_wait_group_0();
  __syncthreads();
  for (int k_1_1 = 0; k_1_1 < 32; ++k_1_1) {
    for (int i_2_1 = 0; i_2_1 < 8; ++i_2_1) {
      for (int j_2_1 = 0; j_2_1 < 4; ++j_2_1) {
        int cse_v13 = ((i_2_1 * 4) + j_2_1);
        C_local[((i_2_1 * 4) + j_2_1)] = (C_local[((i_2_1 * 4) + j_2_1)] + (((float)A_shared[((((((int)threadIdx.y) * 256) + (i_2_1 * 32)) + k_1_1) + 2048)]) * ((float)B_shared[((((((int)threadIdx.x) * 128) + (j_2_1 * 32)) + k_1_1) + 2048)])));
      }
    }
  }
  for (int ax0 = 0; ax0 < 8; ++ax0) {
    for (int ax1 = 0; ax1 < 4; ++ax1) {
      C[((((((((int)blockIdx.y) * 65536) + (((int)threadIdx.y) * 8192)) + (ax0 * 1024)) + (((int)blockIdx.x) * 64)) + (((int)threadIdx.x) * 4)) + ax1)] = C_local[((ax0 * 4) + ax1)];
    }
  }
}

