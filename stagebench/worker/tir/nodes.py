"""How are TVM's IR nodes read?  The few accessors that the readers beside this module share.

Handles the statement and expression classes of Apache TVM 0.25 and of TileLang 0.1.10 to 0.1.15
(``tvm.tirx``), and those of TileLang 0.1.9 (``tvm.tir``), which has other names for some and nests
what the later ones put in a row: ``Block`` for ``SBlock``, ``LetStmt`` with a body for ``Bind``,
``Allocate`` for ``AllocBuffer``.  A process holds one TVM: that of the compiler which its adapter
imported first.  Everything here is a read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tvm_ffi

from stagebench.model import Extent

if "tvm" not in sys.modules:
    raise ImportError("an adapter imports its compiler before it imports readers of its IR")
tvm: Any = sys.modules["tvm"]
tirx: Any = getattr(tvm, "tirx", None) or tvm.tir
structural_hash: Any = getattr(tvm.ir, "structural_hash", None) or tvm_ffi.structural_hash

Block: Any = getattr(tirx, "SBlock", None) or tirx.Block
BlockRealize: Any = getattr(tirx, "SBlockRealize", None) or tirx.BlockRealize
Bind: Any = getattr(tirx, "Bind", None) or tirx.LetStmt
"""A variable's definition: ``var`` and ``value``; what follows it is its ``body`` in 0.1.9."""

_AllocBuffer: Any = getattr(tirx, "AllocBuffer", None)
_Allocate: Any = getattr(tirx, "Allocate", None)

_post_order_visit = tirx.stmt_functor.post_order_visit


def extent_of(expr: Any) -> Extent:
    """An integer where the expression is a constant, else its TVMScript text."""
    if isinstance(expr, int):
        return int(expr)
    value = getattr(expr, "value", None)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str(value)
    return text_of(expr)


def text_of(node: Any) -> str:
    """The TVMScript text of a node.  (Printing returns TVM's own kind of string: make it ours.)

    ``str`` of a node is its fields, not its script, in TileLang 0.1.9.
    """
    printed = node.script() if hasattr(node, "script") else str(node)
    return str(printed)


def constant(expr: Any) -> int | None:
    """The value of an integer constant, ``None`` for anything else."""
    value = extent_of(expr)
    return value if isinstance(value, int) else None


def children(stmt: Any) -> Iterator[Any]:
    """The direct sub-statements of a statement, in execution order."""
    if isinstance(stmt, tirx.SeqStmt):
        yield from stmt.seq
    elif isinstance(stmt, tirx.IfThenElse):
        yield stmt.then_case
        if stmt.else_case is not None:
            yield stmt.else_case
    elif isinstance(stmt, BlockRealize):
        yield stmt.block
    else:
        if getattr(stmt, "init", None) is not None:
            yield stmt.init
        body = getattr(stmt, "body", None)
        if body is not None:
            yield body


def statements(stmt: Any) -> Iterator[Any]:
    """A statement and all below it, in execution order."""
    yield stmt
    for child in children(stmt):
        yield from statements(child)


def expressions(stmt: Any) -> Iterator[Any]:
    """The expressions that one statement itself evaluates (not those of its sub-statements)."""
    if isinstance(stmt, tirx.Evaluate | Bind):
        yield stmt.value
    elif isinstance(stmt, tirx.BufferStore):
        yield from stmt.indices
        yield stmt.value
    elif isinstance(stmt, tirx.IfThenElse | tirx.While):
        yield stmt.condition
    elif isinstance(stmt, tirx.For):
        yield stmt.extent


def calls(expr: Any) -> list[Any]:
    """All calls of named ops in an expression, innermost first."""
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.Call):
            found.append(node)

    _post_order_visit(expr, visit)
    return found


def variables(expr: Any) -> list[Any]:
    """All variables that an expression reads."""
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.Var):
            found.append(node)

    _post_order_visit(expr, visit)
    return found


def op_name(call: Any) -> str:
    """The full name of a call's op (``tl.tma_load``), or the name of the function it calls."""
    return str(getattr(call.op, "name", None) or getattr(call.op, "name_hint", call.op))


def loop_annotations(stmt: Any) -> dict[str, Any]:
    """A loop's annotations as a dictionary (empty where it has none)."""
    found = getattr(stmt, "annotations", None)
    return {str(key): value for key, value in found.items()} if found else {}


def bare_name(name: str) -> str:
    """An op's name without its namespace (``tl.``, ``tirx.``, ``tir.``)."""
    return name.rpartition(".")[2]


def buffer_name(buffer: Any) -> str:
    """The name of a buffer's storage: aliases of one allocation share it."""
    return str(buffer.data.name)


@dataclass(frozen=True)
class Allocation:
    """Storage that a statement allocates; ``shape`` is in elements of ``bits`` each."""

    name: str
    scope: str
    dtype: str
    bits: int
    shape: tuple[Extent, ...]
    buffer: Any | None
    """``None`` in TileLang 0.1.9, where a variable is allocated."""


def allocation(stmt: Any) -> Allocation | None:
    """What a statement allocates, ``None`` where it is no allocation."""
    buffer = None
    if _AllocBuffer is not None and isinstance(stmt, _AllocBuffer):
        buffer = stmt.buffer
        name, scope, shape = buffer_name(stmt.buffer), stmt.buffer.scope(), stmt.buffer.shape
        dtype = stmt.buffer.dtype
    elif _Allocate is not None and isinstance(stmt, _Allocate):
        pointer = stmt.buffer_var.type_annotation
        name, scope, shape = stmt.buffer_var.name, pointer.storage_scope, stmt.extents
        dtype = tvm.DataType(stmt.dtype)
    else:
        return None
    bits = int(dtype.bits) * int(dtype.lanes)
    extents = tuple(extent_of(dim) for dim in shape)
    return Allocation(str(name), str(scope), str(dtype), bits, extents, buffer)
