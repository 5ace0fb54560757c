"""Which classes does this process's TVM build its IR of, and how is a node of it visited?

What releases spell differently is looked up once, by name and never by version:

- TileLang 0.1.9 (``tvm.tir``) nests what the later ones put in a row: ``LetStmt`` with a body for
  ``Bind``, ``Allocate`` for ``AllocBuffer``; ``Block`` for ``SBlock``;
- TileLang 0.1.10 to 0.1.15 and Apache TVM 0.25 (``tvm.tirx``);
- Apache TVM 0.26: a buffer is a variable of type ``BufferType`` and its pointer a call
  (``tirx.buffer_data``), ``Call`` is ``tvm.ir``'s and a function has no ``buffer_map``;
- Apache TVM 0.27: blocks are ``tvm.s_tir``'s, a load is ``tvm.ir.TensorLoad``, bitwise operations
  are nodes, and ``tvm_ffi`` visits.

A process holds one TVM: that of the compiler which its adapter imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import tvm_ffi

if "tvm" not in sys.modules:
    raise ImportError("an adapter imports its compiler before it imports readers of its IR")
tvm: Any = sys.modules["tvm"]
tirx: Any = getattr(tvm, "tirx", None) or tvm.tir
structural_hash: Any = getattr(tvm.ir, "structural_hash", None) or tvm_ffi.structural_hash


class UnreadableIRError(Exception):
    """IR that this release of stagebench has no words for; the text names the node."""


class _Absent:
    """What no node is."""


_missing: list[str] = []


def _one_of(*places: tuple[Any, str]) -> Any:
    """The class of the first name that the release has; one without instances where it has none."""
    found = _maybe(*places)
    if found is _Absent:
        _missing.append(" or ".join(dict.fromkeys(name for _, name in places)))
    return found


def _maybe(*places: tuple[Any, str]) -> Any:
    """As `_one_of`, for a class that some releases do without."""
    for namespace, name in places:
        found = getattr(namespace, name, None)
        if isinstance(found, type):
            return found
    return _Absent


def check_readable() -> None:
    """Raise `UnreadableIRError` where the release has no class for what every IR is made of."""
    if _missing:
        raise UnreadableIRError(f"it has no class {', '.join(_missing)}")


_s_tir: Any = getattr(tvm, "s_tir", None)
Call: Any = _one_of((tirx, "Call"), (tvm.ir, "Call"))
Var: Any = _one_of((tirx, "Var"), (tvm.ir, "Var"))
BufferLoad: Any = _one_of((tirx, "BufferLoad"), (tvm.ir, "TensorLoad"))
Block: Any = _one_of((tirx, "SBlock"), (_s_tir, "SBlock"), (tirx, "Block"))
BlockRealize: Any = _one_of(
    (tirx, "SBlockRealize"), (_s_tir, "SBlockRealize"), (tirx, "BlockRealize")
)
Bind: Any = _one_of((tirx, "Bind"), (tirx, "LetStmt"))
"""A variable's definition: ``var`` and ``value``; what follows it is its ``body`` in 0.1.9."""
Analyzer: Any = _one_of(
    (getattr(tvm, "arith", None), "Analyzer"), (getattr(tvm, "sym", None), "Analyzer")
)

AllocBuffer: Any = _maybe((tirx, "AllocBuffer"))
Allocate: Any = _maybe((tirx, "Allocate"))
DeclBuffer: Any = _maybe((tirx, "DeclBuffer"))
BufferType: Any = _maybe((tirx, "BufferType"))
_Expr: Any = _maybe((tvm.ir, "Expr"))

BITWISE: dict[Any, str] = {
    cls: name
    for cls, name in (
        (_maybe((tirx, "BitwiseAnd")), "bitwise_and"),
        (_maybe((tirx, "BitwiseOr")), "bitwise_or"),
        (_maybe((tirx, "BitwiseXor")), "bitwise_xor"),
        (_maybe((tirx, "BitwiseNot")), "bitwise_not"),
        (_maybe((tirx, "LShift")), "shift_left"),
        (_maybe((tirx, "RShift")), "shift_right"),
    )
    if cls is not _Absent
}
"""The nodes of 0.27 and later for what was a call until then, with that call's name."""

STATEMENTS = frozenset(
    {
        "AllocBuffer", "Allocate", "AllocateConst", "AssertStmt", "AttrStmt", "Bind", "Block",
        "BlockRealize", "Break", "BufferRealize", "BufferStore", "Continue", "DeclBuffer",
        "Evaluate", "For", "IfThenElse", "LetStmt", "Return", "SBlock", "SBlockRealize",
        "ScopeIdDefStmt", "SeqStmt", "TilePrimitiveCall", "While",
    }
)  # fmt: skip
"""Every statement class of the releases above; subclasses (a tile primitive each) are of them."""


def post_order_visit(node: Any, visit: Callable[[Any], None]) -> None:
    """Visit a node and what it is made of, each node once, children first.

    A load names its buffer and does not read it as a variable; types are not visited.
    """
    native = getattr(getattr(tirx, "stmt_functor", None), "post_order_visit", None)
    if native is not None:
        native(node, visit)
        return
    seen: set[int] = set()

    def note(found: Any) -> None:
        if isinstance(found, _Expr | tirx.Stmt) and found.id_ not in seen:
            seen.add(found.id_)
            visit(found)

    def visit_accesses(access: Any, visitor: Any) -> None:
        for index in access.indices:
            visitor.visit(index)
        if isinstance(access, tirx.BufferStore):
            visitor.visit(access.value)
        note(access)

    def visit_other(found: Any, visitor: Any) -> None:
        visitor.default_visit(found)
        note(found)

    tvm_ffi.structural_visit(
        node,
        [
            (Var, lambda var, _: note(var)),
            (tvm.ir.Type, lambda *_: None),
            ((BufferLoad, tirx.BufferStore), visit_accesses),
            (tvm_ffi.Object, visit_other),
        ],
    )
