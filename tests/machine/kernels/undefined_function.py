"""A kernel that lowers and does not compile."""

import tilelang
import tilelang.language as T


@tilelang.jit
def calls_what_nobody_defines(num_stages=2):
    @T.prim_func
    def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((128,), "float32")
            for k in T.Pipelined(8, num_stages=num_stages):
                T.copy(A[k * 128], tile)
                for i in T.Parallel(128):
                    B[k * 128 + i] = T.call_extern("float32", "nobody_defines_this", tile[i])

    return main
