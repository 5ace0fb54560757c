"""How is an expression of the compiler read more easily?  ``T.truncmod(k, 3)`` as ``k % 3``.

For printing only; what is not known to be a binary operator stays as it is.
"""

from __future__ import annotations

_OPERATORS = {
    "T.truncmod": "%", "T.floormod": "%", "T.Div": "/", "T.truncdiv": "/", "T.floordiv": "//",
    "T.bitwise_and": "&", "T.bitwise_or": "|", "T.bitwise_xor": "^",
    "T.shift_left": "<<", "T.shift_right": ">>",
}  # fmt: skip


def readable(text: str) -> str:
    """The expression with known calls written as operators; a nested one is put in parentheses."""
    for name, operator in _OPERATORS.items():
        start = text.find(name + "(")
        if start < 0:
            continue
        arguments, end = _arguments(text, start + len(name))
        if len(arguments) != 2:
            continue
        left, right = (_operand(argument) for argument in arguments)
        outside = text[:start], text[end:]
        inner = f"{left} {operator} {right}"
        alone = not outside[0].strip() and not outside[1].strip()
        bracketed = outside[0].endswith("[") and outside[1].startswith("]")
        return readable(outside[0] + (inner if alone or bracketed else f"({inner})") + outside[1])
    return text


def _operand(text: str) -> str:
    inner = readable(text)
    return f"({inner})" if " " in inner and not inner.startswith("(") else inner


def _arguments(text: str, opening: int) -> tuple[list[str], int]:
    """The arguments of the call whose parenthesis is at ``opening``, and where it ends."""
    found: list[str] = []
    depth = 0
    start = opening + 1
    for position in range(opening, len(text)):
        char = text[position]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0:
                return [*found, text[start:position].strip()], position + 1
        elif char == "," and depth == 1:
            found.append(text[start:position].strip())
            start = position + 1
    return [], len(text)
