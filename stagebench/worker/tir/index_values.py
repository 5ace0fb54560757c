"""Which values can an index of a barrier array take?

Ring indices are modular in a counter (``kk % 3 + 3``, or the same in shifts and masks), so a few
rounds show them all.  The expression is evaluated for the first `_ROUNDS` values of each of its
variables; a counter that is kept in memory counts from 0 as a loop variable does.

Answers ``None`` for more than two variables, or for a node that it does not know.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.nodes import bare_name, tirx

_ROUNDS = 16
_MOST_VARIABLES = 2


def _truncated(quotient: bool) -> Callable[[int, int], int]:
    def compute(left: int, right: int) -> int:
        whole = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return whole if quotient else left - right * whole

    return compute


_NODES: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "Div": _truncated(quotient=True),
    "Mod": _truncated(quotient=False),
    "Min": min,
    "Max": max,
    "BitwiseAnd": operator.and_,
    "BitwiseOr": operator.or_,
    "BitwiseXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}
_CALLS: dict[str, Callable[[int, int], int]] = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
}


class _UnknownNodeError(Exception):
    """A node that is not arithmetic."""


def index_values(index: Any, extents: Mapping[str, int]) -> frozenset[int] | None:
    """The values that ``index`` takes; ``extents`` are the trip counts of loops by variable."""
    leaves: list[str] = []
    try:

        def collect(name: str) -> int:
            leaves.append(name)
            return 1

        _evaluate(index, collect)
        names = sorted(set(leaves))
        if len(names) > _MOST_VARIABLES:
            return None
        ranges = [range(min(_ROUNDS, extents.get(name, _ROUNDS))) for name in names]
        return frozenset(
            _evaluate(index, dict(zip(names, values, strict=True)).__getitem__)
            for values in itertools.product(*ranges)
        )
    except (_UnknownNodeError, ZeroDivisionError, ValueError):
        return None


def _evaluate(node: Any, value_of: Callable[[str], int]) -> int:
    constant = ir.constant(node)
    if constant is not None:
        return constant
    if isinstance(node, ir.Var | ir.BufferLoad):
        return value_of(ir.text_of(node))
    if isinstance(node, tirx.Cast):
        return _evaluate(node.value, value_of)
    compute, operands = operation(node)
    if compute is None:
        raise _UnknownNodeError
    left, right = (_evaluate(operand, value_of) for operand in operands)
    return compute(left, right)


def operation(node: Any) -> tuple[Callable[[int, int], int] | None, list[Any]]:
    """How a node of arithmetic is computed, ``None`` for any other, and its operands."""
    if isinstance(node, ir.Call):
        return _CALLS.get(bare_name(ir.op_name(node))), list(node.args)
    return _NODES.get(type(node).__name__), [getattr(node, side, None) for side in ("a", "b")]
