"""How often does this loop run, and how do we write an expression that isn't constant?

Expressions are read from the syntax tree: evaluated where every leaf is an integer literal, else
written as short C: casts to integer types and parentheses that change nothing are left out, so that
``((K + 31) >> 5) - 1`` and ``(((int)blockIdx.x) + 1)`` read as people write them.  Integer
arithmetic is C's (division truncates); overflow is not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tree_sitter import Node

from stagebench.facts.cuda_records import CudaLoop
from stagebench.model.base import Extent

# C++ operator precedence, higher binds tighter ([expr] in the C++ standard).
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_ATOM = 20
_UNARY = 15
_TERNARY = 0
# What stands inside an operator without parentheses, where precedence allows it.  Any other mix keeps
# them: `(K + 31) >> 5` is right without, but nobody reads it so.
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

_INTEGER_LITERAL = re.compile(r"(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\Z")
_INTEGER_TYPE = re.compile(
    r"(?:const\s+)?(?:(?:un)?signed|int|long|short|char|size_t|u?int(?:8|16|32|64)_t|\s)+\Z"
)

Text = Callable[[Node], str]


def constant(node: Node | None, text: Text) -> int | None:
    """The value of an expression made of integer literals only, else ``None``."""
    if node is None:
        return None
    kind = node.type
    if kind == "number_literal":
        return _literal(text(node))
    if kind in ("true", "false"):
        return int(kind == "true")
    if kind == "parenthesized_expression":
        return constant(_inner(node), text)
    if kind == "cast_expression" and _is_integer_cast(node, text):
        return constant(node.child_by_field_name("value"), text)
    if kind == "unary_expression":
        return _unary(node, text)
    if kind == "binary_expression":
        left = constant(node.child_by_field_name("left"), text)
        right = constant(node.child_by_field_name("right"), text)
        if left is None or right is None:
            return None
        return _binary(_operator(node), left, right)
    if kind == "conditional_expression":
        condition = constant(node.child_by_field_name("condition"), text)
        if condition is None:
            return None
        return constant(
            node.child_by_field_name("consequence" if condition else "alternative"), text
        )
    return None


def value_of(node: Node, text: Text) -> Extent:
    """The constant value of an expression, else its text."""
    value = constant(node, text)
    return render(node, text) if value is None else value


def render(node: Node, text: Text) -> str:
    """An expression as short C, on one line."""
    return _render(node, text)[0]


def _render(node: Node, text: Text) -> tuple[str, int, str]:
    """The text, the precedence of its outermost operator, and that operator."""
    kind = node.type
    if kind == "parenthesized_expression":
        inner = _inner(node)
        return _render(inner, text) if inner is not None else (squeeze(text(node)), _ATOM, "")
    if kind == "cast_expression" and _is_integer_cast(node, text):
        value = node.child_by_field_name("value")
        return _render(value, text) if value is not None else (squeeze(text(node)), _ATOM, "")
    if kind == "number_literal":
        value_or_none = _literal(text(node))
        return (text(node) if value_or_none is None else str(value_or_none)), _ATOM, ""
    if kind == "unary_expression":
        argument = node.child_by_field_name("argument")
        if argument is not None:
            return _operator(node) + _operand(argument, text, _UNARY, ""), _UNARY, ""
    if kind == "binary_expression":
        return _render_binary(node, text)
    if kind == "conditional_expression":
        parts = [
            node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")
        ]
        if all(part is not None for part in parts):
            shown = [_operand(part, text, 1, "") for part in parts if part is not None]
            return f"{shown[0]} ? {shown[1]} : {shown[2]}", _TERNARY, ""
    if kind == "call_expression":
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is not None and arguments is not None:
            shown = [render(child, text) for child in named(arguments)]
            return f"{squeeze(text(function))}({', '.join(shown)})", _ATOM, ""
    if kind == "subscript_expression":
        base = node.child_by_field_name("argument")
        indices = node.child_by_field_name("indices")
        if base is not None and indices is not None:
            shown = [render(child, text) for child in named(indices)]
            return f"{_operand(base, text, _ATOM, '')}[{', '.join(shown)}]", _ATOM, ""
    if kind == "condition_clause":
        value = node.child_by_field_name("value")
        if value is not None and node.named_child_count == 1:
            return _render(value, text)
    atom = kind.endswith(("identifier", "_literal", "expression")) and kind not in (
        "cast_expression", "comma_expression", "assignment_expression", "pointer_expression",
        "update_expression",
    )  # fmt: skip
    return squeeze(text(node)), (_ATOM if atom else _TERNARY), ""


def _render_binary(node: Node, text: Text) -> tuple[str, int, str]:
    operator = _operator(node)
    precedence = _PRECEDENCE.get(operator, _TERNARY)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or not precedence:
        return squeeze(text(node)), _TERNARY, ""
    left_text = _operand(left, text, precedence, operator)
    # The right operand of `-`, `/` … keeps its parentheses: they associate to the left.
    right_text = _operand(right, text, precedence + (operator not in _ASSOCIATIVE), operator)
    return f"{left_text} {operator} {right_text}", precedence, operator


def _operand(node: Node, text: Text, precedence: int, parent: str) -> str:
    shown, own, operator = _render(node, text)
    familiar = not parent or own >= _UNARY or operator in _FAMILIAR.get(parent, ())
    return shown if own >= precedence and familiar else f"({shown})"


def for_loop(node: Node, text: Text, line: int, *, exits_early: bool) -> CudaLoop:
    """Read a ``for`` header: ``for (int i = a; i < b; i += c)`` and its mirror images."""
    name, start = _induction(node.child_by_field_name("initializer"), text)
    extent = _trips(node, name, start, text)
    if extent is None:
        body = node.child_by_field_name("body")
        end = body.start_byte if body is not None else node.end_byte
        header = text(node).encode()[: end - node.start_byte].decode(errors="replace")
        extent = f"trips({squeeze(header)})"
    return CudaLoop(var=name, extent=extent, line=line, exits_early=exits_early)


def _induction(initializer: Node | None, text: Text) -> tuple[str, Node | None]:
    """The variable that ``int i = a`` or ``i = a`` sets, and ``a``; more than one is not read."""
    if initializer is None:
        return "", None
    if initializer.type == "declaration":
        declarators = initializer.children_by_field_name("declarator")
        if len(declarators) != 1 or declarators[0].type != "init_declarator":
            return "", None
        name = declarators[0].child_by_field_name("declarator")
        start = declarators[0].child_by_field_name("value")
    elif initializer.type == "assignment_expression" and _operator(initializer) == "=":
        name = initializer.child_by_field_name("left")
        start = initializer.child_by_field_name("right")
    else:
        return "", None
    return (text(name), start) if name is not None and name.type == "identifier" else ("", None)


def _trips(node: Node, name: str, start: Node | None, text: Text) -> Extent | None:
    condition = node.child_by_field_name("condition")
    update = node.child_by_field_name("update")
    if not name or start is None or condition is None or update is None:
        return None
    while condition.type == "parenthesized_expression":
        inner = _inner(condition)
        if inner is None:
            return None
        condition = inner
    step = _step(update, name, text)
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    if condition.type != "binary_expression" or not step or left is None or right is None:
        return None
    operator = _operator(condition)
    if text(left) != name:
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    if text(left) != name:
        return None
    upward = operator in ("<", "<=") and step > 0
    downward = operator in (">", ">=") and step < 0
    if not upward and not downward:
        return None
    low, high = (start, right) if upward else (right, start)
    return _distance(low, high, abs(step), inclusive="=" in operator, text=text)


def _step(update: Node, name: str, text: Text) -> int | None:
    if update.type == "update_expression":
        argument = update.child_by_field_name("argument")
        if argument is None or text(argument) != name:
            return None
        return {"++": 1, "--": -1}.get(_operator(update))
    if update.type != "assignment_expression":
        return None
    left, right = update.child_by_field_name("left"), update.child_by_field_name("right")
    if left is None or right is None or text(left) != name:
        return None
    operator = _operator(update)
    if operator == "=" and right.type == "binary_expression":  # i = i + c
        base, amount = right.child_by_field_name("left"), right.child_by_field_name("right")
        if base is None or text(base) != name or _operator(right) not in "+-":
            return None
        operator, right = _operator(right) + "=", amount
    value = constant(right, text)
    if value is None or operator not in ("+=", "-="):
        return None
    return value if operator == "+=" else -value


def _distance(low: Node, high: Node, step: int, *, inclusive: bool, text: Text) -> Extent:
    first, last = constant(low, text), constant(high, text)
    if first is not None and last is not None:
        return max(0, -((first - last - inclusive) // step))
    shown = _operand(high, text, _PRECEDENCE["+"], "-")
    if first != 0:
        shown = f"{shown} - {_operand(low, text, _PRECEDENCE['*'], '-')}"
    if inclusive:
        shown = f"{shown} + 1"
    if first == 0 and not inclusive:
        shown = render(high, text)
    return shown if step == 1 else f"ceildiv({shown}, {step})"


def product(extents: Iterable[Extent]) -> Extent:
    """The product of trip counts: an integer, or ``16 * (K + 31)`` with the integers in front."""
    factor, symbols = split_product(extents)
    return join_product(factor, symbols)


def split_product(extents: Iterable[Extent]) -> tuple[int, tuple[str, ...]]:
    """The integer part of a product and its symbolic factors, in order."""
    factor, symbols = 1, []
    for extent in extents:
        if isinstance(extent, int):
            factor *= extent
        else:
            symbols.append(extent)
    return factor, (tuple(symbols) if factor else ())


def join_product(factor: int, symbols: tuple[str, ...]) -> Extent:
    """Write ``factor`` times ``symbols``."""
    if not symbols:
        return factor
    alone = factor == 1 and len(symbols) == 1
    shown = [symbol if alone or is_closed(symbol) else f"({symbol})" for symbol in symbols]
    return " * ".join(([] if factor == 1 else [str(factor)]) + shown)


def is_closed(expression: str) -> bool:
    """Whether an expression can stand in a product without parentheses: a name or a call."""
    depth = 0
    for character in expression:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in " +-*/%&|^<>?":
            return False
    return not expression.startswith("(")


def named(node: Node) -> list[Node]:
    """The named children of a node that are not comments."""
    return [child for child in node.named_children if child.type != "comment"]


def squeeze(source: str) -> str:
    """Text on one line, with single spaces."""
    return " ".join(source.split())


def _inner(node: Node) -> Node | None:
    children = named(node)
    return children[0] if len(children) == 1 else None


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _literal(source: str) -> int | None:
    match = _INTEGER_LITERAL.match(source)
    if match is None:
        return None
    digits = source[: len(source) - len(match[1])].replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB"
    try:
        return int(digits, 8 if octal else 0)
    except ValueError:
        return None


def _is_integer_cast(node: Node, text: Text) -> bool:
    target = node.child_by_field_name("type")
    return target is not None and _INTEGER_TYPE.match(squeeze(text(target))) is not None


def _unary(node: Node, text: Text) -> int | None:
    value = constant(node.child_by_field_name("argument"), text)
    if value is None:
        return None
    return {"-": -value, "+": value, "!": int(not value), "~": ~value}.get(_operator(node))


def _binary(operator: str, left: int, right: int) -> int | None:
    if operator in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            return None
        return left << right if operator == "<<" else left >> right
    results: dict[str, Callable[[int, int], int]] = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
        "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
        "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
        "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
        "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
    }  # fmt: skip
    compute = results.get(operator)
    return None if compute is None else compute(left, right)
