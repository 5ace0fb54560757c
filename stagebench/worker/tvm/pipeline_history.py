"""What became of each annotated loop, and how many versions has each shared buffer?

S-TIR: a loop is annotated with stage and order lists by the schedule, that is before any pass, and
the versions are a leading dimension that a pass puts before a buffer's shape.  Shapes are those
that were last seen with the declared number of dimensions: ``CompactBufferAllocation`` cuts a
cached tensor down to its tile first.  TIRx: no annotation; versions are the author's rings
(`stagebench.worker.tvm.ring_slots`), in the module as it was given.

Fed with the module after every pass that changed it, function by function; looks at annotations
and shapes, never at pass names.
Source of the annotations: ``s_tir/transform/inject_software_pipeline.cc``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stagebench.model import Extent
from stagebench.model.observation import SeenBuffer, SeenLoopRequest, SeenStatement
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.nodes import tirx
from stagebench.worker.tir.shared_buffer import SharedBufferSeen, seen_buffers
from stagebench.worker.tvm.chosen_kernel import functions_of
from stagebench.worker.tvm.intrinsics import short_name
from stagebench.worker.tvm.loop_statements import body_statements, read_statement
from stagebench.worker.tvm.ring_slots import is_ring

_STAGE, _ORDER, _ASYNC = (
    "software_pipeline_stage",
    "software_pipeline_order",
    "software_pipeline_async_stages",
)
_SCOPES = ("shared", "shared.dyn")
_INIT = "ptx_mbarrier_init"


@dataclass
class _Loop:
    """An annotated loop as it is followed through the passes."""

    var: str
    extent: Extent
    stage: tuple[int, ...]
    order: tuple[int, ...]
    asynchronous: tuple[int, ...]
    statements: tuple[SeenStatement, ...]
    injected_by: str | None = None


class ModuleHistory:
    """Follows each function of a module through one lowering; `of` is what was seen of one."""

    def __init__(self) -> None:
        self._histories: dict[str, PipelineHistory] = {}

    def start(self, module: Any) -> None:
        """Take the module before the first pass."""
        self._histories = {name: PipelineHistory(f) for name, f in functions_of(module).items()}

    def see(self, module: Any, pass_name: str) -> None:
        """Take the module after a pass that changed it."""
        for name, function in functions_of(module).items():
            if name in self._histories:
                self._histories[name].see(function, pass_name)

    def of(self, name: str) -> PipelineHistory:
        """What was seen of the function with that name in the module as it was given."""
        return self._histories[name]


class PipelineHistory:
    """Follows every annotated loop and every shared buffer of one function."""

    def __init__(self, function: Any) -> None:
        self._loops: dict[str, _Loop] = {}
        self._buffers: dict[str, SharedBufferSeen] = {}
        self._high_level = True
        self._see_loops(function, None)
        self._see_blocks(function, None)
        self._see_allocations(function)

    @property
    def rings(self) -> frozenset[int]:
        """The sizes of the author's own rings of slots."""
        own = (b for b in self._buffers.values() if b.leading and not b.versioned_by)
        return frozenset(size for b in own for size in b.leading if size > 1)

    def see(self, function: Any, pass_name: str) -> None:
        """Take the function after a pass that changed its module."""
        blocks = any(isinstance(stmt, ir.Block) for stmt in ir.statements(function.body))
        if not self._high_level or not blocks:
            self._high_level = False  # blocks are gone: shapes are flat from here on
            return
        self._see_loops(function, pass_name)
        self._see_blocks(function, pass_name)

    def requests(self) -> tuple[SeenLoopRequest, ...]:
        """Every annotated loop with its fate, in source order."""
        return tuple(
            SeenLoopRequest(
                loop_var=loop.var,
                extent=loop.extent,
                num_stages=max(loop.stage, default=0) + 1,
                explicit_order=None,  # S-TIR has no other way to ask: the lists override nothing
                explicit_stage=None,
                file=None,
                line=None,
                statements=loop.statements,
                outcome="planned" if loop.injected_by else "kept",
                pass_name=loop.injected_by,
                injected_by=loop.injected_by,
                stage=loop.stage,
                order=loop.order,
                async_groups=tuple(
                    stage if stage in loop.asynchronous else -1 for stage in loop.stage
                ),
                producer_writes=(),
            )
            for loop in self._loops.values()
        )

    def buffers(self) -> tuple[SeenBuffer, ...]:
        """Every shared buffer, in order of first appearance."""
        return seen_buffers(self._buffers)

    def _see_loops(self, function: Any, pass_name: str | None) -> None:
        annotated: dict[str, Any] = {}
        for stmt in ir.statements(function.body):
            if isinstance(stmt, tirx.For) and _STAGE in ir.loop_annotations(stmt):
                annotated[str(stmt.loop_var.name)] = stmt
        for name, loop in self._loops.items():
            if loop.injected_by is None and name not in annotated:
                loop.injected_by = pass_name
        for name, stmt in annotated.items():
            notes = ir.loop_annotations(stmt)
            statements = body_statements(stmt)
            self._loops[name] = _Loop(
                var=name,
                extent=ir.extent_of(stmt.extent),
                stage=_integers(notes[_STAGE]),
                order=_integers(notes.get(_ORDER, ())),
                asynchronous=_integers(notes.get(_ASYNC, ())),
                statements=tuple(read_statement(s) for s in statements),
            )

    def _see_blocks(self, function: Any, pass_name: str | None) -> None:
        for stmt in ir.statements(function.body):
            if isinstance(stmt, ir.Block):
                for buffer in stmt.alloc_buffers:
                    self._see_buffer(buffer, pass_name)

    def _see_buffer(self, buffer: Any, pass_name: str | None) -> None:
        if str(buffer.scope()) not in _SCOPES:
            return
        name, shape = str(buffer.name), tuple(ir.extent_of(dim) for dim in buffer.shape)
        known = self._buffers.get(name)
        if known is None or (len(shape) == len(known.shape) and not known.leading):
            self._buffers[name] = _new(buffer, shape)
            return
        extra = len(shape) - len(known.shape)
        leading = tuple(dim for dim in shape[: max(extra, 0)] if isinstance(dim, int))
        if extra > 0 and shape[extra:] == known.shape and leading != known.leading:
            known.leading = leading
            if pass_name is not None and pass_name not in known.versioned_by:
                known.versioned_by.append(pass_name)

    def _see_allocations(self, function: Any) -> None:
        """TIRx: plain allocations, whose leading dimension may be a ring; mbarriers are none."""
        indices: dict[str, list[Any]] = {}
        barriers: set[str] = set()

        def visit(node: Any) -> None:
            if isinstance(node, ir.BufferLoad | tirx.BufferStore):
                for first in list(node.indices)[:1]:  # a scalar has no index
                    indices.setdefault(str(storage.buffer_of(node).name), []).append(first)
            elif isinstance(node, ir.Call) and short_name(ir.op_name(node)) == _INIT:
                barriers.update(_named_buffers(node))

        ir.post_order_visit(function.body, visit)
        for stmt in ir.statements(function.body):
            if not isinstance(stmt, tirx.AllocBuffer):
                continue
            name = str(stmt.buffer.name)
            if str(stmt.buffer.scope()) not in _SCOPES or name in barriers:
                continue
            shape = tuple(ir.extent_of(dim) for dim in stmt.buffer.shape)
            first = shape[0] if shape else None
            self._buffers[name] = _new(stmt.buffer, shape)
            if isinstance(first, int) and is_ring(first, indices.get(name, [])):
                self._buffers[name].shape = shape[1:]
                self._buffers[name].leading = (first,)


def _named_buffers(call: Any) -> set[str]:
    return {
        str(storage.buffer_of(inner).name)
        for arg in map(storage.uncast, call.args)
        for inner in (arg, *getattr(arg, "args", ()))
        if isinstance(inner, ir.BufferLoad)
    }


def _new(buffer: Any, shape: tuple[Extent, ...]) -> SharedBufferSeen:
    bits = int(buffer.dtype.bits) * int(buffer.dtype.lanes)
    return SharedBufferSeen(str(buffer.scope()), str(buffer.dtype), bits, shape)


def _integers(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
