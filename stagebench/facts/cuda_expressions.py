"""What is the value of this expression?  An integer where it is one, else short C.

An expression is evaluated where every leaf is an integer literal.  Any other is written as people
write it: casts to integer types and parentheses that change nothing are left out, so that
``(((int)blockIdx.x) + 1)`` becomes ``blockIdx.x + 1``.  Integer arithmetic is C's (division
truncates); overflow is not modelled, and the sign that a cast may change isn't either.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from stagebench.model.base import Extent

Text = Callable[[Node], str]
"""Gives the source of a node (``CudaTree.text``)."""

# C++ operator precedence, higher binds tighter ([expr] in the C++ standard).
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
ADDITIVE, MULTIPLICATIVE = _PRECEDENCE["+"], _PRECEDENCE["*"]
_ATOM, _UNARY, _LOOSE = 20, 15, 0

# What stands inside an operator without parentheses, where precedence allows it.  Any other mix
# keeps them: `(K + 31) >> 5` is right without, but nobody reads it so.
_ARITHMETIC = frozenset("+-*/%")
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_FAMILIAR = {
    "+": _ARITHMETIC,
    "-": _ARITHMETIC,
    "*": frozenset("*"),
    **dict.fromkeys(_COMPARISONS, _ARITHMETIC),
    "&&": _COMPARISONS | {"&&"},
    "||": _COMPARISONS | {"||"},
}
_ASSOCIATIVE = frozenset(("+", "*", "&&", "||"))

_INTEGER_LITERAL = re.compile(
    r"([-+]?)(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)[uUlLzZ]*\Z"
)
_INTEGER_TYPE = re.compile(
    r"(?:const\s+)?(?:(?:un)?signed|u?(?:int|long|short|char)|size_t|u?int(?:8|16|32|64)_t|\s)+\Z"
)


def constant(node: Node | None, text: Text) -> int | None:
    """Evaluate an expression made of integer literals only; ``None`` for any other."""
    evaluate = _EVALUATE.get(node.type) if node is not None else None
    return None if evaluate is None or node is None else evaluate(node, text)


def value_of(node: Node, text: Text) -> Extent:
    """Evaluate an expression, or write it if it isn't constant."""
    value = constant(node, text)
    return render(node, text) if value is None else value


def render(node: Node, text: Text) -> str:
    """Write an expression as short C, on one line."""
    return _render(node, text)[0]


def operand(node: Node, text: Text, precedence: int, parent: str) -> str:
    """Write an operand of ``parent``, in parentheses where they are needed or help to read."""
    shown, own, operator = _render(node, text)
    familiar = not parent or own >= _UNARY or operator in _FAMILIAR.get(parent, ())
    return shown if own >= precedence and familiar else f"({shown})"


def operator_of(node: Node) -> str:
    """Return the operator of an expression, or an empty string."""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def without_parentheses(node: Node) -> Node:
    """Return what parentheses around an expression hold."""
    while node.type == "parenthesized_expression" and len(named(node)) == 1:
        node = named(node)[0]
    return node


def named(node: Node) -> list[Node]:
    """Return the named children of a node that are not comments."""
    return [child for child in node.named_children if child.type != "comment"]


def squeeze(source: str) -> str:
    """Put text on one line, with single spaces."""
    return " ".join(source.split())


# -- evaluation -----------------------------------------------------------------------------------


def _literal(node: Node, text: Text) -> int | None:
    match = _INTEGER_LITERAL.match(text(node))
    if match is None:
        return None
    digits = match[2].replace("'", "")
    is_octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    value = int(digits, 8 if is_octal else 0)
    return -value if match[1] == "-" else value  # the grammar puts a sign into the literal


def _truth(node: Node, text: Text) -> int | None:
    return int(text(node) == "true")


def _inside(node: Node, text: Text) -> int | None:
    inner = without_parentheses(node)
    return None if inner == node else constant(inner, text)


def _cast(node: Node, text: Text) -> int | None:
    if not is_integer_cast(node, text):
        return None
    return constant(node.child_by_field_name("value"), text)


def _unary(node: Node, text: Text) -> int | None:
    value = constant(node.child_by_field_name("argument"), text)
    if value is None:
        return None
    return {"-": -value, "+": value, "!": int(not value), "~": ~value}.get(operator_of(node))


def _binary(node: Node, text: Text) -> int | None:
    left = constant(node.child_by_field_name("left"), text)
    right = constant(node.child_by_field_name("right"), text)
    compute = COMPUTE.get(operator_of(node))
    return None if left is None or right is None or compute is None else compute(left, right)


