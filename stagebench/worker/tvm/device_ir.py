"""What does Apache TVM's device function do?  Its intrinsics, read in the walk over the IR.

S-TIR commits and waits by attributes until code is generated: ``async_commit_queue_scope`` commits
when its body ends, ``async_wait_queue_scope`` waits before its body begins, for all but
``async_wait_inflight_count`` groups (``CodeGenCUDA::VisitStmt_(AttrStmtNode)`` of
``codegen_cuda.cc``).  No statement has a span: the IR has no lines of Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from stagebench.model import Extent, LaunchTensor, ProfilerBuffer, TmaDescriptor
from stagebench.model.observation import SeenKernel, SeenSite
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
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
    device_function,
    storage_sync,
)
from stagebench.worker.tir.nodes import tirx
from stagebench.worker.tir.unlisted_call import unlisted
from stagebench.worker.tvm import intrinsics, ptx_table, ptx_words
from stagebench.worker.tvm.host_ir import parameter_names
from stagebench.worker.tvm.intrinsics import short_name
from stagebench.worker.tvm.ring_slots import counts_round

_COMMIT, _WAIT, _IN_FLIGHT = (
    "async_commit_queue_scope",
    "async_wait_queue_scope",
    "async_wait_inflight_count",
)
_COPIES = ("ptx_cp_async", "ptx_cp_async_raw", "cp_async_raw")
_CLUSTER_AXES = ("clusterCtaIdx.x", "clusterCtaIdx.y", "clusterCtaIdx.z")


def read_device_function(
    name: str,
    function: Any,
    descriptors: tuple[TmaDescriptor, ...],
    tensors: tuple[LaunchTensor, ...],
    rings: Iterable[int],
    profilers: tuple[ProfilerBuffer, ...],
    dynamic_bytes: int | None,
) -> SeenKernel:
    """Read one device function; ``rings`` are the numbers of slots of the author's own rings.

    ``dynamic_bytes`` is the dynamic shared memory of the launch, where that could be read.
    """
    names = parameter_names(function)
    walk = _Walk(frozenset(rings), list(zip(function.params, names, strict=True)))
    for param in function.params:
        walk.pointers[str(param.name)] = str(param.name)
    walk.visit(function.body)
    dynamic = sum(a.bytes or 0 for a in walk.allocations if a.scope == "shared.dyn")
    clustered = any(axis in walk.extents for axis in _CLUSTER_AXES)
    return SeenKernel(
        function=name,
        grid=axes_of(walk.extents, BLOCK_AXES),
        block=axes_of(walk.extents, THREAD_AXES),
        cluster=triple([walk.extents.get(axis, 1) for axis in _CLUSTER_AXES])
        if clustered
        else None,
        dynamic_smem_bytes=dynamic if dynamic_bytes is None else dynamic_bytes,
        params=tuple(
            msgspec.structs.replace(launch_parameter(var), name=name)
            for var, name in zip(function.params, names, strict=True)
        ),
        tma_descriptors=descriptors,
        tensors=tensors,
        sites=tuple(walk.sites),
        loops=tuple(walk.loops),
        allocations=tuple(walk.allocations),
        arena=(),
        alignments=walk.alignments,
        profilers=profilers,
    )


class _Walk(DeviceWalk):
    """Reads Apache TVM's spelling."""

    def __init__(self, rings: frozenset[int], params: list[tuple[Any, str]]) -> None:
        super().__init__()
        self._params = params
        self.pointers: dict[str, str] = {}
        self.alignments: dict[str, int] = {}
        self._unnamed: list[Any] = []
        self._views: list[Any] = []
        self._rings = rings

    def visit(self, stmt: Any) -> None:
        """Visit a statement; attributes that commit or wait are sites of their own."""
        if not isinstance(stmt, tirx.AttrStmt):
            if isinstance(stmt, tirx.AllocBuffer | tirx.DeclBuffer):
                self.name_of(stmt.buffer)
            if isinstance(stmt, tirx.AllocBuffer):
                self._note_allocation(stmt.buffer)
            view = storage.declared_view(stmt)
            if view is not None:
                self._note_view(*view)
            super().visit(stmt)
            return
        key = str(stmt.attr_key)
        if key == _WAIT and isinstance(stmt.body, tirx.AttrStmt):
            count = stmt.body
            if str(count.attr_key) == _IN_FLIGHT:
                self._add("cp_async_wait", key, {"max_pending": ir.extent_of(count.value)})
        super().visit(stmt)
        if key == _COMMIT:
            self._add("cp_async_commit", key, {})

    def _note_allocation(self, buffer: Any) -> None:
        self.pointers[str(storage.buffer_name(buffer))] = str(buffer.name)
        if str(buffer.scope()) in TILE_SCOPES:
            self.alignments[str(buffer.name)] = int(buffer.data_alignment)

    def _note_view(self, view: Any, of: Any) -> None:
        self._views.append(view)
        name = str(of.name)
        self.pointers[str(view.name)] = self.pointers.get(name, name)

    def _add(self, op: str, attribute: str, args: dict[str, Extent]) -> None:
        self.sites.append(
            SeenSite(
                op=op,
                intrinsic=attribute,
                args=args,
                loops=tuple(self._nest),
                partition=tuple(self._partition),
                guards=tuple(self._guards),
                thread_guards=self.thread_guards(),
                buffer=None,
                barrier=None,
                slots=None,
                file=None,
                line=None,
                line_kind=None,
            )
        )

    def is_pipelined(self, loop: Any) -> bool:
        """TIRx: the loop counts round a ring of slots.  (S-TIR's loop is named by its request.)"""
        return bool(self._rings) and not self._inside_pipeline() and self._counts_round(loop)

    def _inside_pipeline(self) -> bool:
        return any(self.loops[index].pipelined for index in self._nest[:-1])

    def _counts_round(self, loop: Any) -> bool:
        return counts_round(loop, self._rings)

    def intrinsic(self, call: Any) -> Intrinsic | None:
        """Look the op up; what has an effect and is not known is ``unknown:<name>``."""
        name = short_name(ir.op_name(call))
        if name == "tvm_storage_sync":
            return storage_sync(str(call.args[0].value), [])
        instruction = ptx_table.instruction_of(call)
        if instruction is not None:
            return ptx_words.read(instruction)
        if name == "cuda_func_call":  # a device function whose source the author gives
            return device_function(str(call.args[0].value), [])
        name = intrinsics.nvshmem_name(name)
        return intrinsics.SYNC.get(name) or unlisted(call, name, intrinsics.HARMLESS)

    def arguments(self, call: Any, known: Intrinsic) -> dict[str, Extent]:
        """Operands by position; an address is shown as the element that it points to."""
        args: dict[str, Extent] = dict(known.constants)
        for key, position in known.args.items():
            if position < len(call.args):
                args[key] = self._shown(call.args[position])
        if short_name(ir.op_name(call)) in _COPIES and "bytes" not in known.args:
            args["bytes"] = ir.extent_of(call.args[4 if _has_offsets(call) else 2])
        return args

    def barrier_element(self, call: Any) -> Any | None:
        """The element whose address the ``barrier`` operand is."""
        known = self.intrinsic(call)
        position = known.args.get("barrier") if known is not None else None
        if position is None or position >= len(call.args):
            return None
        return _pointee(call.args[position])

    def copied_buffer(self, call: Any) -> str | None:
        """The first operand that lies in shared memory and is no barrier."""
        name = short_name(ir.op_name(call))
        if not name.startswith(("ptx_cp_async", "cp_async")):
            return None
        barrier = self.barrier_element(call)
        for arg in call.args:
            load = _pointee(arg)
            if load is not None and str(storage.buffer_of(load).scope()) in TILE_SCOPES:
                buffer = storage.buffer_of(load)
                if barrier is None or not buffer.same_as(storage.buffer_of(barrier)):
                    return self.name_of(buffer)
            elif (var := storage.variable_of(arg)) is not None and str(var.name) in self.pointers:
                return self.pointers[str(var.name)]
        return None

    def name_of(self, buffer: Any) -> str:
        """As the author named it: TIRx adds ``_ptr`` to the name of its storage.

        One without a name is called as the script of a module calls it, by its place among them.
        """
        if buffer.name:
            return str(buffer.name)
        places = [at for at, known in enumerate(self._unnamed) if known.same_as(buffer)]
        if not places:
            self._unnamed.append(buffer)
        place = places[0] if places else len(self._unnamed) - 1
        return f"buffer_{place}" if place else "buffer"

    def slots_of(
        self, buffer: Any, size: int | None, low: int, high: int
    ) -> tuple[int, int] | None:
        """As of any array; of a view inside an arena, counted from where it begins in there.

        ``FlattenBuffer`` adds a view's offset to its indices.  The view still has it in 0.25, and
        from 0.26 on no longer: slots are counted from the arena's begin there.
        """
        offset = ir.constant(getattr(buffer, "elem_offset", None)) or 0
        if low >= offset > 0:
            low, high = low - offset, high - offset
        is_view = any(buffer.same_as(view) for view in self._views)
        if is_view and size is not None and 0 <= low <= high < low + size:
            return low, high
        return super().slots_of(buffer, size, low, high)

    def _shown(self, arg: Any) -> Extent:
        load = _pointee(arg)
        if load is not None:
            indices = ", ".join(str(ir.extent_of(index)) for index in load.indices)
            return f"{self.name_of(storage.buffer_of(load))}[{indices}]"
        arg = storage.uncast(arg)
        if isinstance(arg, ir.Call) and short_name(ir.op_name(arg)) == "address_of":
            arg = arg.args[0]
        named = [name for param, name in self._params if arg.same_as(param)]
        return named[0] if named else ir.extent_of(arg)


def _has_offsets(call: Any) -> bool:
    """S-TIR's form: ``(shared, offset, global, offset, bytes)`` with plain pointers."""
    return storage.variable_of(call.args[0]) is not None


def _pointee(arg: Any) -> Any | None:
    """The buffer element that an ``address_of`` points to."""
    arg = storage.uncast(arg)
    if isinstance(arg, ir.BufferLoad):
        return arg
    if isinstance(arg, ir.Call) and short_name(ir.op_name(arg)) == "address_of":
        inner = arg.args[0]
        return inner if isinstance(inner, ir.BufferLoad) else None
    return None
