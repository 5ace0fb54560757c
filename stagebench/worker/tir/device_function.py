"""What does the final device function do?  One walk over the IR that code generation is given.

Every call that synchronises, moves data asynchronously or issues tensor-core work becomes a
`SeenSite` with its loop nest, guards and source line; what has an effect and is not known becomes
``unknown:<name>``.  Each compiler's reader is a `DeviceWalk` that says what its intrinsics mean.
Does not handle: what a site means for a role or a section (that is for `stagebench.facts`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from stagebench.model import Extent, LaunchParam
from stagebench.model.facts import LineKind
from stagebench.model.observation import SeenAllocation, SeenArenaSlot, SeenLoop, SeenSite
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.index_values import index_values
from stagebench.worker.tir.intrinsic import Intrinsic
from stagebench.worker.tir.loop_nest import LoopNest
from stagebench.worker.tir.nodes import bare_name, tirx, tvm

BLOCK_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
THREAD_AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
_SHARED_SCOPES = ("shared", "shared.dyn", "shared.barrier", "shared.cluster_barrier", "shared.tmem")
TILE_SCOPES = ("shared", "shared.dyn")
_ARENAS = ("buf_dyn_shmem", "buf_shmem")
"""What ``MergeSharedMemoryAllocations`` calls the one buffer that it makes of all
(``src/transform/merge_shared_memory_allocations.cc``); TileLang 0.1.9 names nothing else after it.
"""


def axes_of(extents: dict[str, Extent], axes: tuple[str, ...]) -> tuple[Extent, Extent, Extent]:
    """The extents of three axes; 1 where there is none."""
    return triple([extents.get(axis, 1) for axis in axes])


def triple(values: Sequence[Extent]) -> tuple[Extent, Extent, Extent]:
    """Three extents, filled up with ones."""
    x, y, z = (*values, 1, 1, 1)[:3]
    return x, y, z


def launch_parameter(var: Any) -> LaunchParam:
    """A device function's parameter as the launch sees it."""
    pointer = storage.type_of(var)
    scope = str(getattr(pointer, "storage_scope", ""))
    element = getattr(pointer, "element_type", None)
    if scope == "grid_constant" or type(element).__name__ == "TensorMapType":
        return LaunchParam(name=str(var.name), kind="tma_descriptor", dtype="CUtensorMap")
    if element is not None:
        return LaunchParam(name=str(var.name), kind="tensor", dtype=str(element.dtype))
    return LaunchParam(name=str(var.name), kind="scalar", dtype=storage.dtype_of(var))


