"""What does TileLang's device function do?  Its intrinsics, read in the walk over the IR."""

from __future__ import annotations

from typing import Any

from stagebench.model import Extent, LaunchTensor, TmaDescriptor
from stagebench.model.observation import SeenKernel
from stagebench.worker.tilelang import intrinsics, ir
from stagebench.worker.tilelang.ir import tirx
from stagebench.worker.tir.device_function import (
    BLOCK_AXES,
    THREAD_AXES,
    TILE_SCOPES,
    DeviceWalk,
    axes_of,
    launch_parameter,
    triple,
)
from stagebench.worker.tir.intrinsic import (
    Intrinsic,
    storage_sync,
)
from stagebench.worker.tir.nodes import bare_name
from stagebench.worker.tir.unlisted_call import unlisted

_BARRIER_SCOPES = ("shared.barrier", "shared.cluster_barrier")
_COPIES = ("ptx_cp_async", "tma_load", "tma_store")


def read_device_function(
    name: str,
    function: Any,
    descriptors: tuple[TmaDescriptor, ...],
    tensors: tuple[LaunchTensor, ...],
) -> SeenKernel:
    """Read one device function; ``descriptors`` and ``tensors`` are those of its host code."""
    walk = _Walk()
    walk.visit(function.body)
    attrs = function.attrs
    extents = {str(axis): ir.extent_of(value) for axis, value in attrs["thread_extent"].items()}
    cluster = attrs.get("cluster_dims", None)
    return SeenKernel(
        function=name,
        grid=axes_of(extents, BLOCK_AXES),
        block=axes_of(extents, THREAD_AXES),
        cluster=None if cluster is None else triple([ir.extent_of(dim) for dim in cluster]),
        dynamic_smem_bytes=ir.constant(attrs.get("dyn_shared_memory_buf", 0)) or 0,
        params=tuple(launch_parameter(var) for var in function.params),
        tma_descriptors=descriptors,
        tensors=tensors,
        sites=tuple(walk.sites),
        loops=tuple(walk.loops),
        allocations=tuple(walk.allocations),
        arena=tuple(walk.arena),
        alignments={
            str(key): int(value) for key, value in attrs.get("tl.smem_alignment_map", {}).items()
        },
    )


class _Walk(DeviceWalk):
    """Reads TileLang's spelling."""

    def locate(self, stmt: Any) -> tuple[str, int] | None:
        """Statements keep their span: the adapter asks for it before TileLang is imported."""
        return ir.user_location(stmt)

    def is_pipelined(self, loop: Any) -> bool:
        """Passes leave a mark on the steady state of what they pipelined."""
        return any("pipelined_num_stages" in key for key in ir.loop_annotations(loop))

    def intrinsic(self, call: Any) -> Intrinsic | None:
        """Look the op up; what has an effect and is not known is ``unknown:<name>``."""
        name = bare_name(ir.op_name(call))
        if name == "tvm_storage_sync":
            extra = [ir.extent_of(arg) for arg in list(call.args)[1:]]
            return storage_sync(str(call.args[0].value), extra)
        return intrinsics.SYNC.get(name) or unlisted(call, name, intrinsics.HARMLESS)

    def arguments(self, call: Any, known: Intrinsic) -> dict[str, Extent]:
        """Operands by position; copies and barriers in words of their own."""
        return _arguments(call, bare_name(ir.op_name(call)), known)

    def barrier_element(self, call: Any) -> Any | None:
        """Barriers have a scope of their own."""
        return _barrier_of(call)

    def copied_buffer(self, call: Any) -> str | None:
        """The first operand that lies in shared memory."""
        return _buffer_of_copy(call, bare_name(ir.op_name(call)))


def _arguments(call: Any, name: str, known: Intrinsic) -> dict[str, Extent]:
    args: dict[str, Extent] = dict(known.constants)
    for key, position in known.args.items():
        if position < len(call.args):
            arg = call.args[position]
            args[key] = _place(arg) if isinstance(arg, tirx.BufferLoad) else ir.extent_of(arg)
    if name == "ptx_cp_async":
        args["bytes"] = _cp_async_bytes(call)
    elif name == "tma_load" and not isinstance(call.args[0], tirx.Var):
        # without a descriptor: (shared pointer, global pointer, barrier, bytes, eviction policy)
        del args["descriptor"]
        args |= {"mode": "bulk", "bytes": ir.extent_of(call.args[3])}
    barrier = _barrier_of(call) if "barrier" in args else None
    if barrier is not None:
        args["barrier"] = _place(barrier)
    return args


def _barrier_of(call: Any) -> Any | None:
    """The mbarrier element among a call's arguments, wherever it stands."""
    for arg in call.args:
        if isinstance(arg, tirx.BufferLoad) and str(arg.buffer.scope()) in _BARRIER_SCOPES:
            return arg
    return None


def _place(load: Any) -> str:
    indices = ", ".join(str(ir.extent_of(index)) for index in load.indices)
    return f"{ir.buffer_name(load.buffer)}[{indices}]"


def _pointee(arg: Any) -> Any | None:
    """The buffer element that an ``address_of`` (or an access pointer) points to."""
    for node in (arg, *getattr(arg, "args", ())):
        if isinstance(node, tirx.BufferLoad):
            return node
    return None


def _cp_async_bytes(call: Any) -> Extent:
    """Bytes of one ``cp.async``: elements × element size for ``tl.``, bytes for ``tirx.``.

    Source: ``GetTileLangCPAsyncTransferBytes`` in ``src/cuda/codegen/codegen_cuda.cc``.
    """
    amount = ir.extent_of(call.args[2])
    if not ir.op_name(call).startswith("tl."):
        return amount
    load = _pointee(call.args[0])
    if load is None or not isinstance(amount, int):
        return f"{amount} elements"
    return amount * int(load.buffer.dtype.bits) * int(load.buffer.dtype.lanes) // 8


def _buffer_of_copy(call: Any, name: str) -> str | None:
    """The buffer in shared memory that a copy names."""
    if not name.startswith(_COPIES):
        return None
    for arg in call.args:
        load = _pointee(arg) if isinstance(arg, tirx.Call) else None
        if load is not None and str(load.buffer.scope()) in TILE_SCOPES:
            return ir.buffer_name(load.buffer)
    return None
