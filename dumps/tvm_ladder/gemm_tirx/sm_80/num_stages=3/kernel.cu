
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

__forceinline__ __device__ void tvm_builtin_cuda_cta_sync() {
    __syncthreads();
}

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_wait_group_1() {
    asm volatile("cp.async.wait_group 1;");
}

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_commit_group() {
    asm volatile("cp.async.commit_group;");
}

__forceinline__ __device__ void tvm_builtin_ptx_cp_async_cg_16(void* dst, void* src, unsigned long long cache_policy) {
    unsigned int dst_addr = __cvta_generic_to_shared(dst);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                 :: "r"(dst_addr), "l"(src) : "memory");
}
extern "C" __global__ void __launch_bounds__(128) gemm_kernel_kernel(half* __restrict__ A_ptr, half* __restrict__ B_ptr, float* __restrict__ C_ptr);
extern "C" __global__ void __launch_bounds__(128) gemm_kernel_kernel(half* __restrict__ A_ptr, half* __restrict__ B_ptr, float* __restrict__ C_ptr) {
  int warp_id_in_cta = __shfl_sync((uint)4294967295, (((int)threadIdx.x) >> 5), 0, 32);
  int bx = ((int)blockIdx.x);
  int by = ((int)blockIdx.y);
  int thread = ((int)threadIdx.x);
  __shared__ alignas(128) half A_shared_ptr[6144];
  __shared__ alignas(128) half B_shared_ptr[6144];
  alignas(64) float C_local_ptr[32];
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
  int cse_v1 = (((int)threadIdx.x) * 8);
  int cse_v2 = (((int)blockIdx.y) * 65536);
  int cse_v6 = ((((int)threadIdx.x) >> 2) * 1024);
  int cse_v7 = ((((int)threadIdx.x) & 3) * 8);
  int cse_v12 = ((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024));
  int cse_v14 = (((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8));
  tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[(((int)threadIdx.x) * 8)])), (&(A_ptr[(((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8))])), (uint64_t)0);
  int cse_v8 = ((((int)threadIdx.x) * 8) + 1024);
  tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[((((int)threadIdx.x) * 8) + 1024)])), (&(A_ptr[((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32768)])), (uint64_t)0);
  int cse_v13 = ((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024));
  int cse_v15 = (((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8));
  tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[(((int)threadIdx.x) * 8)])), (&(B_ptr[(((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8))])), (uint64_t)0);
  tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[((((int)threadIdx.x) * 8) + 1024)])), (&(B_ptr[((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32768)])), (uint64_t)0);
  tvm_builtin_ptx_cp_async_commit_group();
  int cse_v9 = ((((int)threadIdx.x) * 8) + 2048);
  tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[((((int)threadIdx.x) * 8) + 2048)])), (&(A_ptr[((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32)])), (uint64_t)0);
  int cse_v10 = ((((int)threadIdx.x) * 8) + 3072);
  tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[((((int)threadIdx.x) * 8) + 3072)])), (&(A_ptr[((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32800)])), (uint64_t)0);
  tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[((((int)threadIdx.x) * 8) + 2048)])), (&(B_ptr[((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32)])), (uint64_t)0);
  tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[((((int)threadIdx.x) * 8) + 3072)])), (&(B_ptr[((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + ((((int)threadIdx.x) & 3) * 8)) + 32800)])), (uint64_t)0);
  tvm_builtin_ptx_cp_async_commit_group();
  int cse_v4 = (((int)threadIdx.x) >> 4);
  int cse_v5 = (((int)threadIdx.x) & 15);
  for (int trip = 0; trip < 32; ++trip) {
    tvm_builtin_ptx_cp_async_wait_group_1();
    tvm_builtin_cuda_cta_sync();
    if (trip < 30) {
      int cse_v3 = (trip * 32);
      int cse_v16 = ((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8));
      int cse_v19 = ((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8));
      tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8))])), (&(A_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 64)])), (uint64_t)0);
      int cse_v20 = (((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8)) + 1024);
      tvm_builtin_ptx_cp_async_cg_16((&(A_shared_ptr[(((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8)) + 1024)])), (&(A_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32832)])), (uint64_t)0);
      int cse_v21 = ((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8));
      tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8))])), (&(B_ptr[(((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 64)])), (uint64_t)0);
      tvm_builtin_ptx_cp_async_cg_16((&(B_shared_ptr[(((((trip + 2) % 3) * 2048) + (((int)threadIdx.x) * 8)) + 1024)])), (&(B_ptr[(((((((int)blockIdx.x) * 65536) + ((((int)threadIdx.x) >> 2) * 1024)) + (trip * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32832)])), (uint64_t)0);
    }
    tvm_builtin_ptx_cp_async_commit_group();
    for (int k = 0; k < 32; ++k) {
      int cse_v11 = ((trip % 3) * 2048);
      int cse_v17 = ((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k);
      int cse_v18 = ((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k);
      C_local_ptr[0] = (C_local_ptr[0] + (((float)A_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      int cse_v22 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32);
      C_local_ptr[1] = (C_local_ptr[1] + (((float)A_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      int cse_v23 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64);
      C_local_ptr[2] = (C_local_ptr[2] + (((float)A_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      int cse_v24 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96);
      C_local_ptr[3] = (C_local_ptr[3] + (((float)A_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v25 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 32);
      C_local_ptr[4] = (C_local_ptr[4] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 32)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[5] = (C_local_ptr[5] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 32)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[6] = (C_local_ptr[6] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 32)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[7] = (C_local_ptr[7] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 32)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v26 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 64);
      C_local_ptr[8] = (C_local_ptr[8] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 64)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[9] = (C_local_ptr[9] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 64)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[10] = (C_local_ptr[10] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 64)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[11] = (C_local_ptr[11] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 64)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v27 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 96);
      C_local_ptr[12] = (C_local_ptr[12] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 96)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[13] = (C_local_ptr[13] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 96)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[14] = (C_local_ptr[14] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 96)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[15] = (C_local_ptr[15] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 96)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v28 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 128);
      C_local_ptr[16] = (C_local_ptr[16] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 128)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[17] = (C_local_ptr[17] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 128)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[18] = (C_local_ptr[18] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 128)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[19] = (C_local_ptr[19] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 128)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v29 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 160);
      C_local_ptr[20] = (C_local_ptr[20] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 160)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[21] = (C_local_ptr[21] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 160)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[22] = (C_local_ptr[22] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 160)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[23] = (C_local_ptr[23] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 160)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v30 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 192);
      C_local_ptr[24] = (C_local_ptr[24] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 192)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[25] = (C_local_ptr[25] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 192)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[26] = (C_local_ptr[26] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 192)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[27] = (C_local_ptr[27] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 192)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
      int cse_v31 = (((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 224);
      C_local_ptr[28] = (C_local_ptr[28] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 224)]) * ((float)B_shared_ptr[((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k)])));
      C_local_ptr[29] = (C_local_ptr[29] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 224)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 32)])));
      C_local_ptr[30] = (C_local_ptr[30] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 224)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 64)])));
      C_local_ptr[31] = (C_local_ptr[31] + (((float)A_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) >> 4) * 256)) + k) + 224)]) * ((float)B_shared_ptr[(((((trip % 3) * 2048) + ((((int)threadIdx.x) & 15) * 128)) + k) + 96)])));
    }
  }
  int cse_v32 = ((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4));
  C_ptr[((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4))] = C_local_ptr[0];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 1)] = C_local_ptr[1];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 2)] = C_local_ptr[2];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 3)] = C_local_ptr[3];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 1024)] = C_local_ptr[4];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 1025)] = C_local_ptr[5];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 1026)] = C_local_ptr[6];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 1027)] = C_local_ptr[7];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 2048)] = C_local_ptr[8];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 2049)] = C_local_ptr[9];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 2050)] = C_local_ptr[10];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 2051)] = C_local_ptr[11];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 3072)] = C_local_ptr[12];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 3073)] = C_local_ptr[13];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 3074)] = C_local_ptr[14];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 3075)] = C_local_ptr[15];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 4096)] = C_local_ptr[16];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 4097)] = C_local_ptr[17];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 4098)] = C_local_ptr[18];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 4099)] = C_local_ptr[19];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 5120)] = C_local_ptr[20];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 5121)] = C_local_ptr[21];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 5122)] = C_local_ptr[22];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 5123)] = C_local_ptr[23];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 6144)] = C_local_ptr[24];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 6145)] = C_local_ptr[25];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 6146)] = C_local_ptr[26];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 6147)] = C_local_ptr[27];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 7168)] = C_local_ptr[28];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 7169)] = C_local_ptr[29];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 7170)] = C_local_ptr[30];
  C_ptr[(((((((int)blockIdx.y) * 65536) + ((((int)threadIdx.x) >> 4) * 8192)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) & 15) * 4)) + 7171)] = C_local_ptr[31];
}

