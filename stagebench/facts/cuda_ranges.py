"""Which values does the variable of a ``for`` loop take?

``for (int i = a; i < b; i += c)`` and its mirror images are read; any other header is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from stagebench.facts.cuda_expressions import (
    ADDITIVE,
    MULTIPLICATIVE,
    Text,
    constant,
    operand,
    operator_of,
    render,
    without_parentheses,
)
from stagebench.model.base import Extent

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True)
class Range:
    """From ``start`` by ``step`` (not 0) as long as ``end`` is not reached, or passed."""

    start: Node
    end: Node
    step: int
    inclusive: bool

    def trips(self, start: int, end: int) -> int:
        """How many values there are between these two."""
        low, high = (start, end) if self.step > 0 else (end, start)
        return max(0, -((low - high - self.inclusive) // abs(self.step)))

    def extent(self, text: Text) -> Extent:
        """The number of values, an expression where the bounds are not constant."""
        low, high = (self.start, self.end) if self.step > 0 else (self.end, self.start)
        first, last = constant(low, text), constant(high, text)
        if first is not None and last is not None:
            return self.trips(*((first, last) if self.step > 0 else (last, first)))
        if first == 0 and not self.inclusive:
            shown = render(high, text)
        else:
            shown = operand(high, text, ADDITIVE, "-")
            if first != 0:
                shown += f" - {operand(low, text, MULTIPLICATIVE, '-')}"
            if self.inclusive:
                shown += " + 1"
        step = abs(self.step)
        return shown if step == 1 else f"ceildiv({shown}, {step})"


def induction(initializer: Node | None, text: Text) -> tuple[str, Node | None]:
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


def read_range(node: Node, name: str, start: Node, text: Text) -> Range | None:
    """Read the condition and the update of a ``for`` whose variable starts at ``start``."""
    condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
    step = _step(update, name, text) if update is not None else None
    bound = _bound(condition, name, text) if condition is not None else None
    if not step or bound is None:
        return None
    operator, end = bound
    if (operator[0] == "<") != (step > 0):
        return None
    return Range(start, end, step, inclusive=operator.endswith("="))


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
