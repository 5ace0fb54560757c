#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/mma.h>
#include <tl_templates/cuda/copy.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void kernel_kernel(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int K);
extern "C" __global__ void __launch_bounds__(128, 1) kernel_kernel(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int K) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* lhs = ((void*)((char*)buf_dyn_shmem + 0));
  void* rhs = ((void*)((char*)buf_dyn_shmem + 8192));
  float acc[32];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    float broadcast_var = 0x0p+0f/*0.000000e+00*/;
    *(float4*)(acc + (i * 4)) = make_float4(broadcast_var, broadcast_var, broadcast_var, broadcast_var);
  }
  if (0 < K) {
    #pragma unroll
    for (int i_1 = 0; i_1 < 16; ++i_1) {
      half_t condval;
      if (((((int)threadIdx.x) & 31) < K)) {
        condval = A[(((((((int64_t)((int)blockIdx.y)) * (int64_t)64) + (((int64_t)i_1) * (int64_t)4)) + (((int64_t)((int)threadIdx.x)) >> (int64_t)5)) * ((int64_t)K)) + (((int64_t)((int)threadIdx.x)) & (int64_t)31))];
      } else {
        condval = half_t(0x0p+0f/*0.000000e+00*/);
      }
      ((half_t*)lhs)[(((((i_1 * 128) + ((((int)threadIdx.x) >> 5) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + (i_1 & 1)) & 1) * 16)) + ((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 15) >> 3)) & 1) * 8)) + (((int)threadIdx.x) & 7))] = condval;
    }
    #pragma unroll
    for (int i_2 = 0; i_2 < 16; ++i_2) {
      half_t condval_1;
      if (((((int)threadIdx.x) & 31) < K)) {
        condval_1 = B[(((((((int64_t)((int)blockIdx.x)) * (int64_t)64) + (((int64_t)i_2) * (int64_t)4)) + (((int64_t)((int)threadIdx.x)) >> (int64_t)5)) * ((int64_t)K)) + (((int64_t)((int)threadIdx.x)) & (int64_t)31))];
      } else {
        condval_1 = half_t(0x0p+0f/*0.000000e+00*/);
      }
      ((half_t*)rhs)[(((((i_2 * 128) + ((((int)threadIdx.x) >> 5) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + (i_2 & 1)) & 1) * 16)) + ((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 15) >> 3)) & 1) * 8)) + (((int)threadIdx.x) & 7))] = condval_1;
    }
    tl::cp_async_commit();
  }
  for (int kk = 0; kk < (((K + 31) >> 5) - 1); ++kk) {
    __syncthreads();
    #pragma unroll
    for (int i_3 = 0; i_3 < 16; ++i_3) {
      half_t condval_2;
      if (((((kk * 32) + (((int)threadIdx.x) & 31)) + 32) < K)) {
        condval_2 = A[((((((int64_t)kk) * (int64_t)32) + ((((((int64_t)((int)blockIdx.y)) * (int64_t)64) + (((int64_t)i_3) * (int64_t)4)) + (((int64_t)((int)threadIdx.x)) >> (int64_t)5)) * ((int64_t)K))) + (((int64_t)((int)threadIdx.x)) & (int64_t)31)) + (int64_t)32)];
      } else {
        condval_2 = half_t(0x0p+0f/*0.000000e+00*/);
      }
      ((half_t*)lhs)[((((((((kk + 1) & 1) * 2048) + (i_3 * 128)) + ((((int)threadIdx.x) >> 5) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + (i_3 & 1)) & 1) * 16)) + ((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 15) >> 3)) & 1) * 8)) + (((int)threadIdx.x) & 7))] = condval_2;
    }
    #pragma unroll
    for (int i_4 = 0; i_4 < 16; ++i_4) {
      half_t condval_3;
      if (((((kk * 32) + (((int)threadIdx.x) & 31)) + 32) < K)) {
        condval_3 = B[((((((int64_t)kk) * (int64_t)32) + ((((((int64_t)((int)blockIdx.x)) * (int64_t)64) + (((int64_t)i_4) * (int64_t)4)) + (((int64_t)((int)threadIdx.x)) >> (int64_t)5)) * ((int64_t)K))) + (((int64_t)((int)threadIdx.x)) & (int64_t)31)) + (int64_t)32)];
      } else {
        condval_3 = half_t(0x0p+0f/*0.000000e+00*/);
      }
      ((half_t*)rhs)[((((((((kk + 1) & 1) * 2048) + (i_4 * 128)) + ((((int)threadIdx.x) >> 5) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + (i_4 & 1)) & 1) * 16)) + ((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 15) >> 3)) & 1) * 8)) + (((int)threadIdx.x) & 7))] = condval_3;
    }
    tl::cp_async_commit();
    tl::cp_async_wait<1>();
    __syncthreads();
    {
      half_t A_local[16];
      half_t B_local[16];
      for (int ki = 0; ki < 2; ++ki) {
        #pragma unroll
        for (int i_5 = 0; i_5 < 2; ++i_5) {
          tl::ptx_ldmatrix_x4((&(((half_t*)lhs)[(((((((kk & 1) * 2048) + (((((int)threadIdx.x) & 63) >> 5) * 1024)) + (i_5 * 512)) + ((((int)threadIdx.x) & 15) * 32)) + (((((((int)threadIdx.x) & 7) >> 2) + ki) & 1) * 16)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 8))])), (&(A_local[(i_5 * 8)])));
        }
        #pragma unroll
        for (int i_6 = 0; i_6 < 2; ++i_6) {
          tl::ptx_ldmatrix_x4((&(((half_t*)rhs)[((((((((kk & 1) * 2048) + ((((int)threadIdx.x) >> 6) * 1024)) + (i_6 * 512)) + (((((int)threadIdx.x) & 31) >> 4) * 256)) + ((((int)threadIdx.x) & 7) * 32)) + (((((((int)threadIdx.x) & 7) >> 2) + ki) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 8))])), (&(B_local[(i_6 * 8)])));
        }
        for (int i_7 = 0; i_7 < 2; ++i_7) {
          for (int j = 0; j < 2; ++j) {
            tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 16, false, true>(reinterpret_cast<float*>(acc + ((i_7 * 16) + (j * 8))), reinterpret_cast<const unsigned*>(A_local + (i_7 * 8)), reinterpret_cast<const unsigned*>(B_local + (j * 8)));
            tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 16, false, true>(reinterpret_cast<float*>(acc + (((i_7 * 16) + (j * 8)) + 4)), reinterpret_cast<const unsigned*>(A_local + (i_7 * 8)), reinterpret_cast<const unsigned*>(B_local + ((j * 8) + 4)));
          }
        }
      }
    }
  }
  tl::cp_async_wait<0>();
  __syncthreads();
  if (1 <= K) {
    {
      half_t A_local_1[16];
      half_t B_local_1[16];
      for (int ki_1 = 0; ki_1 < 2; ++ki_1) {
        #pragma unroll
        for (int i_8 = 0; i_8 < 2; ++i_8) {
          tl::ptx_ldmatrix_x4((&(((half_t*)lhs)[((((((((((K + 31) >> 5) + 1) & 1) * 2048) + (((((int)threadIdx.x) & 63) >> 5) * 1024)) + (i_8 * 512)) + ((((int)threadIdx.x) & 15) * 32)) + (((((((int)threadIdx.x) & 7) >> 2) + ki_1) & 1) * 16)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 8))])), (&(A_local_1[(i_8 * 8)])));
        }
        #pragma unroll
        for (int i_9 = 0; i_9 < 2; ++i_9) {
          tl::ptx_ldmatrix_x4((&(((half_t*)rhs)[(((((((((((K + 31) >> 5) + 1) & 1) * 2048) + ((((int)threadIdx.x) >> 6) * 1024)) + (i_9 * 512)) + (((((int)threadIdx.x) & 31) >> 4) * 256)) + ((((int)threadIdx.x) & 7) * 32)) + (((((((int)threadIdx.x) & 7) >> 2) + ki_1) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 8))])), (&(B_local_1[(i_9 * 8)])));
        }
        for (int i_10 = 0; i_10 < 2; ++i_10) {
          for (int j_1 = 0; j_1 < 2; ++j_1) {
            tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 16, false, true>(reinterpret_cast<float*>(acc + ((i_10 * 16) + (j_1 * 8))), reinterpret_cast<const unsigned*>(A_local_1 + (i_10 * 8)), reinterpret_cast<const unsigned*>(B_local_1 + (j_1 * 8)));
            tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 16, false, true>(reinterpret_cast<float*>(acc + (((i_10 * 16) + (j_1 * 8)) + 4)), reinterpret_cast<const unsigned*>(A_local_1 + (i_10 * 8)), reinterpret_cast<const unsigned*>(B_local_1 + ((j_1 * 8) + 4)));
          }
        }
      }
    }
  }
  #pragma unroll
  for (int i_11 = 0; i_11 < 16; ++i_11) {
    *(float2*)(C + (((((((((((int)blockIdx.y) * 16384) + (((((int)threadIdx.x) & 63) >> 5) * 8192)) + ((i_11 >> 3) * 4096)) + ((i_11 & 1) * 2048)) + (((((int)threadIdx.x) & 31) >> 2) * 256)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) >> 6) * 32)) + (((i_11 & 7) >> 1) * 8)) + ((((int)threadIdx.x) & 3) * 2))) = *(float2*)(acc + (i_11 * 2));
  }
}

