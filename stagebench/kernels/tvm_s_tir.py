"""What does S-TIR's software pipeline become?  The NT GEMM as a schedule, two ways.

``num_stages`` asks for ``software_pipeline_stage = [0, 0, num_stages - 1]`` (copy A, copy B,
multiply) in order ``[0, 1, 2]``, with asynchronous copies from depth 2 on; 0 annotates nothing.
Depth 1 is a pipeline of one stage: plain copies.  `gemm` multiplies by FMAs, `gemm_tensor_core` by
WMMA fragments.  Other ``stage`` and ``order`` lists may be given: `gemm` is also the smallest
schedule on which the pass's own decisions can be watched.
"""

# The field's own spelling: tensors and extents are upper case.
# ruff: noqa: ANN001, ANN201, ANN202, N803, N806, PLR0917
# mypy: ignore-errors

import tvm
from tvm import te
from tvm.s_tir import Schedule

from stagebench.kernels import tvm_wmma

_CONFIGS = {"tirx.use_async_copy": True}
_VECTOR = 8
_WARP = 32


def gemm(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    num_stages: int = 2,
    stage: tuple = (),
    order: tuple = (),
):
    """``C = A @ B.T``; 16 × 8 threads, each with its part of the tile in registers."""
    columns, rows = 16, 8
    sch, block = _product(M, N, K)
    i, j, k = sch.get_loops(block)
    by, ty, ti = sch.split(i, [None, rows, block_M // rows])
    bx, tx, tj = sch.split(j, [None, columns, block_N // columns])
    ko, ki = sch.split(k, [None, block_K])
    sch.reorder(by, bx, ty, tx, ko, ki, ti, tj)
    for loop, axis in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y")):
        sch.bind(loop, axis)
    sch.bind(tx, "threadIdx.x")
    sch.reverse_compute_at(sch.cache_write(block, 0, "local"), tx)
    for operand in (0, 1):
        _share(sch, block, operand, ko, {"threadIdx.y": rows, "threadIdx.x": columns})
    sch.decompose_reduction(block, ko)
    _pipeline(sch, ko, num_stages, stage, order)
    return sch.mod.with_attr("stagebench.pass_configs", _CONFIGS)


def gemm_tensor_core(
    M: int = 1024,
    N: int = 1024,
    K: int = 1024,
    block_M: int = 64,
    block_N: int = 64,
    block_K: int = 32,
    num_stages: int = 2,
):
    """``C = A @ B.T``; 2 × 2 warps multiply fragments of 16 × 16 × 16."""
    warps, fragment = 2, 16
    sch, block = _product(M, N, K)
    i, j, k = sch.get_loops(block)
    i, fi = sch.split(i, [None, fragment])
    j, fj = sch.split(j, [None, fragment])
    k, fk = sch.split(k, [None, fragment])
    by, wy, ti = sch.split(i, [None, warps, block_M // (warps * fragment)])
    bx, wx, tj = sch.split(j, [None, warps, block_N // (warps * fragment)])
    ko, ki = sch.split(k, [None, block_K // fragment])
    sch.reorder(by, bx, wy, wx, ko, ki, ti, tj, fi, fj, fk)
    for loop, axis in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (wy, "threadIdx.y")):
        sch.bind(loop, axis)
    sch.bind(wx, "threadIdx.z")
    tensor = sch.blockize(fi)
    threads = {"threadIdx.y": warps, "threadIdx.z": warps, "threadIdx.x": _WARP}
    for operand in (0, 1):
        _share(sch, tensor, operand, ko, threads)
    intrinsics = tvm_wmma.register()
    for operand, scope in ((0, "wmma.matrix_a"), (1, "wmma.matrix_b")):
        load = sch.cache_read(tensor, operand, scope)
        sch.compute_at(load, ki)
        _tensorize(sch, load, intrinsics["load_a" if operand == 0 else "load_b"], fragment)
    store = sch.cache_write(tensor, 0, "wmma.accumulator")
    sch.reverse_compute_at(store, wx)
    _tensorize(sch, store, intrinsics["store"], fragment)
    init = sch.decompose_reduction(tensor, ko)
    sch.tensorize(init, intrinsics["init"])
    sch.tensorize(tensor, intrinsics["compute"])
    _pipeline(sch, ko, num_stages, (), ())
    return sch.mod.with_attr("stagebench.pass_configs", _CONFIGS)


def _product(M, N, K):
    A = te.placeholder((M, K), "float16", name="A")
    B = te.placeholder((N, K), "float16", name="B")
    k = te.reduce_axis((0, K), name="k")
    C = te.compute(
        (M, N),
        lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k),
        name="C",
    )
    sch = Schedule(tvm.IRModule({"main": te.create_prim_func([A, B, C])}))
    return sch, sch.get_sblock("C")


def _share(sch, block, operand, loop, threads):
    """Copy an operand's tile to shared memory at ``loop``, 16 bytes a thread at a time."""
    copy = sch.cache_read(block, operand, "shared")
    sch.compute_at(copy, loop)
    fused = sch.fuse(*sch.get_loops(copy)[-2:])
    _, *bound, vector = sch.split(fused, [None, *threads.values(), _VECTOR])
    for part, axis in zip(bound, threads, strict=True):
        sch.bind(part, axis)
    sch.vectorize(vector)


def _tensorize(sch, block, intrinsic, fragment):
    i, j = sch.get_loops(block)[-2:]
    i, fi = sch.split(i, [None, fragment])
    j, fj = sch.split(j, [None, fragment])
    sch.reorder(i, j, fi, fj)
    sch.tensorize(fi, intrinsic)


def _pipeline(sch, loop, num_stages, stage, order):
    if num_stages < 1:
        return
    sch.annotate(loop, "software_pipeline_stage", list(stage) or [0, 0, num_stages - 1])
    sch.annotate(loop, "software_pipeline_order", list(order) or [0, 1, 2])
    if num_stages > 1:
        sch.annotate(loop, "software_pipeline_async_stages", [0])
