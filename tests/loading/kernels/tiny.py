"""The smallest pipelined kernel: a copy through shared memory, for the other files here."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: N803, N812

import tilelang.language as T


def build(N, block, num_stages, dtype="float16"):
    """A PrimFunc that copies N elements, a block in each trip."""

    @T.prim_func
    def tiny(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((block,), dtype)
            for k in T.Pipelined(N // block, num_stages=num_stages):
                T.copy(A[k * block], tile)
                T.copy(tile, B[k * block])

    return tiny
