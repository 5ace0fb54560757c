# ruff: noqa: ARG001, N803, N812 - a kernel as users write it
"""Kernels that do to global memory what a GEMM does not: update it, add to it, ignore it."""

import tilelang
import tilelang.language as T


@tilelang.jit
def in_place(n: int, num_stages: int):
    @T.prim_func
    def kernel(
        X: T.Tensor((n,), "float32"),
        Y: T.Tensor((n,), "float32"),
        unused: T.Tensor((n,), "float32"),
    ):
        with T.Kernel(1, threads=128) as _:
            for i in T.Parallel(n):
                Y[i] = Y[i] + X[i]

    return kernel


@tilelang.jit
def added(n: int, num_stages: int):
    @T.prim_func
    def kernel(X: T.Tensor((n,), "float32"), total: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=128) as _:
            for i in T.Parallel(n):
                T.atomic_add(total[0], X[i])

    return kernel
