"""How is a statement of a scheduled loop said in a few words, such as ``copy A → A_shared``?

A statement of an S-TIR loop is a loop nest around one block; the block's name, what it reads and
what it writes say it.  A block that stores exactly one load of another buffer copies.
"""

from __future__ import annotations

from typing import Any

from stagebench.model.observation import SeenStatement
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.nodes import tirx


def body_statements(loop: Any) -> list[Any]:
    """The statements of a loop's body that stage and order lists speak of."""
    body = loop.body
    while isinstance(body, ir.BlockRealize | ir.Block):
        body = body.block if isinstance(body, ir.BlockRealize) else body.body
    return list(body.seq) if isinstance(body, tirx.SeqStmt) else [body]


def read_statement(stmt: Any) -> SeenStatement:
    """Summarise one statement, everything below it included."""
    stores = [node for node in ir.statements(stmt) if isinstance(node, tirx.BufferStore)]
    writes = _unique([str(store.buffer.name) for store in stores])
    reads: list[str] = []
    copies = [_copied(store) for store in stores]
    for node in ir.statements(stmt):
        for expr in ir.expressions(node):
            reads += [name for name in _loads(expr) if name not in writes]
        if isinstance(node, ir.Block):  # tensor intrinsics read and write through pointers
            reads += [str(storage.buffer_of(region).name) for region in node.reads]
            writes = _unique(
                [*writes, *(str(storage.buffer_of(region).name) for region in node.writes)]
            )
    names = tuple(name for name in _unique(reads) if name not in writes)
    is_copy = bool(copies) and all(source is not None for source in copies)
    word = "copy" if is_copy else "compute"
    left = f"{', '.join(names)} → " if names else "→ "
    return SeenStatement(
        summary=f"{word} {left}{', '.join(writes) or 'nothing'}",
        reads=names,
        writes=writes,
        is_copy=is_copy,
        line=None,
    )


def _copied(store: Any) -> str | None:
    """The buffer whose element a store writes unchanged."""
    value = store.value
    if isinstance(value, ir.BufferLoad) and not storage.buffer_of(value).same_as(store.buffer):
        return str(storage.buffer_of(value).name)
    return None


def _loads(expr: Any) -> list[str]:
    found: list[str] = []

    def visit(node: Any) -> None:
        if isinstance(node, ir.BufferLoad):
            found.append(str(storage.buffer_of(node).name))

    ir.post_order_visit(expr, visit)
    return found


def _unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
