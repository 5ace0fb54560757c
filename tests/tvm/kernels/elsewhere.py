"""Small kernels with the shapes that real programs of others have: see ``test_elsewhere``."""

import tvm
from tvm.script import tirx as T

from stagebench.kernels import tvm_ptx as ptx


@T.prim_func(private=True, s_tir=True)
def private(A: T.Buffer((256,), "float16"), B: T.Buffer((256,), "float16")):
    """No symbol of its own, a scalar buffer, and vectors of four halves."""
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("sum"):
                total = T.sblock_alloc_buffer((), "float16", scope="local")
                words = T.sblock_alloc_buffer((4,), "float16", scope="local")
                total[()] = T.float16(0)
                for i in T.vectorized(4):
                    words[i] = A[bx * 256 + tx * 8 + i] + A[bx * 256 + tx * 8 + 4 + i]
                for i in T.serial(4):
                    total[()] = total[()] + words[i]
                B[bx * 256 + tx] = total[()]


class Traced:
    """What holds a module as ``mod``, as a wrapper of somebody's own does."""

    def __init__(self, function):
        self.mod = tvm.IRModule({"main": function})


def traced():
    """A wrapper, no module."""
    return Traced(private)


def schedule():
    """A schedule, no module."""
    return tvm.s_tir.Schedule(tvm.IRModule({"main": private}))


@T.prim_func(s_tir=True)
def unbound(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
    """No loop of it is bound to threads."""
    for i in range(256):
        with T.sblock("copy"):
            vi = T.axis.spatial(256, i)
            B[vi] = A[vi]


def arena(slots: int = 3):
    """An arena that is sized at the launch alone, mbarriers as views inside it, a warp's number."""

    @T.prim_func
    def kernel(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        T.device_entry()
        T.cta_id([1])
        warp = T.warp_id([4])
        thread = T.thread_id([128])
        pool = T.alloc_buffer([1024 + slots * 8], "uint8", scope="shared.dyn", align=128)
        full = T.decl_buffer([slots], "uint64", pool.data, elem_offset=128, scope="shared.dyn")
        if warp == 0:
            if thread == 0:
                for slot in T.unroll(slots):
                    ptx.mbarrier_init(full.ptr_to([slot]), 1)
        T.cuda.cta_sync()
        B[thread] = A[thread]

    return kernel


def cluster():
    """A cluster's sync, which CUDA has as a function of its two halves."""

    @T.prim_func
    def kernel(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
        T.device_entry()
        block = T.cta_id([2])
        T.cta_id_in_cluster([2])
        thread = T.thread_id([128])
        T.cuda.cluster_sync()
        B[block * 128 + thread] = A[block * 128 + thread]

    return kernel


def among_gpus(N: int = 128):
    """NVSHMEM: a copy by a whole block from another GPU, and the wait for it."""

    @T.prim_func
    def kernel(A: T.Buffer((N,), "int32"), B: T.Buffer((N,), "int32")):
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([128])
        mine: T.let[T.int32] = T.nvshmem.my_pe()
        T.evaluate(T.nvshmem.getmem_nbi.block(A.ptr_to([0]), B.ptr_to([0]), N * 4, mine))
        T.evaluate(T.nvshmem.quiet())
        B[thread] = A[thread] + mine

    return kernel
