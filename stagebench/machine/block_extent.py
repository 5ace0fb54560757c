"""How large is a symbolic extent of the generated CUDA in one block?

An extent may depend on the block alone, such as ``2 * (blockIdx.x + 1)``.  For the block that is
walked it is a number.  Only sums, products, quotients and shifts of integers and block indices are
computed, as C does it for operands that are not negative; anything else stays symbolic.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence

from stagebench.model import Extent

_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
_DIVIDES = re.compile(r"(?<!/)/(?!/)")
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.RShift: operator.rshift,
}
_UNSIGNED_ONLY = (ast.FloorDiv, ast.Mod, ast.RShift)


def extent_in_block(extent: Extent | None, block: Sequence[int]) -> Extent | None:
    """Return a number where the extent has one in this block, else the extent as it was."""
    if extent is None or isinstance(extent, int):
        return extent
    try:
        tree = ast.parse(_DIVIDES.sub("//", extent), mode="eval")
        value = _value(tree.body, dict(zip(_AXES, block, strict=True)))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return extent
    return extent if value < 0 else value


def _value(node: ast.expr, indices: Mapping[str, int]) -> int:
    """Raises `ValueError` for what is no integer arithmetic of block indices."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Attribute) and ast.unparse(node) in indices:
        return indices[ast.unparse(node)]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _value(node.left, indices), _value(node.right, indices)
        if isinstance(node.op, _UNSIGNED_ONLY) and (left < 0 or right < 0):
            raise ValueError("C rounds otherwise")
        return _OPERATIONS[type(node.op)](left, right)
    raise ValueError("symbolic")
