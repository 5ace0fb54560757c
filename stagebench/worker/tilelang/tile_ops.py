"""How is a statement of a pipelined loop said in a few words, such as ``copy A → lhs``?

Read from tile operators (``tl.tileop.*``) while they are still whole, that is before
``tl.LowerTileOp``.  Regions carry an access mask: 1 read, 2 write, 3 both
(``src/op/region.h``, TileLang 0.1.15).
"""

from __future__ import annotations

from typing import Any

from stagebench.model.observation import SeenStatement
from stagebench.worker.tilelang import ir
from stagebench.worker.tilelang.ir import tirx
from stagebench.worker.tir.nodes import bare_name

_COPIES = ("copy", "async_copy", "tma_copy", "im2col", "c2d_im2col")
_READ, _WRITE = 1, 2
_SERIAL = 0  # tirx.ForKind.SERIAL; parallel loops are one statement of the tile language


def read_statement(stmt: Any) -> SeenStatement:
    """Summarise one statement, everything below it included."""
    reads: list[str] = []
    writes: list[str] = []
    words: list[str] = []
    bound: list[str] = []
    computed: list[str] = []
    line: int | None = None
    only_copies = True
    for node in ir.statements(stmt):
        location = ir.user_location(node)
        if line is None and location is not None:
            line = location[1]
        if isinstance(node, tirx.IfThenElse):
            words.append(f"if {ir.text_of(node.condition)}:")
        elif isinstance(node, tirx.For) and int(node.kind) == _SERIAL:
            words.append(f"loop {node.loop_var.name}:")
        elif isinstance(node, tirx.BufferStore):
            writes.append(ir.buffer_name(node.buffer))
            computed.append(writes[-1])
            reads += [name for name in _loads(node.value) if name != writes[-1]]
            only_copies = False
        elif isinstance(node, ir.Bind):
            bound.append(f"bind {node.var.name}")
            reads += _loads(node.value)
            only_copies = False
        elif isinstance(node, tirx.Evaluate) and isinstance(node.value, tirx.Call):
            word, is_copy = _operator(node.value, reads, writes)
            words.append(word)
            only_copies = only_copies and is_copy
    if computed:
        words.append(f"compute → {', '.join(_unique(computed))}")
    elif not words or all(word.endswith(":") for word in words):
        words += bound or ["compute → nothing"]
    return SeenStatement(
        summary=_sentence(_unique(words)),
        reads=_unique(reads),
        writes=_unique(writes),
        is_copy=only_copies,
        line=line,
    )


def _sentence(words: tuple[str, ...]) -> str:
    """``loop kk: copy A → lhs; gemm lhs → acc``: a colon opens, a semicolon goes on."""
    text = ""
    for word in words:
        text += word if not text else f" {word}" if text.endswith(":") else f"; {word}"
    return text


def _operator(call: Any, reads: list[str], writes: list[str]) -> tuple[str, bool]:
    name = bare_name(ir.op_name(call))
    sources: list[str] = []
    targets: list[str] = []
    for arg in call.args:
        if isinstance(arg, tirx.Call) and bare_name(ir.op_name(arg)) == "region":
            buffer = str(arg.args[0].buffer.name)
            mask = ir.constant(arg.args[1]) or 0
            if mask & _READ:
                sources.append(buffer)
            if mask & _WRITE:
                targets.append(buffer)
    reads += sources
    writes += targets
    sources = [source for source in sources if source not in targets]
    if not sources and not targets:
        return name, False
    left = f"{', '.join(_unique(sources))} → " if sources else "→ "
    return f"{name} {left}{', '.join(_unique(targets))}", name in _COPIES


def _loads(expr: Any) -> list[str]:
    found: list[str] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.BufferLoad):
            found.append(ir.buffer_name(node.buffer))

    tirx.stmt_functor.post_order_visit(expr, visit)
    return found


def _unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