def _conditional(node: Node, text: Text) -> int | None:
    condition = constant(node.child_by_field_name("condition"), text)
    if condition is None:
        return None
    return constant(node.child_by_field_name("consequence" if condition else "alternative"), text)


def _divide(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _modulo(left: int, right: int) -> int | None:
    quotient = _divide(left, right)
    return None if quotient is None else left - quotient * right


_EVALUATE: dict[str, Callable[[Node, Text], int | None]] = {
    "number_literal": _literal,
    "true": _truth,
    "false": _truth,
    "parenthesized_expression": _inside,
    "cast_expression": _cast,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "conditional_expression": _conditional,
}
COMPUTE: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": _modulo,
    "<<": lambda a, b: a << b if 0 <= b < 64 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else None,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
}


# -- writing --------------------------------------------------------------------------------------

_Shown = tuple[str, int, str]
"""Text, precedence of the outermost operator, and that operator."""


def _render(node: Node, text: Text) -> _Shown:
    write = _WRITE.get(node.type)
    shown = write(node, text) if write is not None else None
    if shown is not None:
        return shown
    is_atom = node.type.endswith(("identifier", "literal")) or node.type in _ATOMS
    return squeeze(text(node)), _ATOM if is_atom else _LOOSE, ""


def _write_number(node: Node, text: Text) -> _Shown | None:
    value = _literal(node, text)
    return None if value is None else (str(value), _UNARY if value < 0 else _ATOM, "")


def _write_inside(node: Node, text: Text) -> _Shown | None:
    inner = without_parentheses(node)
    return None if inner == node else _render(inner, text)


def _write_cast(node: Node, text: Text) -> _Shown | None:
    value = node.child_by_field_name("value")
    return _render(value, text) if value is not None and is_integer_cast(node, text) else None


def _write_unary(node: Node, text: Text) -> _Shown | None:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return None
    return operator_of(node) + operand(argument, text, _UNARY, ""), _UNARY, ""


def _write_pointer(node: Node, text: Text) -> _Shown | None:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return None
    return node.children[0].type + operand(argument, text, _UNARY, ""), _UNARY, ""


def _write_binary(node: Node, text: Text) -> _Shown | None:
    operator = operator_of(node)
    precedence = _PRECEDENCE.get(operator)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or precedence is None:
        return None
    first = operand(left, text, precedence, operator)
    # The right operand of `-`, `/` … keeps its parentheses: they associate to the left.
    second = operand(right, text, precedence + (operator not in _ASSOCIATIVE), operator)
    return f"{first} {operator} {second}", precedence, operator


def _write_conditional(node: Node, text: Text) -> _Shown | None:
    names = ("condition", "consequence", "alternative")
    parts = [part for name in names if (part := node.child_by_field_name(name)) is not None]
    if len(parts) != len(names):
        return None
    condition, consequence, alternative = (operand(part, text, 1, "") for part in parts)
    return f"{condition} ? {consequence} : {alternative}", _LOOSE, ""


def _write_call(node: Node, text: Text) -> _Shown | None:
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return None
    shown = ", ".join(render(child, text) for child in named(arguments))
    return f"{squeeze(text(function))}({shown})", _ATOM, ""


def _write_subscript(node: Node, text: Text) -> _Shown | None:
    base = node.child_by_field_name("argument")
    indices = node.child_by_field_name("indices")
    if base is None or indices is None:
        return None
    shown = ", ".join(render(child, text) for child in named(indices))
    return f"{operand(base, text, _ATOM, '')}[{shown}]", _ATOM, ""


def _write_clause(node: Node, text: Text) -> _Shown | None:
    value = node.child_by_field_name("value")
    return _render(value, text) if value is not None and len(named(node)) == 1 else None


def is_integer_cast(node: Node, text: Text) -> bool:
    """Whether a cast is to an integer type."""
    target = node.child_by_field_name("type")
    return target is not None and _INTEGER_TYPE.match(squeeze(text(target))) is not None


_ATOMS = frozenset(("field_expression", "template_function", "this", "true", "false", "null"))
_WRITE: dict[str, Callable[[Node, Text], _Shown | None]] = {
    "number_literal": _write_number,
    "parenthesized_expression": _write_inside,
    "cast_expression": _write_cast,
    "unary_expression": _write_unary,
    "pointer_expression": _write_pointer,
    "binary_expression": _write_binary,
    "conditional_expression": _write_conditional,
    "call_expression": _write_call,
    "subscript_expression": _write_subscript,
    "condition_clause": _write_clause,
}
