"""How are TVM's IR nodes read?  The few accessors that the readers beside this module share.

Handles the statement and expression classes of Apache TVM 0.25 and of TileLang 0.1.15's copy of it
(``tvm.tirx``), and, under the name ``tvm.tir``, of TileLang before 0.1.10.  A process holds one
TVM: that of the compiler which its adapter imported first.  Everything here is a read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from stagebench.model import Extent

if "tvm" not in sys.modules:
    raise ImportError("an adapter imports its compiler before it imports readers of its IR")
tvm: Any = sys.modules["tvm"]
tirx: Any = getattr(tvm, "tirx", None) or tvm.tir

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
    """The TVMScript text of a node.  (Printing returns TVM's own kind of string: make it ours.)"""
    printed = str(node)
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
    elif isinstance(stmt, tirx.SBlockRealize):
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
    if isinstance(stmt, tirx.Evaluate | tirx.Bind):
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
