"""How are TileLang's IR nodes read?  As any TVM's, and with the Python line that they came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tilelang

from stagebench.worker.tir.nodes import (
    Bind,
    Block,
    BlockRealize,
    calls,
    children,
    constant,
    expressions,
    extent_of,
    loop_annotations,
    op_name,
    statements,
    text_of,
    tirx,
    variables,
)
from stagebench.worker.tir.storage import buffer_name

__all__ = [
    "Bind",
    "Block",
    "BlockRealize",
    "buffer_name",
    "calls",
    "children",
    "constant",
    "expressions",
    "extent_of",
    "loop_annotations",
    "op_name",
    "statements",
    "text_of",
    "tirx",
    "user_location",
    "variables",
]

_get_span: Any = getattr(tilelang.ir, "get_stmt_span", None)  # 0.1.13 and later keep the line
_COMPILER_TREE = str(Path(tilelang.__file__).parent)


def user_location(stmt: Any) -> tuple[str, int] | None:
    """File name (no folder) and 1-based line of the user's Python that a statement came from.

    ``None`` where the statement has no span (none has before 0.1.13) or one inside the compiler's
    own Python (the macro generators stamp their own lines on what they emit).
    """
    span = None if _get_span is None else _get_span(stmt)
    if span is None:
        return None
    file = str(span.source_name.name)
    if file.startswith(_COMPILER_TREE):
        return None
    return Path(file).name, int(span.line)
