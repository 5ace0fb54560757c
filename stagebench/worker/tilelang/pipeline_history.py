"""What became of each requested depth, and which pass gave which buffer its versions?

Fed with the module after every pass that changed it, in order; it looks at loop annotations and at
shared buffers' shapes, never at pass names, so that a renamed or new pass changes nothing here.

Source of the annotation names: ``num_stages`` and ``tl_pipeline_order``/``tl_pipeline_stage`` are
set by ``T.Pipelined``; ``software_pipeline_*`` by ``src/transform/pipeline_planning.cc``; all
TileLang 0.1.15.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from stagebench.model import Extent
from stagebench.model.observation import SeenBuffer, SeenLoopRequest, SeenStatement
from stagebench.worker.tilelang import ir, tile_ops
from stagebench.worker.tilelang.ir import tirx
from stagebench.worker.tir.shared_buffer import SharedBufferSeen, seen_buffers

_REQUEST = ("num_stages", "tl_pipeline_order", "tl_pipeline_stage")
_STAGE, _ORDER = "software_pipeline_stage", "software_pipeline_order"
_GROUPS = "software_pipeline_async_producer_groups"
_SPECIALIZED_ATTRS = ("kWarpSpecializationScope",)
_VERSIONED_SCOPES = ("shared", "shared.dyn", "shared.tmem")

Outcome = Literal["planned", "specialized", "removed", "kept"]


@dataclass
class _Loop:
    """A request as it is followed through the passes."""

    var: str
    extent: Extent
    num_stages: int | None
    order: tuple[int, ...] | None
    stage: tuple[int, ...] | None
    file: str | None
    line: int | None
    statements: tuple[SeenStatement, ...] = ()
    outcome: Outcome | None = None
    decided_by: str | None = None
    injected_by: str | None = None
    plan_stage: tuple[int, ...] | None = None
    plan_order: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None
    producer_writes: tuple[str, ...] = ()


class PipelineHistory:
    """Follows every requested depth and every shared buffer through one lowering."""

    def __init__(self) -> None:
        self._loops: list[_Loop] | None = None
        self._buffers: dict[str, SharedBufferSeen] = {}
        self._declared: dict[str, int] | None = None
        self._high_level = True

    def start(self, module: Any) -> None:
        """Take the module before the first pass: what was asked for."""
        self._loops = [
            _request(loop)
            for function in _functions(module)
            for loop in _loops(function)
            if any(key in ir.loop_annotations(loop) for key in _REQUEST)
        ]
        self._see_buffers(module, None)

    def see(self, module: Any, pass_name: str) -> None:
        """Take the module after a pass that changed it."""
        if self._loops is None:
            self.start(module)
        if not self._high_level:
            return
        if not any(True for function in _functions(module) for _ in _blocks(function)):
            self._high_level = False  # blocks are gone: shapes are flat from here on
            return
        self._see_loops(module, pass_name)
        self._see_buffers(module, pass_name)

    def requests(self) -> tuple[SeenLoopRequest, ...]:
        """Every requested depth with its fate, in source order."""
        return tuple(
            SeenLoopRequest(
                loop_var=loop.var,
                extent=loop.extent,
                num_stages=loop.num_stages,
                explicit_order=loop.order,
                explicit_stage=loop.stage,
                file=loop.file,
                line=loop.line,
                statements=loop.statements,
                outcome=loop.outcome or "kept",
                pass_name=loop.decided_by,
                injected_by=loop.injected_by,
                stage=loop.plan_stage,
                order=loop.plan_order,
                async_groups=loop.groups,
                producer_writes=loop.producer_writes,
            )
            for loop in self._loops or ()
        )

    def buffers(self) -> tuple[SeenBuffer, ...]:
        """Every shared buffer, in order of first appearance."""
        return seen_buffers(self._buffers)

    def _see_loops(self, module: Any, pass_name: str) -> None:
        pending = [loop for loop in self._loops or () if loop.outcome in (None, "planned")]
        pending = [loop for loop in pending if loop.injected_by is None]
        if not pending:
            return
        present: dict[str, list[Any]] = {}
        specialized = False
        for function in _functions(module):
            for stmt in ir.statements(function.body):
                if isinstance(stmt, tirx.For):
                    present.setdefault(str(stmt.loop_var.name), []).append(stmt)
                elif isinstance(stmt, tirx.AttrStmt):
                    specialized = specialized or str(stmt.attr_key) in _SPECIALIZED_ATTRS
        for loop in pending:
            self._see_loop(loop, present.get(loop.var, []), pass_name, specialized)

    def _see_loop(self, loop: _Loop, present: list[Any], pass_name: str, specialized: bool) -> None:
        noted = [ir.loop_annotations(stmt) for stmt in present]
        planned = next((notes for notes in noted if _STAGE in notes), None)
        if loop.outcome == "planned":
            if planned is None:
                loop.injected_by = pass_name
            return
        if planned is not None:
            loop.outcome, loop.decided_by = "planned", pass_name
            loop.plan_stage = _integers(planned.get(_STAGE))
            loop.plan_order = _integers(planned.get(_ORDER))
            loop.groups = _integers(planned.get(_GROUPS))
            stmt = next(s for s, notes in zip(present, noted, strict=True) if notes is planned)
            if loop.plan_stage is not None:
                scheduled = _body_statements(stmt)
                if len(scheduled) == len(loop.plan_stage):
                    loop.statements = tuple(tile_ops.read_statement(s) for s in scheduled)
            return
        if any(key in notes for notes in noted for key in _REQUEST):
            return
        if specialized:
            loop.outcome, loop.decided_by = "specialized", pass_name
            if present:  # the producer's loop comes first: it is the branch of the lower threads
                first = (tile_ops.read_statement(s) for s in _body_statements(present[0]))
                written = [name for statement in first for name in statement.writes]
                loop.producer_writes = tuple(dict.fromkeys(written)) if len(present) > 1 else ()
        else:
            loop.outcome, loop.decided_by = "removed", pass_name

    def _see_buffers(self, module: Any, pass_name: str | None) -> None:
        seen: dict[str, int] = {}
        for function in _functions(module):
            for block in _blocks(function):
                for buffer in block.alloc_buffers:
                    name = str(buffer.name)
                    seen[name] = seen.get(name, 0) + 1
                    self._see_buffer(buffer, self._own_name(name, seen[name]), pass_name)
        if pass_name is None:
            self._declared = seen

    def _own_name(self, name: str, occurrence: int) -> str:
        """A name of its own for each buffer that the kernel declares under one name.

        Passes copy declarations (into a prologue, say): only what was declared twice is two.
        """
        if self._declared is not None and occurrence > self._declared.get(name, 1):
            return name
        return name if occurrence == 1 else f"{name}#{occurrence}"

    def _see_buffer(self, buffer: Any, name: str, pass_name: str | None) -> None:
        scope = str(buffer.scope())
        if scope not in _VERSIONED_SCOPES:
            return
        shape = tuple(ir.extent_of(dim) for dim in buffer.shape)
        known = self._buffers.get(name)
        if known is None:
            bits = int(buffer.dtype.bits) * int(buffer.dtype.lanes)
            self._buffers[name] = SharedBufferSeen(scope, str(buffer.dtype), bits, shape)
            return
        extra = len(shape) - len(known.shape)
        if extra <= 0 or shape[extra:] != known.shape:
            return  # swizzled or flattened: says nothing about versions
        leading = tuple(dim for dim in shape[:extra] if isinstance(dim, int))
        if len(leading) == extra and leading != known.leading:
            known.leading = leading
            if pass_name is not None and pass_name not in known.versioned_by:
                known.versioned_by.append(pass_name)


def versions_of(leading: tuple[int, ...]) -> int:
    """How many copies of a buffer its leading dimensions make."""
    return math.prod(leading)


def _functions(module: Any) -> list[Any]:
    return [f for _, f in module.functions.items() if isinstance(f, tirx.PrimFunc)]


def _loops(function: Any) -> list[Any]:
    return [stmt for stmt in ir.statements(function.body) if isinstance(stmt, tirx.For)]


def _blocks(function: Any) -> list[Any]:
    return [stmt for stmt in ir.statements(function.body) if isinstance(stmt, ir.Block)]


def _request(loop: Any) -> _Loop:
    notes = ir.loop_annotations(loop)
    location = ir.user_location(loop)
    return _Loop(
        var=str(loop.loop_var.name),
        extent=ir.extent_of(loop.extent),
        num_stages=ir.constant(notes["num_stages"]) if "num_stages" in notes else None,
        order=_integers(notes.get("tl_pipeline_order")),
        stage=_integers(notes.get("tl_pipeline_stage")),
        file=location[0] if location else None,
        line=location[1] if location else None,
        statements=tuple(tile_ops.read_statement(stmt) for stmt in _body_statements(loop)),
    )


def _body_statements(loop: Any) -> list[Any]:
    body = loop.body
    while isinstance(body, ir.BlockRealize | ir.Block):
        body = body.block if isinstance(body, ir.BlockRealize) else body.body
    return list(body.seq) if isinstance(body, tirx.SeqStmt) else [body]


def _integers(values: Any) -> tuple[int, ...] | None:
    return None if values is None else tuple(int(value) for value in values)
