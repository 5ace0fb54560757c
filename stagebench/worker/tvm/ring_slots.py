"""Which buffers are rings of slots, and which loops count round them?  By the author's own modulo.

TIRx has no pass that makes versions of a buffer: the author declares the slots as a leading
dimension and indexes it by a counter modulo its extent.  A leading dimension is a ring where some
index of it is such a modulo and all others are constants, variables or such.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagebench.worker.tir import nodes as ir
from stagebench.worker.tvm.intrinsics import short_name

_REMAINDERS = ("FloorMod", "Mod")
_REMAINDER_CALLS = ("truncmod", "floormod")


def modulus(node: Any) -> int | None:
    """``n`` of ``x % n``; ``n + 1`` of ``x & n`` where that is a power of two."""
    if type(node).__name__ in _REMAINDERS:
        return ir.constant(node.b)
    if type(node).__name__ == "BitwiseAnd":
        return _masked(ir.constant(node.b))
    if not isinstance(node, ir.Call) or len(node.args) != 2:
        return None
    name, right = short_name(ir.op_name(node)), ir.constant(node.args[1])
    if name in _REMAINDER_CALLS:
        return right
    return _masked(right) if name == "bitwise_and" else None


def _masked(mask: int | None) -> int | None:
    return mask + 1 if mask is not None and mask & (mask + 1) == 0 else None


def is_ring(extent: int, indices: Iterable[Any]) -> bool:
    """Whether a leading dimension of ``extent`` is a ring of that many slots.

    A variable alone says neither: an unrolled loop that fills the first slots has one.
    """
    varying = [index for index in indices if ir.constant(index) is None]
    found = [modulus(index) for index in varying if not isinstance(index, ir.Var)]
    return bool(found) and all(size == extent for size in found)


def counts_round(loop: Any, rings: frozenset[int]) -> bool:
    """Whether an expression below a loop takes its variable modulo a ring's size."""
    found = False

    def visit(node: Any) -> None:
        nonlocal found
        if found or modulus(node) not in rings:
            return
        left = node.args[0] if isinstance(node, ir.Call) else node.a
        found = any(var.same_as(loop.loop_var) for var in ir.variables(left))

    ir.post_order_visit(loop.body, visit)
    return found
