#include <cuda_fp16.h>
#include <cstdio>
__device__ __noinline__ float twice(float x) { return x + x; }
extern "C" __global__ void reduce(const float* x, float* out, int n) {
  __shared__ float part[32];
  float sum = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = twice(sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < blockDim.x / 32; ++i) atomicAdd(out, part[i]);
    __threadfence();
    printf("%d done\n", blockIdx.x);
  }
}
extern "C" __global__ void choose(int* x, int which, __half2* h) {
  int v = x[threadIdx.x];
  switch (which) {
    case 0: v *= 3; break;      case 1: v ^= 0x55; break;   case 2: v = __popc(v); break;
    case 3: v = __brev(v); break; case 4: v = v / 7; break; case 5: __syncthreads(); v += 1; break;
    case 6: v = __vadd4(v, v); break; case 7: v = atomicCAS(x, v, 9); break; default: v = -v;
  }
  h[threadIdx.x] = __hfma2(h[threadIdx.x], h[0], __float2half2_rn((float)v));
  x[threadIdx.x] = __any_sync(0xffffffff, v) ? v : __double2int_rn(sqrt((double)v));
}
