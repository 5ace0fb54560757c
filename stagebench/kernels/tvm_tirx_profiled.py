"""Where does the time of a pipeline go, by its author's own marks?  TIRx GEMMs with CudaProfiler's.

The kernels of `stagebench.kernels.tvm_tirx` once more, with regions marked by the intrinsics
``T.cuda.timer_*``.  Each group of threads has a leader that writes a record at the start and at the
end of a region into ``times``, a tensor of words like any other output; what is in them says
`stagebench.trace.profiler_words`.  `gemm_tirx_profiled` has groups of ``group_threads`` threads, of
any size: 128 is one group, 48 cuts warps apart, 8 has four leaders in a warp.
`gemm_tirx_tma_profiled` has a group for each of its two warpgroups.

`Marks` is what ``tvm.tirx.bench.CudaProfiler`` emits: that module imports torch and Triton's
profiler, which lowering has no use for.  What a release calls a PTX operation:
`stagebench.kernels.tvm_ptx`.
"""

# The DSL's own spelling: tensors are upper case, annotations are values.
# ruff: noqa: ANN001, ANN201, ANN202, ANN204, C901, D102, N803, N806, N812, PLR0912, PLR0915, PLR0917
# mypy: ignore-errors

from enum import Enum

from tvm.script import tirx as T

from stagebench.kernels import tvm_ptx as ptx

_VECTOR = 8  # halves that one cp.async of 16 bytes moves
_COLUMNS, _ROWS = 16, 8  # how the multiplying threads lie over the tile
_CONSUMERS = _COLUMNS * _ROWS


class Region(Enum):
    """The marked regions; ``free`` is the producer's wait for a free slot."""

    load = 0
    wait = 1
    compute = 2
    store = 3
    free = 4


@T.meta_class
class Marks:
    """The marks of one thread: ``times`` and where its group's next record goes."""

    def __init__(self, times, lanes, groups, leader):
        self.times = times
        self.lanes = lanes
        self.groups = groups
        self.leader = leader
        self.tag = T.alloc_buffer([1], "uint64", scope="local", align=8)
        self.offset = T.alloc_buffer([1], "uint32", scope="local", align=8)

    @T.inline
    def init(self, group):
        T.cuda.timer_init(self.times.data, self.tag.data, self.offset.data, self.groups, group)

    @T.inline
    def start(self, region):
        T.cuda.timer_start(
            region, self.times.data, self.tag.data, self.offset.data, self.lanes, self.leader
        )

    @T.inline
    def end(self, region):
        T.cuda.timer_end(
            region, self.times.data, self.tag.data, self.offset.data, self.lanes, self.leader
        )

    @T.inline
    def finalize(self):
        T.cuda.timer_finalize(
            self.times.data, self.tag.data, self.offset.data, self.lanes, self.leader
        )


def _named(kernel, groups):
    """The kernel with what its event ids and groups are called."""
    events = [region.name for region in Region]
    return kernel.with_attr("stagebench.profiler", {"events": events, "groups": groups})


