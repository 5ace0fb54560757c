"""What does the plainest pipelined loop become?  One GEMM, in three layouts of its operands.

The name says how A and B are stored, BLAS fashion: T where the operand is stored transposed.
`gemm` is NT, ``C[M, N] = sum over k of A[M, k] * B[N, k]``: what a linear layer computes.
"""

# The DSL's own spelling: tensors are upper case, annotations are values.
# ruff: noqa: ANN201, ANN202, N803, N806, N812, PLR0913, PLR0917
# mypy: ignore-errors

import tilelang
import tilelang.language as T


def _gemm(
    sizes: tuple[int, int, int],
    tile: tuple[int, int, int],
    threads: int,
    dtypes: tuple[str, str],
    num_stages: int,
    *,
    transpose_a: bool,
    transpose_b: bool,
):
    rows, columns, depth = sizes
    tile_m, tile_n, tile_k = tile
    dtype, accum_dtype = dtypes
    a_shape = (depth, rows) if transpose_a else (rows, depth)
    b_shape = (columns, depth) if transpose_b else (depth, columns)
    a_tile = (tile_k, tile_m) if transpose_a else (tile_m, tile_k)
    b_tile = (tile_n, tile_k) if transpose_b else (tile_k, tile_n)

    @T.prim_func
    def gemm_kernel(
        A: T.Tensor(a_shape, dtype),
        B: T.Tensor(b_shape, dtype),
        C: T.Tensor((rows, columns), dtype),
    ):
        with T.Kernel(T.ceildiv(columns, tile_n), T.ceildiv(rows, tile_m), threads=threads) as (
            bx,
            by,
        ):
            A_shared = T.alloc_shared(a_tile, dtype)
            B_shared = T.alloc_shared(b_tile, dtype)
            C_local = T.alloc_fragment((tile_m, tile_n), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(depth, tile_k), num_stages=num_stages):
                if transpose_a:
                    T.copy(A[k * tile_k, by * tile_m], A_shared)
                else:
                    T.copy(A[by * tile_m, k * tile_k], A_shared)
                if transpose_b:
                    T.copy(B[bx * tile_n, k * tile_k], B_shared)
                else:
                    T.copy(B[k * tile_k, bx * tile_n], B_shared)
                T.gemm(
                    A_shared, B_shared, C_local, transpose_A=transpose_a, transpose_B=transpose_b
                )
            T.copy(C_local, C[by * tile_m, bx * tile_n])

    return gemm_kernel


@tilelang.jit
def gemm(
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
    """``C = A @ B.T``; A is (M, K), B is (N, K)."""
    return _gemm(
        (M, N, K),
        (block_M, block_N, block_K),
        threads,
        (dtype, accum_dtype),
        num_stages,
        transpose_a=False,
        transpose_b=True,
    )


@tilelang.jit
def gemm_nn(
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
    """``C = A @ B``; A is (M, K), B is (K, N)."""
    return _gemm(
        (M, N, K),
        (block_M, block_N, block_K),
        threads,
        (dtype, accum_dtype),
        num_stages,
        transpose_a=False,
        transpose_b=False,
    )


@tilelang.jit
def gemm_tn(
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
    """``C = A.T @ B``; A is (K, M), B is (K, N)."""
    return _gemm(
        (M, N, K),
        (block_M, block_N, block_K),
        threads,
        (dtype, accum_dtype),
        num_stages,
        transpose_a=True,
        transpose_b=False,
    )
