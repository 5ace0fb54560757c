"""What does the final device function do?  One walk over the IR that code generation is given.

Every call that synchronises, moves data asynchronously or issues tensor-core work becomes a
`SeenSite` with its loop nest, guards and source line; what has an effect and is not known becomes
``unknown:<name>``.  Does not handle: what a site means for a role or a section (that is for
`stagebench.facts`).
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
from tilelang import tvm

from stagebench.model import Extent, LaunchParam, LaunchTensor, TmaDescriptor
from stagebench.model.facts import LineKind
from stagebench.model.observation import (
    SeenAllocation,
    SeenArenaSlot,
    SeenKernel,
    SeenLoop,
    SeenSite,
)
from stagebench.worker.tilelang import intrinsics, ir
from stagebench.worker.tilelang.index_values import index_values
from stagebench.worker.tilelang.ir import tirx

_BLOCK_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
_THREAD_AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
_SHARED_SCOPES = ("shared", "shared.dyn", "shared.barrier", "shared.cluster_barrier", "shared.tmem")
_BARRIER_SCOPES = ("shared.barrier", "shared.cluster_barrier")
_TILE_SCOPES = ("shared", "shared.dyn")
_COPIES = ("ptx_cp_async", "tma_load", "tma_store")
_ARENAS = ("buf_dyn_shmem", "buf_shmem")
"""What ``MergeSharedMemoryAllocations`` calls the one buffer that it makes of all
(``src/transform/merge_shared_memory_allocations.cc``); 0.1.9 names nothing else afterwards."""


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
    names = {descriptor.name for descriptor in descriptors}
    return SeenKernel(
        function=name,
        grid=_axes(extents, _BLOCK_AXES),
        block=_axes(extents, _THREAD_AXES),
        cluster=None if cluster is None else _triple([ir.extent_of(dim) for dim in cluster]),
        dynamic_smem_bytes=ir.constant(attrs.get("dyn_shared_memory_buf", 0)) or 0,
        params=tuple(_parameter(var) for var in function.params),
        tma_descriptors=tuple(d for d in descriptors if d.name in walk.names or d.name in names),
        tensors=tensors,
        sites=tuple(walk.sites),
        loops=tuple(walk.loops),
        allocations=tuple(walk.allocations),
        arena=tuple(walk.arena),
        alignments={
            str(key): int(value) for key, value in attrs.get("tl.smem_alignment_map", {}).items()
        },
    )


def _axes(extents: dict[str, Extent], axes: tuple[str, ...]) -> tuple[Extent, Extent, Extent]:
    return _triple([extents.get(axis, 1) for axis in axes])


def _triple(values: list[Extent]) -> tuple[Extent, Extent, Extent]:
    x, y, z = (*values, 1, 1, 1)[:3]
    return x, y, z


def _parameter(var: Any) -> LaunchParam:
    pointer = getattr(var, "type_annotation", None)
    scope = str(getattr(pointer, "storage_scope", ""))
    element = getattr(pointer, "element_type", None)
    if scope == "grid_constant":
        return LaunchParam(name=str(var.name), kind="tma_descriptor", dtype="CUtensorMap")
    if element is not None:
        return LaunchParam(name=str(var.name), kind="tensor", dtype=str(element.dtype))
    return LaunchParam(name=str(var.name), kind="scalar", dtype=str(var.dtype))


class _Walk:
    """The state of one walk: where we are, and what was found so far."""

    def __init__(self) -> None:
        self.sites: list[SeenSite] = []
        self.loops: list[SeenLoop] = []
        self.allocations: list[SeenAllocation] = []
        self.arena: list[SeenArenaSlot] = []
        self.names: set[str] = set()
        self._nest: list[int] = []
        self._partition: list[str] = []
        self._guards: list[str] = []
        self._locations: list[tuple[str, int]] = []
        self._loop_lines: list[tuple[str, int]] = []
        self._thread_vars: list[Any] = []
        self._analyzer = tvm.arith.Analyzer()

    def visit(self, stmt: Any) -> None:
        """Visit a statement and everything below it, in execution order."""
        location = ir.user_location(stmt)
        if location is not None:
            self._locations.append(location)
        for expr in ir.expressions(stmt):
            for call in ir.calls(expr):
                self._visit_call(call, location)
        if isinstance(stmt, tirx.For):
            self._visit_loop(stmt, str(stmt.loop_var.name), ir.extent_of(stmt.extent))
        elif isinstance(stmt, tirx.While):
            self._visit_loop(stmt, "while", f"while({ir.text_of(stmt.condition)})")
        elif isinstance(stmt, tirx.IfThenElse):
            self._visit_branch(stmt)
        else:
            self._visit_declaration(stmt)
            for child in ir.children(stmt):
                self.visit(child)
        if location is not None:
            self._locations.pop()

    def _visit_loop(self, stmt: Any, var: str, extent: Extent) -> None:
        index = len(self.loops)
        start = len(self.sites)
        pipelined = any("pipelined_num_stages" in key for key in ir.loop_annotations(stmt))
        loop = SeenLoop(var=var, extent=extent, pipelined=pipelined, start=start, end=start)
        self.loops.append(loop)
        self._nest.append(index)
        location = ir.user_location(stmt) if pipelined else None
        self._loop_lines += [location] if location else []
        if isinstance(stmt, tirx.For):
            self._bind(stmt.loop_var, stmt.min, stmt.extent)
        self.visit(stmt.body)
        if location:
            self._loop_lines.pop()
        self._nest.pop()
        self.loops[index] = msgspec.structs.replace(loop, end=len(self.sites))

    def _bind(self, var: Any, first: Any, extent: Any) -> None:
        """Tell the compiler's analysis the range of a variable."""
        self._analyzer.bind(var, tvm.ir.Range.from_min_extent(first, extent))

    def _visit_branch(self, stmt: Any) -> None:
        text = ir.text_of(stmt.condition)
        stack = self._partition if self._on_thread_alone(stmt.condition) else self._guards
        stack.append(text)
        self.visit(stmt.then_case)
        stack[-1] = f"!({text})"
        if stmt.else_case is not None:
            self.visit(stmt.else_case)
        stack.pop()

    def _on_thread_alone(self, condition: Any) -> bool:
        seen = ir.variables(condition)
        return bool(seen) and all(any(v.same_as(t) for t in self._thread_vars) for v in seen)

    def _visit_declaration(self, stmt: Any) -> None:
        if isinstance(stmt, tirx.AttrStmt) and str(stmt.attr_key) == "thread_extent":
            self._bind(stmt.node.var, 0, stmt.value)
            if str(stmt.node.thread_tag) in _THREAD_AXES:
                self._thread_vars.append(stmt.node.var)
        elif (allocated := ir.allocation(stmt)) is not None:
            self._visit_allocation(allocated)
        elif isinstance(stmt, ir.Bind) and isinstance(stmt.value, tirx.Call):
            call = stmt.value
            if intrinsics.bare_name(ir.op_name(call)) == "handle_add_byte_offset":
                offset = ir.constant(call.args[1])
                if offset is not None:
                    slot = SeenArenaSlot(name=str(stmt.var.name), offset_bytes=offset)
                    self.arena.append(slot)

    def _visit_allocation(self, allocated: ir.Allocation) -> None:
        if allocated.scope not in _SHARED_SCOPES:
            return
        sizes = [size for size in allocated.shape if isinstance(size, int)]
        elements = math.prod(sizes) if len(sizes) == len(allocated.shape) else None
        self.allocations.append(
            SeenAllocation(
                name=allocated.name,
                scope=allocated.scope,
                dtype=allocated.dtype,
                elements=elements,
                bytes=None if elements is None else (elements * allocated.bits + 7) // 8,
            )
        )

    def _visit_call(self, call: Any, location: tuple[str, int] | None) -> None:
        full = ir.op_name(call)
        name = intrinsics.bare_name(full)
        known = intrinsics.SYNC.get(name)
        if name == "tvm_storage_sync":
            extra = [ir.extent_of(arg) for arg in list(call.args)[1:]]
            known = intrinsics.storage_sync(str(call.args[0].value), extra)
            if known is None:
                return
        elif known is None:
            known = _unlisted(call, name)
            if known is None:
                return
        args = _arguments(call, name, known)
        barrier, slots = self._barrier(call, known)
        kind: LineKind | None = "exact" if location else "synthetic" if self._locations else None
        where = location or (self._locations[-1] if self._locations else None)
        if where is not None and where in self._loop_lines:
            kind = "synthetic"  # a pass gave the statement the line of the loop around it
        buffer = _buffer_of_copy(call, name)
        merged = buffer in _ARENAS
        for op in known.ops:
            self.sites.append(
                SeenSite(
                    op=op,
                    intrinsic=full,
                    args=_relevant(op, args),
                    loops=tuple(self._nest),
                    partition=tuple(self._partition),
                    guards=tuple(self._guards),
                    buffer=None if merged else buffer,
                    buffer_unnamed=merged,
                    barrier=barrier,
                    slots=slots,
                    file=where[0] if where else None,
                    line=where[1] if where else None,
                    line_kind=kind,
                )
            )

    def _barrier(
        self, call: Any, intrinsic: intrinsics.Intrinsic
    ) -> tuple[str | None, tuple[int, int] | None]:
        load = _barrier_of(call) if "barrier" in intrinsic.args else None
        if load is None:
            return None, None
        size = ir.constant(load.buffer.shape[0])
        extents = {self.loops[i].var: self.loops[i].extent for i in self._nest}
        known = {var: extent for var, extent in extents.items() if isinstance(extent, int)}
        values = index_values(load.indices[0], known)
        if values:
            low, high = min(values), max(values)
        else:
            bound = self._analyzer.const_int_bound(load.indices[0])
            low, high = int(bound.min_value), int(bound.max_value)
        proven = low >= 0 and size is not None and high < size
        return ir.buffer_name(load.buffer), (low, high) if proven else None


def _unlisted(call: Any, name: str) -> intrinsics.Intrinsic | None:
    """What a call that is in no table of intrinsics does; ``None``: nothing that synchronises."""
    if name in ("call_extern", "call_pure_extern"):
        values = [ir.extent_of(arg) for arg in list(call.args)[1:]]
        return intrinsics.device_function(str(call.args[0].value), values)
    if name in intrinsics.HARMLESS:
        return None
    effect = getattr(call.op, "get_attr", lambda _: None)("TCallEffectKind")
    if effect is not None and int(effect) in intrinsics.WITHOUT_EFFECT:
        return None
    return intrinsics.Intrinsic((f"unknown:{name}",))


def _arguments(call: Any, name: str, known: intrinsics.Intrinsic) -> dict[str, Extent]:
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


def _relevant(op: str, args: dict[str, Extent]) -> dict[str, Extent]:
    """Of a call that stands for two ops, each op keeps the arguments that are its own."""
    if op == "mbarrier_arrive":
        return {key: value for key, value in args.items() if key != "bytes"}
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
        if load is not None and str(load.buffer.scope()) in _TILE_SCOPES:
            return ir.buffer_name(load.buffer)
    return None
