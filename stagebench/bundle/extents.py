"""Which integer is a symbolic extent, once the scalars have values?

An extent that the compiler could not prove constant is TVMScript text (``T.Cast("int64", K) *
T.int64(2)``).  Its arithmetic is evaluated here; whatever else stands in it is an error by name.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from stagebench.bundle.errors import BundleError
from stagebench.model import Extent

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: dict[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "ceildiv": lambda a, b: -(-a // b),
    "truncdiv": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "Div": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "shift_right": operator.rshift,
    "shift_left": operator.lshift,
    "bitwise_and": operator.and_,
    "int32": int,
    "int64": int,
    "uint32": int,
    "uint64": int,
}
"""Functions of TVMScript's ``T`` namespace that TileLang 0.1.15 prints in extents."""


def evaluate(extent: Extent, scalars: Mapping[str, int | float], what: str) -> int:
    """The integer that ``extent`` is; `BundleError` names ``what`` and the missing scalar."""
    if isinstance(extent, int):
        return extent
    try:
        tree = ast.parse(extent, mode="eval")
    except SyntaxError as exc:
        raise BundleError(f"{what} is {extent!r}, which can't be read") from exc
    try:
        return _value(tree.body, scalars)
    except KeyError as exc:
        name = str(exc.args[0])
        raise BundleError(
            f"{what} is {extent!r}: {name} has no value",
            hint=f"give it: --scalar {name}=1024",
        ) from exc
    except (ValueError, ZeroDivisionError, TypeError) as exc:
        raise BundleError(f"{what} is {extent!r}, which can't be evaluated: {exc}") from exc


def _value(node: ast.expr, scalars: Mapping[str, int | float]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return _whole(node.id, scalars[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, scalars)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left, scalars), _value(node.right, scalars)
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        name = node.func.attr
        if name == "Cast":  # Cast(dtype, value)
            return _value(node.args[1], scalars)
        if name in _CALLS:
            return _CALLS[name](*(_value(arg, scalars) for arg in node.args))
    raise ValueError(f"{ast.unparse(node)} is not known")


def _whole(name: str, value: float) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{name} is {value:g}, no whole number")
    return int(value)
