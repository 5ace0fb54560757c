"""What becomes of a loop whose operand is computed?  A GEMM with packed 4-bit weights.

Each trip copies a tile of packed bytes, widens it to ``dtype`` into a second shared tile, and
multiplies with that one: a copy, a producer that computes, and a consumer.  A byte holds two
weights, the even column in its low half; a weight is the half's value minus 8.
"""

# The DSL's own spelling: tensors are upper case, annotations are values.
# ruff: noqa: ANN201, ANN202, N803, N806, N812, PLR0913, PLR0917
# mypy: ignore-errors

import tilelang
import tilelang.language as T


@tilelang.jit
def dequant_gemm(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 128,
    block_N: int = 128,
    block_K: int = 64,
    threads: int = 128,
    dtype: str = "float16",
    accum_dtype: str = "float32",
    num_stages: int = 2,
):
    """``C = A @ W.T``; A is (M, K), W is (N, K // 2) bytes."""

    @T.prim_func
    def dequant_gemm_kernel(
        A: T.Tensor((M, K), dtype),
        W: T.Tensor((N, K // 2), "uint8"),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            W_shared = T.alloc_shared((block_N, block_K // 2), "uint8")
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(W[bx * block_N, k * block_K // 2], W_shared)
                for i, j in T.Parallel(block_N, block_K):
                    shift = T.cast((j % 2) * 4, "uint8")
                    half = (W_shared[i, j // 2] >> shift) & T.uint8(15)
                    B_shared[i, j] = T.cast(half, dtype) - T.cast(8, dtype)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return dequant_gemm_kernel
