"""A kernel that imports its package relatively, two folders up."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: N803, N812

import tilelang.language as T

from ..sizes import BLOCK


def relative(num_stages=2):
    @T.prim_func
    def copied(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((BLOCK,), "float16")
            for k in T.Pipelined(256 // BLOCK, num_stages=num_stages):
                T.copy(A[k * BLOCK], tile)
                T.copy(tile, B[k * BLOCK])

    return copied
