# ruff: noqa: N803, N812 - the DSL's own spelling
"""Small kernels whose depth is not called num_stages, or is written in them."""

import tilelang
import tilelang.language as T


def build(depth, rows, columns):
    @T.prim_func
    def kernel(
        A: T.Tensor((128, 128), "float16"),
        B: T.Tensor((128, 128), "float16"),
        C: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(128 // columns, 128 // rows, threads=128) as (bx, by):
            lhs = T.alloc_shared((rows, 32), "float16")
            rhs = T.alloc_shared((columns, 32), "float16")
            acc = T.alloc_fragment((rows, columns), "float32")
            T.clear(acc)
            for k in T.Pipelined(4, num_stages=depth):
                T.copy(A[by * rows, k * 32], lhs)
                T.copy(B[bx * columns, k * 32], rhs)
                T.gemm(lhs, rhs, acc, transpose_B=True)
            T.copy(acc, C[by * rows, bx * columns])

    return kernel


@tilelang.jit
def named(depth: int = 2, tile: tuple = (64, 64)):
    return build(depth, *tile)


@tilelang.jit
def written():
    @T.prim_func
    def kernel(
        A: T.Tensor((128, 128), "float16"),
        B: T.Tensor((128, 128), "float16"),
        C: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            lhs = T.alloc_shared((64, 32), "float16")
            rhs = T.alloc_shared((64, 32), "float16")
            acc = T.alloc_fragment((64, 64), "float32")
            T.clear(acc)
            for k in T.Pipelined(4, num_stages=3):
                T.copy(A[by * 64, k * 32], lhs)
                T.copy(B[bx * 64, k * 32], rhs)
                T.gemm(lhs, rhs, acc, transpose_B=True)
            T.copy(acc, C[by * 64, bx * 64])

    return kernel
