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


@I.ir_module
class Several:
    """Two functions with an array of the same name; the second one launches two kernels."""

    @T.prim_func(s_tir=True)
    def first(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        tile = T.sblock_alloc_buffer((1024,), "float32", scope="shared")
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("stage"):
                    vi = T.axis.spatial(1024, bx * 128 + tx)
                    tile[vi] = A[vi]
                with T.sblock("add"):
                    vi = T.axis.spatial(1024, bx * 128 + tx)
                    B[vi] = tile[vi] + T.float32(1)

    @T.prim_func(s_tir=True)
    def second(X: T.Buffer((1024,), "float32"), Y: T.Buffer((1024,), "float32")):
        tile = T.sblock_alloc_buffer((1024,), "float32", scope="shared")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                with T.sblock("stage"):
                    vi = T.axis.spatial(1024, bx * 256 + tx)
                    tile[vi] = X[vi]
                with T.sblock("there"):
                    vi = T.axis.spatial(1024, bx * 256 + tx)
                    Y[vi] = tile[vi]
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(512, thread="threadIdx.x"):
                with T.sblock("back"):
                    vi = T.axis.spatial(1024, bx * 512 + tx)
                    X[vi] = Y[vi]


def several(n: int = 1):
    """Return a module of more than one kernel."""
    return Several if n else None


class Holder:
    """A plain class, which nobody calls, with a kernel in it."""

    inner = Scheduled

    def __init__(self):
        raise RuntimeError("a class is not called")


def broken(N: int = 4):
    """Raises while it is built."""
    raise RuntimeError(f"no kernel for {N}")


def nothing():
    """Returns no kernel."""
    return 3
