"""What does an author's own pipeline become?  The NT GEMM in Apache TVM's TIRx, two ways.

TIRx has no pass that pipelines: ``num_stages`` is the number of slots that these kernels declare
and the distance that they run ahead, spelt out below.  `gemm_tirx` fills the slots by ``cp.async``
from all threads; `gemm_tirx_tma` splits the CTA into a warpgroup whose first thread starts TMA
loads and one that multiplies, with a full and an empty mbarrier for each slot.  Both multiply with
plain FMAs: the pipeline is the subject.

What a release calls a PTX operation: `stagebench.kernels.tvm_ptx`.
"""

# The DSL's own spelling: tensors are upper case, annotations are values.
# ruff: noqa: ANN001, ANN201, ANN202, C901, N803, N806, N812, PLR0912
# mypy: ignore-errors

from tvm.script import tirx as T

from stagebench.kernels import tvm_ptx as ptx

_VECTOR = 8  # halves that one cp.async of 16 bytes moves
_COLUMNS, _ROWS = 16, 8  # how the multiplying threads lie over the tile
_CONSUMERS = _COLUMNS * _ROWS


def gemm_tirx(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    num_stages: int = 2,
):
    """``C = A @ B.T`` with ``num_stages`` slots in flight by ``cp.async``; 1: copy, then wait."""
    trips = K // block_K
    ahead = num_stages - 1
    rows, columns = block_M // _ROWS, block_N // _COLUMNS
    a_copies = block_M * block_K // (_CONSUMERS * _VECTOR)
    b_copies = block_N * block_K // (_CONSUMERS * _VECTOR)

    @T.prim_func
    def gemm_kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), "float16", align=16)
        B = T.match_buffer(B_ptr, (N, K), "float16", align=16)
        C = T.match_buffer(C_ptr, (M, N), "float32", align=16)
        T.device_entry()
        bx, by = T.cta_id([N // block_N, M // block_M])
        thread = T.thread_id([_CONSUMERS])
        tx = T.meta_var(thread % _COLUMNS)
        ty = T.meta_var(thread // _COLUMNS)
        A_shared = T.alloc_shared((num_stages, block_M, block_K), "float16", align=128)
        B_shared = T.alloc_shared((num_stages, block_N, block_K), "float16", align=128)
        C_local = T.alloc_local((rows, columns), "float32")

        @T.inline
        def load(trip, slot):
            for i in T.unroll(a_copies):
                e = T.meta_var((i * _CONSUMERS + thread) * _VECTOR)
                ptx.copy(
                    A_shared.ptr_to([slot, e // block_K, e % block_K]),
                    A.ptr_to([by * block_M + e // block_K, trip * block_K + e % block_K]),
                )
            for i in T.unroll(b_copies):
                e = T.meta_var((i * _CONSUMERS + thread) * _VECTOR)
                ptx.copy(
                    B_shared.ptr_to([slot, e // block_K, e % block_K]),
                    B.ptr_to([bx * block_N + e // block_K, trip * block_K + e % block_K]),
                )

        @T.inline
        def multiply(slot):
            for k in T.serial(block_K):
                for i in T.unroll(rows):
                    for j in T.unroll(columns):
                        C_local[i, j] += T.Cast(
                            "float32", A_shared[slot, ty * rows + i, k]
                        ) * T.Cast("float32", B_shared[slot, tx * columns + j, k])

        for i in T.unroll(rows):
            for j in T.unroll(columns):
                C_local[i, j] = T.float32(0)
        for first in T.unroll(ahead):
            load(first, first)
            ptx.commit_group()
        for trip in T.serial(trips):
            if num_stages == 1:
                load(trip, 0)
                ptx.commit_group()
            ptx.wait_group(max(0, num_stages - 2))
            T.cuda.cta_sync()
            if num_stages > 1:
                if trip + ahead < trips:
                    load(trip + ahead, (trip + ahead) % num_stages)
                # Past the end the groups are empty: a wait still counts the same groups.
                ptx.commit_group()
            multiply(trip % num_stages)
            if num_stages == 1:
                T.cuda.cta_sync()
        for i in T.unroll(rows):
            for j in T.unroll(columns):
                C[by * block_M + ty * rows + i, bx * block_N + tx * columns + j] = C_local[i, j]

    return gemm_kernel


def gemm_tirx_tma(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    num_stages: int = 2,
):
    """``C = A @ B.T``; one thread loads ``num_stages`` slots by TMA, a warpgroup multiplies."""
    trips = K // block_K
    rows, columns = block_M // _ROWS, block_N // _COLUMNS
    slot_bytes = (block_M + block_N) * block_K * 2
    # cuTensorMapEncodeTiled: shape (innermost first), byte strides of the outer dimensions, box,
    # element strides, interleave, swizzle, L2 promotion, fill out of bounds.
    a_map = [K, M, K * 2, block_K, block_M, 1, 1, 0, 0, 0, 0]
    b_map = [K, N, K * 2, block_K, block_N, 1, 1, 0, 0, 0, 0]

    @T.prim_func
    def gemm_kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), "float16", align=16)
        B = T.match_buffer(B_ptr, (N, K), "float16", align=16)
        C = T.match_buffer(C_ptr, (M, N), "float32", align=16)
        A_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
        T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float16", 2, A.data, *a_map)
        B_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
        T.call_packed("runtime.cuTensorMapEncodeTiled", B_map, "float16", 2, B.data, *b_map)
        T.device_entry()
        bx, by = T.cta_id([N // block_N, M // block_M])
        thread = T.thread_id([2 * _CONSUMERS])
        tx = T.meta_var((thread - _CONSUMERS) % _COLUMNS)
        ty = T.meta_var((thread - _CONSUMERS) // _COLUMNS)
        A_shared = T.alloc_shared((num_stages, block_M, block_K), "float16", align=128)
        B_shared = T.alloc_shared((num_stages, block_N, block_K), "float16", align=128)
        full = T.alloc_shared((num_stages,), "uint64", align=8)
        empty = T.alloc_shared((num_stages,), "uint64", align=8)
        C_local = T.alloc_local((rows, columns), "float32")

        if thread == 0:
            for slot in T.unroll(num_stages):
                ptx.mbarrier_init(full.ptr_to([slot]), 1)
                ptx.mbarrier_init(empty.ptr_to([slot]), _CONSUMERS)
            ptx.fence_proxy_async()
        T.cuda.cta_sync()
        if thread < _CONSUMERS:
            if thread == 0:
                for trip in T.serial(trips):
                    slot = T.meta_var(trip % num_stages)
                    arrived = T.meta_var(full.ptr_to([slot]))
                    if trip >= num_stages:
                        ptx.mbarrier_wait(empty.ptr_to([slot]), (trip // num_stages - 1) % 2)
                    ptx.mbarrier_arrive_expect_tx(arrived, slot_bytes)
                    ptx.tma_load(
                        A_shared.ptr_to([slot, 0, 0]),
                        arrived,
                        T.address_of(A_map),
                        trip * block_K,
                        by * block_M,
                    )
                    ptx.tma_load(
                        B_shared.ptr_to([slot, 0, 0]),
                        arrived,
                        T.address_of(B_map),
                        trip * block_K,
                        bx * block_N,
                    )
        else:
            for i in T.unroll(rows):
                for j in T.unroll(columns):
                    C_local[i, j] = T.float32(0)
            for trip in T.serial(trips):
                slot = T.meta_var(trip % num_stages)
                ptx.mbarrier_wait(full.ptr_to([slot]), (trip // num_stages) % 2)
                for k in T.serial(block_K):
                    for i in T.unroll(rows):
                        for j in T.unroll(columns):
                            C_local[i, j] += T.Cast(
                                "float32", A_shared[slot, ty * rows + i, k]
                            ) * T.Cast("float32", B_shared[slot, tx * columns + j, k])
                ptx.mbarrier_arrive(empty.ptr_to([slot]))
            for i in T.unroll(rows):
                for j in T.unroll(columns):
                    C[by * block_M + ty * rows + i, bx * block_N + tx * columns + j] = C_local[i, j]

    return gemm_kernel
