#pragma once

constexpr int BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 16;

__device__ __forceinline__ void copy16(float *to, const float *from) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
