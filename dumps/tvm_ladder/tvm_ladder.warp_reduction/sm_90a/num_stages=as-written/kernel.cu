
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
extern "C" __global__ void __launch_bounds__(128) kernel_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr);
extern "C" __global__ void __launch_bounds__(128) kernel_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {
  int cse_v1 = (((int)threadIdx.x) >> 5);
  int warp_id_in_cta = __shfl_sync((uint)4294967295, (((int)threadIdx.x) >> 5), 0, 32);
  int block = ((int)blockIdx.x);
  int thread = ((int)threadIdx.x);
  __shared__ alignas(128) float partial_ptr[4];
  alignas(64) float total_ptr[1];
  total_ptr[0] = A_ptr[((((int)blockIdx.x) * 128) + ((int)threadIdx.x))];
  total_ptr[0] = (total_ptr[0] + __shfl_xor_sync((uint)4294967295, total_ptr[0], 1, 32));
  total_ptr[0] = (total_ptr[0] + __shfl_xor_sync((uint)4294967295, total_ptr[0], 2, 32));
  total_ptr[0] = (total_ptr[0] + __shfl_xor_sync((uint)4294967295, total_ptr[0], 4, 32));
  total_ptr[0] = (total_ptr[0] + __shfl_xor_sync((uint)4294967295, total_ptr[0], 8, 32));
  total_ptr[0] = (total_ptr[0] + __shfl_xor_sync((uint)4294967295, total_ptr[0], 16, 32));
  if ((((int)threadIdx.x) % 32) == 0) {
    partial_ptr[(((int)threadIdx.x) >> 5)] = total_ptr[0];
  }
  tvm_builtin_cuda_cta_sync();
  if (((int)threadIdx.x) == 0) {
    total_ptr[0] = 0x0p+0f/*0.000000e+00*/;
    total_ptr[0] = (total_ptr[0] + partial_ptr[0]);
    total_ptr[0] = (total_ptr[0] + partial_ptr[1]);
    total_ptr[0] = (total_ptr[0] + partial_ptr[2]);
    total_ptr[0] = (total_ptr[0] + partial_ptr[3]);
    B_ptr[((int)blockIdx.x)] = total_ptr[0];
  }
}

