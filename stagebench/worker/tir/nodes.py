"""How are TVM's IR nodes read?  The few accessors that the readers beside this module share.

Handles the nodes of the releases in `stagebench.worker.tir.classes`; a statement that none of them
has raises `UnreadableIRError`: it may hold what would be counted.  Everything here is a read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tvm_ffi

from stagebench.model import Extent
from stagebench.worker.tir.classes import (
    BITWISE,
    STATEMENTS,
    Analyzer,
    Bind,
    Block,
    BlockRealize,
    BufferLoad,
    Call,
    UnreadableIRError,
    Var,
    check_readable,
    post_order_visit,
    structural_hash,
    tirx,
    tvm,
)

__all__ = [
    "Analyzer",
    "Bind",
    "Block",
    "BlockRealize",
    "BufferLoad",
    "Call",
    "UnreadableIRError",
    "Var",
    "bare_name",
    "calls",
    "check_readable",
    "children",
    "constant",
    "expressions",
    "extent_of",
    "loop_annotations",
    "op_name",
    "post_order_visit",
    "statements",
    "structural_hash",
    "text_of",
    "tirx",
    "tvm",
    "variables",
]


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

    ``str`` of a node is its fields, not its script, in TileLang 0.1.9.  The bitwise nodes of 0.27
    are said as the calls that they were before (``T.bitwise_and(trip, 1)`` for ``trip & 1``), so
    that an expression has one text in every release.
    """
    if BITWISE and isinstance(node, tvm.ir.Expr):
        return _text_with_calls(node)
    printed = node.script() if hasattr(node, "script") else str(node)
    return str(printed)


def _text_with_calls(expr: Any) -> str:
    """The text of an expression in which a variable stands for each bitwise node, and its call."""
    calls_of: dict[str, str] = {}

    def name(node: Any) -> Any:
        operands = [getattr(node, side) for side in ("a", "b") if hasattr(node, side)]
        text = ", ".join(str(operand.script()) for operand in operands)
        label = f"bitwise_{len(calls_of)}_of_stagebench"
        calls_of[label] = f"T.{BITWISE[type(node)]}({text})"
        return Var(label, node.ty)

    text = str(tvm_ffi.structural_map(expr, [(tuple(BITWISE), name)]).script())
    for label, call in reversed(calls_of.items()):
        text = text.replace(label, call)
    return text


def constant(expr: Any) -> int | None:
    """The value of an integer constant, ``None`` for anything else."""
    value = extent_of(expr)
    return value if isinstance(value, int) else None


def children(stmt: Any) -> Iterator[Any]:
    """The direct sub-statements of a statement, in execution order."""
    _check_known(stmt)
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


def _check_known(stmt: Any) -> None:
    if not any(cls.__name__ in STATEMENTS for cls in type(stmt).__mro__):
        raise UnreadableIRError(f"statement {type(stmt).__name__}")


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
        if isinstance(node, Call):
            found.append(node)

    post_order_visit(expr, visit)
    return found


def variables(expr: Any) -> list[Any]:
    """All variables that an expression reads."""
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, Var):
            found.append(node)

    post_order_visit(expr, visit)
    return found


def reads_memory(expr: Any) -> bool:
    """Whether an expression loads from a buffer."""
    found = False

    def visit(node: Any) -> None:
        nonlocal found
        found = found or isinstance(node, BufferLoad)

    post_order_visit(expr, visit)
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
