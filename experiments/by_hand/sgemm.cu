// C = A @ B in float32, by hand: tiles come through cp.async into STAGES slots of shared memory.
#include "tile.cuh"

#ifndef STAGES
#error "the plan defines STAGES"
#endif

extern "C" __global__ void __launch_bounds__(256)
sgemm(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int K) {
  extern __shared__ float arena[];
  float *a_slots = arena;
  float *b_slots = arena + STAGES * BLOCK_M * BLOCK_K;
  const int thread = threadIdx.x;
  const float *a_from = A + (blockIdx.y * BLOCK_M + thread / 4) * K + thread % 4 * 4;
  const float *b_from = B + thread / 16 * N + blockIdx.x * BLOCK_N + thread % 16 * 4;
  const int tiles = K / BLOCK_K;

  auto load = [&](int tile) {
    if (tile < tiles) {
      const int slot = tile % STAGES;
      copy16(a_slots + slot * BLOCK_M * BLOCK_K + thread * 4, a_from + tile * BLOCK_K);
      copy16(b_slots + slot * BLOCK_K * BLOCK_N + thread * 4, b_from + tile * BLOCK_K * N);
    }
    commit();
  };

  float sum[4][4] = {};
  for (int tile = 0; tile < STAGES - 1; ++tile) load(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    load(tile + STAGES - 1);
    wait<STAGES - 1>();
    __syncthreads();
    const float *a = a_slots + tile % STAGES * BLOCK_M * BLOCK_K + thread / 16 * 4 * BLOCK_K;
    const float *b = b_slots + tile % STAGES * BLOCK_K * BLOCK_N + thread % 16 * 4;
#pragma unroll
    for (int k = 0; k < BLOCK_K; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += a[i * BLOCK_K + k] * b[k * BLOCK_N + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      C[(blockIdx.y * BLOCK_M + thread / 16 * 4 + i) * N + blockIdx.x * BLOCK_N + thread % 16 * 4 + j] =
          sum[i][j];
}
