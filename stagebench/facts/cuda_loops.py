"""How often does this loop run?  Trip counts of ``for`` headers, and products of them."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from stagebench.facts.cuda_expressions import (
    ADDITIVE,
    MULTIPLICATIVE,
    Text,
    constant,
    operand,
    operator_of,
    render,
    squeeze,
    without_parentheses,
)
from stagebench.facts.cuda_records import CudaLoop
from stagebench.model.base import Extent

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def for_loop(node: Node, text: Text, line: int, *, exits_early: bool) -> CudaLoop:
    """Read a ``for`` statement; ``for (int i = a; i < b; i += c)`` and its mirror images count.

    Any other header gives the extent ``trips(<header>)``.
    """
    name, start = _induction(node.child_by_field_name("initializer"), text)
    extent = None if start is None else _trips(node, name, start, text)
    if extent is None:
        parts = [node.child_by_field_name(part) for part in ("initializer", "condition", "update")]
        shown = [squeeze(text(part)).rstrip(";") if part is not None else "" for part in parts]
        extent = f"trips(for ({'; '.join(shown)}))"
    return CudaLoop(var=name, extent=extent, line=line, exits_early=exits_early)


def product(extents: Iterable[Extent]) -> Extent:
    """Multiply trip counts: an integer, or ``16 * (K + 31)`` with the integers in front."""
    return join_product(*split_product(extents))


def split_product(extents: Iterable[Extent]) -> tuple[int, tuple[str, ...]]:
    """Split a product into its integer part and its symbolic factors, in order."""
    factor, symbols = 1, []
    for extent in extents:
        if isinstance(extent, int):
            factor *= extent
        else:
            symbols.append(extent)
    return factor, (tuple(symbols) if factor else ())


def join_product(factor: int, symbols: tuple[str, ...], *, alone: bool = True) -> Extent:
    """Write ``factor`` times ``symbols``; ``alone`` unless it will be a term of a sum."""
    if not symbols:
        return factor
    bare = alone and factor == 1 and len(symbols) == 1
    shown = [symbol if bare or _is_closed(symbol) else f"({symbol})" for symbol in symbols]
    return " * ".join(([] if factor == 1 else [str(factor)]) + shown)


def _is_closed(expression: str) -> bool:
    """Whether an expression can stand in a product without parentheses: a name or a call."""
    depth = 0
    for character in expression:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in " +-*/%&|^<>?":
            return False
    return not expression.startswith("(")


def _induction(initializer: Node | None, text: Text) -> tuple[str, Node | None]:
    """Read the variable that ``int i = a`` or ``i = a`` sets, and ``a``; never more than one."""
    assigned = initializer
    if initializer is not None and initializer.type == "declaration":
        declarators = initializer.children_by_field_name("declarator")
        assigned = declarators[0] if len(declarators) == 1 else None
    if assigned is None:
        return "", None
    if assigned.type == "init_declarator":
        name, start = assigned.child_by_field_name("declarator"), "value"
    elif assigned.type == "assignment_expression" and operator_of(assigned) == "=":
        name, start = assigned.child_by_field_name("left"), "right"
    else:
        return "", None
    known = name is not None and name.type == "identifier"
    return (text(name), assigned.child_by_field_name(start)) if name and known else ("", None)


def _trips(node: Node, name: str, start: Node, text: Text) -> Extent | None:
    condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
    step = _step(update, name, text) if update is not None else None
    bound = _bound(condition, name, text) if condition is not None else None
    if step is None or bound is None:
        return None
    operator, end = bound
    inclusive = operator.endswith("=")
    if operator[0] == "<" and step > 0:
        return _distance(start, end, step, inclusive=inclusive, text=text)
    if operator[0] == ">" and step < 0:
        return _distance(end, start, -step, inclusive=inclusive, text=text)
    return None


def _bound(condition: Node, name: str, text: Text) -> tuple[str, Node] | None:
    """Read ``i < end`` or ``end > i`` as ``("<", end)``."""
    condition = without_parentheses(condition)
    operator = operator_of(condition)
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    if left is None or right is None or operator not in _MIRRORED:
        return None
    if text(without_parentheses(left)) == name:
        return operator, right
    if text(without_parentheses(right)) == name:
        return _MIRRORED[operator], left
    return None


def _step(update: Node, name: str, text: Text) -> int | None:
    """Read ``++i``, ``i--``, ``i += c`` or ``i = i + c``."""
    operator = operator_of(update)
    if update.type == "update_expression":
        argument = update.child_by_field_name("argument")
        steps = {"++": 1, "--": -1}
        return steps.get(operator) if argument is not None and text(argument) == name else None
    left, amount = update.child_by_field_name("left"), update.child_by_field_name("right")
    if update.type != "assignment_expression" or left is None or text(left) != name:
        return None
    if operator == "=" and amount is not None:
        amount = without_parentheses(amount)
        base = amount.child_by_field_name("left")
        if base is None or text(without_parentheses(base)) != name:
            return None
        operator, amount = operator_of(amount) + "=", amount.child_by_field_name("right")
    value = constant(amount, text)
    sign = {"+=": 1, "-=": -1}.get(operator)
    return None if value is None or sign is None else sign * value


def _distance(low: Node, high: Node, step: int, *, inclusive: bool, text: Text) -> Extent:
    first, last = constant(low, text), constant(high, text)
    if first is not None and last is not None:
        return max(0, -((first - last - inclusive) // step))
    if first == 0 and not inclusive:
        shown = render(high, text)
    else:
        shown = operand(high, text, ADDITIVE, "-")
        if first != 0:
            shown += f" - {operand(low, text, MULTIPLICATIVE, '-')}"
        if inclusive:
            shown += " + 1"
    return shown if step == 1 else f"ceildiv({shown}, {step})"
