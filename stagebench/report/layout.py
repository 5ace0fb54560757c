"""How does text fit into a width?  Wrapping at humps of long names, lists cut with a count."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.,/·])")


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width``: broken at spaces, long names at their humps, else anywhere."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) <= width:
            line = f"{line} {word}"
            continue
        if line:
            lines.append(line)
        *whole, line = _break(word, width)
        lines += whole
    return [*lines, line]


def _break(word: str, width: int) -> list[str]:
    if len(word) <= width:
        return [word]
    lines = [""]
    for part in _HUMP.split(word):
        if len(lines[-1]) + len(part) <= width:
            lines[-1] += part
            continue
        if lines[-1]:
            lines.append("")
        for start in range(0, len(part), width):
            if start:
                lines.append("")
            lines[-1] = part[start : start + width]
    return lines


def cut(text: str, width: int) -> str:
    """At most ``width`` characters; what was cut ends in ``…``."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def cut_list(items: Sequence[str], width: int, separator: str = ", ") -> str:
    """As many items as fit into ``width``, then how many more there are."""
    for shown in range(len(items), 0, -1):
        left = len(items) - shown
        text = separator.join(items[:shown]) + (f" … +{left} more" if left else "")
        if len(text) <= width:
            return text
    return cut(separator.join(items), width)


def column_widths(natural: Sequence[int], available: int, gap: int) -> list[list[int]]:
    """Split columns into tables that fit: the widths of each table's columns.

    Columns are first narrowed (their cells wrap), and only split where that is not enough.
    """
    for most in (max(natural, default=0), *range(_WIDE, _NARROW - 1, -1)):
        widths = [min(width, most) for width in natural]
        if sum(widths) + gap * len(widths) <= available:
            return [widths]
    tables: list[list[int]] = [[]]
    for width in (min(width, _SPLIT) for width in natural):
        if tables[-1] and sum(tables[-1]) + width + gap * (len(tables[-1]) + 1) > available:
            tables.append([])
        tables[-1].append(width)
    return tables


_WIDE, _NARROW, _SPLIT = 24, 13, 17
