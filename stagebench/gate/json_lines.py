"""On which line of a JSON text is each value?  For annotations that point at a baseline."""

from __future__ import annotations

import re

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n|[^\s{}\[\],:"]+')

Pointer = tuple[str | int, ...]


def value_lines(text: str) -> dict[Pointer, int]:
    """The 1-based line on which each value starts, by its keys and indices from the top.

    A member of an object is on its key's line.  The text must be JSON already.
    """
    lines: dict[Pointer, int] = {(): 1}
    stack: list[list[str | int | None]] = []  # per container: [key or index]; None: key awaited
    line = 1
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece == "\n":
            line += 1
            continue
        if piece in "}]":
            stack.pop()
            continue
        if piece == ",":
            top = stack[-1][0]
            stack[-1][0] = top + 1 if isinstance(top, int) else None
            continue
        if piece == ":":
            continue
        if stack and stack[-1][0] is None:  # a key
            stack[-1][0] = _unquoted(piece)
            lines[_pointer(stack)] = line
            continue
        lines.setdefault(_pointer(stack), line)
        if piece in "{[":
            stack.append([0 if piece == "[" else None])
    return lines


def _pointer(stack: list[list[str | int | None]]) -> Pointer:
    return tuple(frame[0] for frame in stack if frame[0] is not None)


def _unquoted(piece: str) -> str:
    if "\\" not in piece:
        return piece[1:-1]
    import json

    return str(json.loads(piece))
