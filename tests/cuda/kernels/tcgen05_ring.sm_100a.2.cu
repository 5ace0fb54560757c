#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/tcgen05mma.h>
#include <tl_templates/cuda/tcgen_05.h>
#include <tl_templates/cuda/intrin.h>
#include <tl_templates/cuda/barrier.h>
#include <tl_templates/cuda/copy_sm90.h>
#include <tl_templates/cuda/copy_sm100.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void kernel_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, bfloat16_t* __restrict__ C);
extern "C" __global__ void __launch_bounds__(128, 1) kernel_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, bfloat16_t* __restrict__ C) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* lhs = ((void*)((char*)buf_dyn_shmem + 0));
  void* rhs = ((void*)((char*)buf_dyn_shmem + 32768));
  __shared__ __align__(16) uint64_t ready_mem[2];
  auto ready = reinterpret_cast<Barrier*>(ready_mem);
  __shared__ __align__(16) uint64_t freed_mem[2];
  auto freed = reinterpret_cast<Barrier*>(freed_mem);
  __shared__ __align__(16) uint64_t finished_mem[1];
  auto finished = reinterpret_cast<Barrier*>(finished_mem);
  __shared__ __align__(16) uint tmem[1];
  float acc[128];
  if (tl::tl_shuffle_elect<0>()) {
    tl::prefetch_tma_descriptor(A_desc);
    tl::prefetch_tma_descriptor(B_desc);
  }
  if (tl::tl_shuffle_elect<0>()) {
    ready[0].init(32);
    ready[1].init(32);
    freed[0].init(1);
    freed[1].init(1);
    finished[0].init(1);
  }
  tl::fence_barrier_init();
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if ((((int)threadIdx.x) >> 5) == 0) {
    tl::tmem_allocate((&(tmem[0])), 128);
  }
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if (((int)threadIdx.x) < 32) {
    for (int kk = 0; kk < 8; ++kk) {
      freed[(kk & 1)].wait((((kk >> 1) & 1) ^ 1));
      if (tl::tl_shuffle_elect<32>()) {
        ready[(kk & 1)].expect_transaction(16384);
        tl::tma_load(A_desc, ready[(kk & 1)], (&(((bfloat16_t*)lhs)[((kk & 1) * 8192)])), (kk * 64), (((int)blockIdx.y) * 128));
        ready[(kk & 1)].expect_transaction(16384);
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
          tl::tma_load(B_desc, ready[(kk & 1)], (&(((bfloat16_t*)rhs)[(((kk & 1) * 8192) + (i * 4096))])), ((((int)blockIdx.x) * 128) + (i * 64)), (kk * 64));
        }
      }
      ready[(kk & 1)].arrive();
    }
  } else {
    if (((int)threadIdx.x) < 64) {
      for (int kk_1 = 0; kk_1 < 8; ++kk_1) {
        ready[(kk_1 & 1)].wait(((kk_1 >> 1) & 1));
        tl::tcgen05_after_thread_sync();
        {
          tl::Tcgen05SMemDescriptor desc_a;
          tl::Tcgen05SMemDescriptor desc_b;
          tl::initialize_tcgen05_descriptor(desc_a, (&(((bfloat16_t*)lhs)[0])), 1, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_a, ((kk_1 & 1) * 16384));
          tl::initialize_tcgen05_descriptor(desc_b, (&(((bfloat16_t*)rhs)[0])), 512, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_b, ((kk_1 & 1) * 16384));
          tl::fence_proxy_async();
          #pragma unroll
          for (int ki = 0; ki < 4; ++ki) {
            tl::tcgen05mma_ss<tl::DataType::kBFloat16, false>(uint64_t(desc_a + (ki * 32)), uint64_t(desc_b + (ki * 2048)), (*reinterpret_cast<uint32_t*>(tmem)) + 0, ((0 < ki) ? 1 : ((kk_1 == 0) ? 0 : 1)), static_cast<uint32_t>(136381584), 0, 0, 0, 0);
          }
          tl::tcgen05_mma_arrive((&(freed[(kk_1 & 1)])));
        }
      }
      tl::tcgen05_mma_arrive((&(finished[0])));
    }
  }
  finished[0].wait(0);
  tl::tcgen05_after_thread_sync();
  tl::tcgen05_ld_32dp32bNx<128, false>(tmem[0], 0, (&(acc[0])));
  #pragma unroll
  for (int i_1 = 0; i_1 < 8; ++i_1) {
    bfloat16_t C_local_cast[16];
    for (int vec = 0; vec < 4; ++vec) {
      uint2 __1;
      float4 v_ = *(float4*)(acc + ((i_1 * 16) + (vec * 4)));
      (reinterpret_cast<__nv_bfloat162*>(&__1))[0] = __float22bfloat162_rn(((float2*)(&v_))[0]);
      (reinterpret_cast<__nv_bfloat162*>(&__1))[1] = __float22bfloat162_rn(((float2*)(&v_))[1]);
      *(uint2*)(C_local_cast + (vec * 4)) = __1;
    }
    tl::store_global_256(&(*(ulonglong4*)(C + ((((((int)blockIdx.y) * 32768) + (((int)threadIdx.x) * 256)) + (((int)blockIdx.x) * 128)) + (i_1 * 16)))), *(ulonglong4*)(C_local_cast + 0));
  }
  if ((((int)threadIdx.x) >> 5) == 0) {
    tl::tmem_deallocate((&(tmem[0])), 128);
  }
}

