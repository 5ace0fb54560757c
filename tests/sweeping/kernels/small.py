"""A small GEMM whose tile comes from a sibling module."""

import tilelang
import tilelang.language as T

from small_tiles import TILE


@tilelang.jit
def small_gemm(K: int = 128, dtype: str = "float16", num_stages: int = 2):
    @T.prim_func
    def kernel(A: T.Tensor((128, K), dtype), B: T.Tensor((128, K), dtype), C: T.Tensor((128, 128), "float32")):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            lhs = T.alloc_shared((TILE, 32), dtype)
            rhs = T.alloc_shared((TILE, 32), dtype)
            acc = T.alloc_fragment((TILE, TILE), "float32")
            T.clear(acc)
            for k in T.Pipelined(K // 32, num_stages=num_stages):
                T.copy(A[by * TILE, k * 32], lhs)
                T.copy(B[bx * TILE, k * 32], rhs)
                T.gemm(lhs, rhs, acc, transpose_B=True)
            T.copy(acc, C[by * TILE, bx * TILE])

    return kernel
