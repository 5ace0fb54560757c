#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/wgmma.h>
#include <tl_templates/cuda/intrin.h>
#include <tl_templates/cuda/barrier.h>
#include <tl_templates/cuda/copy_sm90.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void kernel_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, half_t* __restrict__ C);
extern "C" __global__ void __launch_bounds__(256, 1) kernel_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, half_t* __restrict__ C) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* lhs = ((void*)((char*)buf_dyn_shmem + 0));
  void* rhs = ((void*)((char*)buf_dyn_shmem + 8192));
  __shared__ __align__(16) uint64_t mbarrier_mem[4];
  auto mbarrier = reinterpret_cast<Barrier*>(mbarrier_mem);
  int producer_phase_cnt[1];
  int consumer_phase_cnt[1];
  float acc[32];
  if (tl::tl_shuffle_elect<0>()) {
    tl::prefetch_tma_descriptor(A_desc);
    tl::prefetch_tma_descriptor(B_desc);
  }
  if (tl::tl_shuffle_elect<0>()) {
    mbarrier[0].init(1);
    mbarrier[1].init(1);
    mbarrier[2].init(128);
    mbarrier[3].init(128);
  }
  tl::fence_barrier_init();
  __syncthreads();
  producer_phase_cnt[0] = 0;
  consumer_phase_cnt[0] = 0;
  for (int w = 0; w < 5; ++w) {
    __syncthreads();
    if (((w * 2) + (((int)blockIdx.x) >> 2)) < 9) {
      if (((int)threadIdx.x) < 128) {
        for (int kk = 0; kk < 5; ++kk) {
          mbarrier[((producer_phase_cnt[0] & 1) + 2)].wait((((producer_phase_cnt[0] & 3) >> 1) ^ 1));
          if (tl::tl_shuffle_elect<128>()) {
            mbarrier[(producer_phase_cnt[0] & 1)].expect_transaction(4096);
            tl::tma_load(A_desc, mbarrier[(producer_phase_cnt[0] & 1)], (&(((half_t*)lhs)[((producer_phase_cnt[0] & 1) * 2048)])), (kk * 32), ((((w * 8) + ((int)blockIdx.x)) / 6) * 64));
            mbarrier[(producer_phase_cnt[0] & 1)].arrive_and_expect_tx(4096);
            tl::tma_load(B_desc, mbarrier[(producer_phase_cnt[0] & 1)], (&(((half_t*)rhs)[((producer_phase_cnt[0] & 1) * 2048)])), ((((w * 8) + ((int)blockIdx.x)) % 6) * 64), (kk * 32));
          }
          producer_phase_cnt[0] = (producer_phase_cnt[0] + 1);
        }
      } else {
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
          float broadcast_var = 0x0p+0f/*0.000000e+00*/;
          *(float4*)(acc + (i * 4)) = make_float4(broadcast_var, broadcast_var, broadcast_var, broadcast_var);
        }
        for (int kk_1 = 0; kk_1 < 5; ++kk_1) {
          mbarrier[(consumer_phase_cnt[0] & 1)].wait(((consumer_phase_cnt[0] & 3) >> 1));
          {
            tl::GmmaDescriptor desc_a;
            tl::GmmaDescriptor desc_b;
            tl::initialize_wgmma_descriptor<2, 1, 32>(desc_a, (&(((half_t*)lhs)[0])));
            tl::increase_descriptor_offset<int>(desc_a, ((consumer_phase_cnt[0] & 1) * 4096));
            tl::initialize_wgmma_descriptor<1, 0, 64>(desc_b, (&(((half_t*)rhs)[0])));
            tl::increase_descriptor_offset<int>(desc_b, ((consumer_phase_cnt[0] & 1) * 4096));
            tl::warpgroup_fence_operand(reinterpret_cast<float*>(acc + 0), 32);
            tl::warpgroup_arrive();
            #pragma unroll
            for (int ki = 0; ki < 2; ++ki) {
              tl::wgmma_ss<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 64, 64, 16, false, true, 1, 1>(uint64_t(desc_a + ((ki * 32) >> 4)), uint64_t(desc_b + ((ki * 2048) >> 4)), ((uint32_t*)(acc + 0)), 1);
            }
            tl::warpgroup_commit_batch();
            tl::warpgroup_wait<0>();
            tl::warpgroup_fence_operand(reinterpret_cast<float*>(acc + 0), 32);
          }
          mbarrier[((consumer_phase_cnt[0] & 1) + 2)].arrive();
          consumer_phase_cnt[0] = (consumer_phase_cnt[0] + 1);
        }
        #pragma unroll
        for (int i_1 = 0; i_1 < 16; ++i_1) {
          half_t C_local_cast[2];
          uint1 __1;
          float2 v_ = *(float2*)(acc + (i_1 * 2));
          ((half2*)(&__1))[0] = __float22half2_rn(((float2*)(&v_))[0]);
          *(uint1*)(C_local_cast + 0) = __1;
          *(uint1*)(C + (((((((((((w * 8) + ((int)blockIdx.x)) / 6) * 24576) + ((((int)threadIdx.x) >> 5) * 6144)) + ((i_1 & 1) * 3072)) + (((((int)threadIdx.x) & 31) >> 2) * 384)) + ((((w * 8) + ((int)blockIdx.x)) % 6) * 64)) + ((i_1 >> 1) * 8)) + ((((int)threadIdx.x) & 3) * 2)) - 24576)) = *(uint1*)(C_local_cast + 0);
        }
      }
    }
  }
}