class DeviceWalk:
    """The state of one walk: where we are, and what was found so far."""

    def __init__(self) -> None:
        self.sites: list[SeenSite] = []
        self.loops: list[SeenLoop] = []
        self.allocations: list[SeenAllocation] = []
        self.arena: list[SeenArenaSlot] = []
        self.extents: dict[str, Extent] = {}
        self._nest: list[int] = []
        self._loops_around = LoopNest()
        self._partition: list[str] = []
        self._guards: list[str] = []
        self._locations: list[tuple[str, int]] = []
        self._loop_lines: list[tuple[str, int]] = []
        self._thread_vars: list[Any] = []
        self._of_the_thread: list[Any] = []
        self._thread_guards: list[str] = []
        self._analyzer = ir.Analyzer()

    # -- what a compiler's own reader says ---------------------------------------------------------

    def locate(self, stmt: Any) -> tuple[str, int] | None:
        """File and line of the user's Python that a statement came from, where it is kept."""
        del stmt
        return None

    def is_pipelined(self, loop: Any) -> bool:
        """Whether a loop is the steady state of a pipeline."""
        raise NotImplementedError

    def intrinsic(self, call: Any) -> Intrinsic | None:
        """What a call does; ``None``: nothing that is a site."""
        raise NotImplementedError

    def arguments(self, call: Any, known: Intrinsic) -> dict[str, Extent]:
        """What a call's operands say, under our names."""
        raise NotImplementedError

    def barrier_element(self, call: Any) -> Any | None:
        """The element of an mbarrier array that a call names."""
        raise NotImplementedError

    def copied_buffer(self, call: Any) -> str | None:
        """The buffer in shared memory that a copy names."""
        raise NotImplementedError

    def name_of(self, buffer: Any) -> str:
        """A buffer's name."""
        return storage.buffer_name(buffer)

    # -- the walk ---------------------------------------------------------------------------------

    def visit(self, stmt: Any) -> None:
        """Visit a statement and everything below it, in execution order."""
        location = self.locate(stmt)
        self._loops_around.note(stmt)
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
        pipelined = isinstance(stmt, tirx.For) and self.is_pipelined(stmt)
        loop = SeenLoop(
            var=var,
            extent=extent,
            executions=self._loops_around.enter(stmt, extent),
            pipelined=pipelined,
            start=start,
            end=start,
        )
        self.loops.append(loop)
        self._nest.append(index)
        location = self.locate(stmt) if pipelined else None
        self._loop_lines += [location] if location else []
        if isinstance(stmt, tirx.For):
            self._bind(stmt.loop_var, stmt.min, stmt.extent)
        self.visit(stmt.body)
        if location:
            self._loop_lines.pop()
        self._nest.pop()
        self._loops_around.leave()
        self.loops[index] = msgspec.structs.replace(loop, end=len(self.sites))

    def _bind(self, var: Any, first: Any, extent: Any) -> None:
        """Tell the compiler's analysis the range of a variable."""
        self._analyzer.bind(var, tvm.ir.Range.from_min_extent(first, extent))

    def _visit_branch(self, stmt: Any) -> None:
        text = ir.text_of(stmt.condition)
        stack = self._partition if self._on_thread_alone(stmt.condition) else self._guards
        if self._is_of_the_thread(stmt.condition):
            self._thread_guards += [text, f"!({text})"]
        stack.append(text)
        self.visit(stmt.then_case)
        stack[-1] = f"!({text})"
        if stmt.else_case is not None:
            self.visit(stmt.else_case)
        stack.pop()

    def _on_thread_alone(self, condition: Any) -> bool:
        seen = ir.variables(condition)
        return bool(seen) and all(any(v.same_as(t) for t in self._thread_vars) for v in seen)

    def _is_of_the_thread(self, expr: Any) -> bool:
        """Whether it reads the thread index, and variables made of it, alone; and no memory."""
        seen = ir.variables(expr)
        known = [*self._thread_vars, *self._of_the_thread]
        alone = all(any(v.same_as(one) for one in known) for v in seen)
        return bool(seen) and alone and not ir.reads_memory(expr)

    def thread_guards(self) -> tuple[str, ...]:
        """Of the enclosing conditions those that the thread index alone decides."""
        return tuple(guard for guard in self._guards if guard in self._thread_guards)

    def _visit_declaration(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Bind) and self._is_of_the_thread(stmt.value):
            self._of_the_thread.append(stmt.var)
        if isinstance(stmt, tirx.AttrStmt) and str(stmt.attr_key) == "thread_extent":
            self._bind(stmt.node.var, 0, stmt.value)
            self.extents[str(stmt.node.thread_tag)] = ir.extent_of(stmt.value)
            if str(stmt.node.thread_tag) in THREAD_AXES:
                self._thread_vars.append(stmt.node.var)
        elif (allocated := storage.allocation(stmt)) is not None:
            self._visit_allocation(allocated)
        elif isinstance(stmt, ir.Bind) and isinstance(stmt.value, ir.Call):
            call = stmt.value
            if bare_name(ir.op_name(call)) == "handle_add_byte_offset":
                offset = ir.constant(call.args[1])
                if offset is not None:
                    slot = SeenArenaSlot(name=str(stmt.var.name), offset_bytes=offset)
                    self.arena.append(slot)

    def _visit_allocation(self, allocated: storage.Allocation) -> None:
        if allocated.scope not in _SHARED_SCOPES:
            return
        buffer = allocated.buffer
        sizes = [size for size in allocated.shape if isinstance(size, int)]
        elements = math.prod(sizes) if len(sizes) == len(allocated.shape) else None
        self.allocations.append(
            SeenAllocation(
                name=allocated.name if buffer is None else self.name_of(buffer),
                scope=allocated.scope,
                dtype=allocated.dtype,
                elements=elements,
                bytes=None if elements is None else (elements * allocated.bits + 7) // 8,
            )
        )

    def _visit_call(self, call: Any, location: tuple[str, int] | None) -> None:
        known = self.intrinsic(call)
        if known is not None:
            self.add(known, call, location)

    def add(self, known: Intrinsic, call: Any, location: tuple[str, int] | None = None) -> None:
        """Add the sites of one call."""
        args = self.arguments(call, known)
        barrier, slots = self._barrier(call, known)
        kind: LineKind | None = "exact" if location else "synthetic" if self._locations else None
        where = location or (self._locations[-1] if self._locations else None)
        if where is not None and where in self._loop_lines:
            kind = "synthetic"  # a pass gave the statement the line of the loop around it
        buffer = self.copied_buffer(call)
        merged = buffer in _ARENAS
        for op in known.ops:
            self.sites.append(
                SeenSite(
                    op=op,
                    intrinsic=ir.op_name(call),
                    args=_relevant(op, args),
                    loops=tuple(self._nest),
                    partition=tuple(self._partition),
                    guards=tuple(self._guards),
                    thread_guards=self.thread_guards(),
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
        self, call: Any, intrinsic: Intrinsic
    ) -> tuple[str | None, tuple[int, int] | None]:
        load = self.barrier_element(call) if "barrier" in intrinsic.args else None
        if load is None:
            return None, None
        buffer = storage.buffer_of(load)
        size = ir.constant(buffer.shape[0])
        extents = {self.loops[i].var: self.loops[i].extent for i in self._nest}
        known = {var: extent for var, extent in extents.items() if isinstance(extent, int)}
        values = index_values(load.indices[0], known)
        if values:
            low, high = min(values), max(values)
        else:
            bound = self._analyzer.const_int_bound(load.indices[0])
            low, high = int(bound.min_value), int(bound.max_value)
        return self.name_of(buffer), self.slots_of(buffer, size, low, high)

    def slots_of(
        self, buffer: Any, size: int | None, low: int, high: int
    ) -> tuple[int, int] | None:
        """The elements of an mbarrier array that an index names, where they are proven to exist."""
        del buffer
        return (low, high) if low >= 0 and size is not None and high < size else None


def _relevant(op: str, args: dict[str, Extent]) -> dict[str, Extent]:
    """Of a call that stands for two ops, each op keeps the arguments that are its own."""
    if op == "mbarrier_arrive":
        return {key: value for key, value in args.items() if key != "bytes"}
    return args
