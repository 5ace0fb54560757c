"""A kernel whose depth changes nothing: every depth gives the same CUDA text."""

import tilelang
import tilelang.language as T


@tilelang.jit
def copies_in_registers(num_stages=2):
    @T.prim_func
    def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
        with T.Kernel(8, threads=128) as bx:
            tile = T.alloc_fragment((128,), "float32")
            T.copy(A[bx * 128], tile)
            T.copy(tile, B[bx * 128])

    return main