def gemm_tirx_profiled(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    group_threads: int = 128,
    num_stages: int = 2,
):
    """``C = A @ B.T`` with ``num_stages`` slots by ``cp.async``; every group of threads marks."""
    trips = K // block_K
    ahead = num_stages - 1
    rows, columns = block_M // _ROWS, block_N // _COLUMNS
    a_copies = block_M * block_K // (_CONSUMERS * _VECTOR)
    b_copies = block_N * block_K // (_CONSUMERS * _VECTOR)
    groups = -(-_CONSUMERS // group_threads)
    lanes = (M // block_M) * (N // block_N) * groups
    # A lane's records: load, wait and compute of each trip, the first loads, store, the last one.
    records = 2 * (3 * trips + min(ahead, 1) + 1) + 1

    @T.prim_func
    def gemm_kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, times_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), "float16", align=16)
        B = T.match_buffer(B_ptr, (N, K), "float16", align=16)
        C = T.match_buffer(C_ptr, (M, N), "float32", align=16)
        times = T.match_buffer(times_ptr, (1 + lanes * records,), "uint64")
        T.device_entry()
        bx, by = T.cta_id([N // block_N, M // block_M])
        thread = T.thread_id([_CONSUMERS])
        tx = T.meta_var(thread % _COLUMNS)
        ty = T.meta_var(thread // _COLUMNS)
        A_shared = T.alloc_shared((num_stages, block_M, block_K), "float16", align=128)
        B_shared = T.alloc_shared((num_stages, block_N, block_K), "float16", align=128)
        C_local = T.alloc_local((rows, columns), "float32")
        marks = Marks(times, lanes, groups, thread % group_threads == 0)
        marks.init(thread // group_threads)

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
        if num_stages > 1:
            marks.start(Region.load)
            for first in T.unroll(ahead):
                load(first, first)
                ptx.commit_group()
            marks.end(Region.load)
        for trip in T.serial(trips):
            if num_stages == 1:
                marks.start(Region.load)
                load(trip, 0)
                ptx.commit_group()
                marks.end(Region.load)
            marks.start(Region.wait)
            ptx.wait_group(max(0, num_stages - 2))
            T.cuda.cta_sync()
            marks.end(Region.wait)
            if num_stages > 1:
                marks.start(Region.load)
                if trip + ahead < trips:
                    load(trip + ahead, (trip + ahead) % num_stages)
                # Past the end the groups are empty: a wait still counts the same groups.
                ptx.commit_group()
                marks.end(Region.load)
            marks.start(Region.compute)
            multiply(trip % num_stages)
            if num_stages == 1:
                T.cuda.cta_sync()
            marks.end(Region.compute)
        marks.start(Region.store)
        for i in T.unroll(rows):
            for j in T.unroll(columns):
                C[by * block_M + ty * rows + i, bx * block_N + tx * columns + j] = C_local[i, j]
        marks.end(Region.store)
        marks.finalize()

    first = [g * group_threads for g in range(groups)]
    last = [min(f + group_threads, _CONSUMERS) - 1 for f in first]
    return _named(gemm_kernel, [f"threads {f}-{t}" for f, t in zip(first, last, strict=True)])


def gemm_tirx_tma_profiled(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    num_stages: int = 2,
):
    """``C = A @ B.T``; one thread loads by TMA, a warpgroup multiplies; both mark regions."""
    trips = K // block_K
    rows, columns = block_M // _ROWS, block_N // _COLUMNS
    slot_bytes = (block_M + block_N) * block_K * 2
    groups = 2
    lanes = (M // block_M) * (N // block_N) * groups
    # Of a lane: two regions of each trip; the consumers' store; the last one.
    records = 2 * (2 * trips + 1) + 1
    # cuTensorMapEncodeTiled: shape (innermost first), byte strides of the outer dimensions, box,
    # element strides, interleave, swizzle, L2 promotion, fill out of bounds.
    a_map = [K, M, K * 2, block_K, block_M, 1, 1, 0, 0, 0, 0]
    b_map = [K, N, K * 2, block_K, block_N, 1, 1, 0, 0, 0, 0]

    @T.prim_func
    def gemm_kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, times_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), "float16", align=16)
        B = T.match_buffer(B_ptr, (N, K), "float16", align=16)
        C = T.match_buffer(C_ptr, (M, N), "float32", align=16)
        times = T.match_buffer(times_ptr, (1 + lanes * records,), "uint64")
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
        marks = Marks(times, lanes, groups, thread % _CONSUMERS == 0)
        marks.init(thread // _CONSUMERS)

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
                    marks.start(Region.free)
                    if trip >= num_stages:
                        ptx.mbarrier_wait(empty.ptr_to([slot]), (trip // num_stages - 1) % 2)
                    marks.end(Region.free)
                    marks.start(Region.load)
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
                    marks.end(Region.load)
                marks.finalize()
        else:
            for i in T.unroll(rows):
                for j in T.unroll(columns):
                    C_local[i, j] = T.float32(0)
            for trip in T.serial(trips):
                slot = T.meta_var(trip % num_stages)
                marks.start(Region.wait)
                ptx.mbarrier_wait(full.ptr_to([slot]), (trip // num_stages) % 2)
                marks.end(Region.wait)
                marks.start(Region.compute)
                for k in T.serial(block_K):
                    for i in T.unroll(rows):
                        for j in T.unroll(columns):
                            C_local[i, j] += T.Cast(
                                "float32", A_shared[slot, ty * rows + i, k]
                            ) * T.Cast("float32", B_shared[slot, tx * columns + j, k])
                ptx.mbarrier_arrive(empty.ptr_to([slot]))
                marks.end(Region.compute)
            marks.start(Region.store)
            for i in T.unroll(rows):
                for j in T.unroll(columns):
                    C[by * block_M + ty * rows + i, bx * block_N + tx * columns + j] = C_local[i, j]
            marks.end(Region.store)
            marks.finalize()

    return _named(gemm_kernel, ["producer", "consumers"])
