"""Kernels as a user of Apache TVM writes them."""

from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Scheduled:
    """S-TIR that is a module already."""

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("add"):
                    vi = T.axis.spatial(1024, bx * 128 + tx)
                    B[vi] = A[vi] + T.float32(1)


def broken(N: int = 4):
    """Raises while it is built."""
    raise RuntimeError(f"no kernel for {N}")


def nothing():
    """Returns no kernel."""
    return 3
