"""Does a wait on an mbarrier wait for data or for a free slot?  From the facts of its statement.

`Facts.barriers` says what each barrier of an array is for; which of them a wait may name follows
from the bounds of its index (``mbarrier[T.truncmod(k, 3) + 3]``), else from the role: a producer
waits for a free slot, a consumer for data.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from stagebench.model.facts import Barrier, SyncOp

Kind = Literal["full", "empty", "other"]
Bounds = tuple[int, int]
_MODULO = ("truncmod", "floormod")


def barrier_kind(op: SyncOp, barriers: Sequence[Barrier]) -> Kind | None:
    """What the barriers that a wait may name are for; ``None``: not known, or several things."""
    named = op.args.get("barrier")
    if not isinstance(named, str):
        return None
    name, bracket, index = named.partition("[")
    there = [barrier for barrier in barriers if barrier.name == name]
    bounds = _index_bounds(index.removesuffix("]"), op.loops) if bracket else (0, 0)
    if bounds is not None:
        low, high = bounds
        there = [one for one in there if one.first <= high and low < one.first + one.count]
    kinds: list[Kind] = sorted({one.kind for one in there})
    if len(kinds) == 1:
        return kinds[0]
    by_role: dict[str, Kind] = {"producer": "empty", "consumer": "full"}
    kind = by_role.get(op.role)
    return kind if kind in kinds else None


def _index_bounds(text: str, loops: Sequence[str]) -> Bounds | None:
    extents = {}
    for loop in loops:
        variable, _, extent = loop.partition("<")
        if extent.isdigit() and int(extent) > 0:
            extents[variable] = (0, int(extent) - 1)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:  # not every expression of an index has Python's syntax
        return None
    return _bounds(tree.body, extents)


def _bounds(node: ast.expr, extents: dict[str, Bounds]) -> Bounds | None:
    found: Bounds | None = None
    match node:
        case ast.Constant(value=int(value)):
            found = (value, value)
        case ast.Name(id=name):
            found = extents.get(name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _bounds(left, extents), _bounds(right, extents)
            if first is not None and second is not None:
                found = (first[0] + second[0], first[1] + second[1])
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int(divisor))):
            found = _remainder(_bounds(left, extents), divisor)
        case ast.Call(func=ast.Attribute(attr=attr), args=[left, ast.Constant(value=int(divisor))]):
            if attr in _MODULO:
                found = _remainder(_bounds(left, extents), divisor)
    return found


def _remainder(left: Bounds | None, divisor: int) -> Bounds | None:
    if divisor <= 0:
        return None
    if left is not None and 0 <= left[0] <= left[1] < divisor:
        return left
    return (0, divisor - 1)
