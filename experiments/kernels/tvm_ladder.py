"""Four rungs in Apache TVM's TIRx: elementwise, shared reduction, warp reduction, async pipeline.

Each is a function of its own: ``experiments/kernels/tvm_ladder.py:elementwise``.
"""

# ruff: noqa: N803, N806, N812
# mypy: ignore-errors

from tvm.script import tirx as T

from stagebench.kernels import tvm_ptx as ptx

_THREADS = 128
_WARP = 32


def elementwise(N: int = 4096):
    """``B = A + 1``: no shared memory, nothing that synchronises."""

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (N,), "float32", align=16)
        B = T.match_buffer(B_ptr, (N,), "float32", align=16)
        T.device_entry()
        block = T.cta_id([N // _THREADS])
        thread = T.thread_id([_THREADS])
        B[block * _THREADS + thread] = A[block * _THREADS + thread] + T.float32(1)

    return kernel


def shared_reduction(N: int = 4096):
    """A sum per CTA as a tree in shared memory: one barrier to fill it, one for each level."""
    levels = _THREADS.bit_length() - 1

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (N,), "float32", align=16)
        B = T.match_buffer(B_ptr, (N // _THREADS,), "float32", align=16)
        T.device_entry()
        block = T.cta_id([N // _THREADS])
        thread = T.thread_id([_THREADS])
        partial = T.alloc_shared((_THREADS,), "float32", align=128)
        partial[thread] = A[block * _THREADS + thread]
        T.cuda.cta_sync()
        for level in T.serial(levels):
            if thread < T.shift_right(_THREADS // 2, level):
                partial[thread] = (
                    partial[thread] + partial[thread + T.shift_right(_THREADS // 2, level)]
                )
            T.cuda.cta_sync()
        if thread == 0:
            B[block] = partial[0]

    return kernel


def warp_reduction(N: int = 4096):
    """A sum per CTA: shuffles in each warp, then one barrier and one warp's shuffles."""
    warps = _THREADS // _WARP
    mask = 0xFFFFFFFF

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (N,), "float32", align=16)
        B = T.match_buffer(B_ptr, (N // _THREADS,), "float32", align=16)
        T.device_entry()
        block = T.cta_id([N // _THREADS])
        thread = T.thread_id([_THREADS])
        partial = T.alloc_shared((warps,), "float32", align=128)
        total = T.alloc_local((1,), "float32")
        total[0] = A[block * _THREADS + thread]
        for level in T.unroll(5):
            total[0] = total[0] + T.cuda.__shfl_xor_sync(  # noqa: SLF001 - CUDA's own name
                T.uint32(mask), total[0], T.shift_left(1, level), _WARP
            )
        if thread % _WARP == 0:
            partial[thread // _WARP] = total[0]
        T.cuda.cta_sync()
        if thread == 0:
            total[0] = T.float32(0)
            for warp in T.unroll(warps):
                total[0] = total[0] + partial[warp]
            B[block] = total[0]

    return kernel


def async_pipeline(N: int = 65536, chunk: int = 512, num_stages: int = 2):
    """``B = A + 1`` from a ring of ``num_stages`` chunks that ``cp.async`` fills; one CTA."""
    trips, ahead, vector = N // chunk, num_stages - 1, 4

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (N,), "float32", align=16)
        B = T.match_buffer(B_ptr, (N,), "float32", align=16)
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([_THREADS])
        ring = T.alloc_shared((num_stages, chunk), "float32", align=128)
        for first in T.unroll(ahead):
            ptx.copy(
                ring.ptr_to([first, thread * vector]),
                A.ptr_to([first * chunk + thread * vector]),
            )
            ptx.commit_group()
        for trip in T.serial(trips):
            if trip + ahead < trips:
                ptx.copy(
                    ring.ptr_to([(trip + ahead) % num_stages, thread * vector]),
                    A.ptr_to([(trip + ahead) * chunk + thread * vector]),
                )
            ptx.commit_group()
            ptx.wait_group(ahead)
            for i in T.unroll(vector):  # each thread reads what it copied: no barrier is needed
                B[trip * chunk + thread * vector + i] = ring[
                    trip % num_stages, thread * vector + i
                ] + T.float32(1)

    return kernel
