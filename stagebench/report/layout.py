"""How does text fit into a width?  Wrapping at humps of long names, lists cut with a count."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SYLLABLES = {"specialisation": ("speciali", "sation")}
"""Long words of our own, which get a hyphen; a name never does."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.,/·])")


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width``: broken at spaces, long names at their humps, else anywhere.

    A long word of our own is broken between syllables.

    Leading blanks indent every line.
    """
    bare = text.lstrip(" ")
    indent = " " * min(len(text) - len(bare), max(0, width - _LEAST))
    room = max(1, width - len(indent))
    lines: list[str] = []
    line = ""
    for word in bare.split(" "):
        if line and len(line) + 1 + len(word) <= room:
            line = f"{line} {word}"
            continue
        if line:
            lines.append(line)
        *whole, line = _break(word, room)
        lines += whole
    return [indent + each for each in (*lines, line)]


def _break(word: str, width: int) -> list[str]:
    if len(word) <= width:
        return [word]
    first, second = _SYLLABLES.get(word, ("", ""))
    if first and len(first) < width:
        return [f"{first}-", *_break(second, width)]
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


def cut_list(items: Sequence[str], width: int) -> str:
    """The items that fit into ``width``, in order, then how many more there are."""
    everything = ", ".join(items)
    if len(everything) <= width or not items:
        return everything
    room = width - len(f" … +{len(items)} more")
    shown: list[str] = []
    for item in items:
        if len(", ".join([*shown, item])) <= room:
            shown.append(item)
    if not shown:
        return cut(everything, width)
    return ", ".join(shown) + f" … +{len(items) - len(shown)} more"


def shrink(natural: Sequence[int], available: int) -> list[int]:
    """Widths that fit: the widest columns give way first."""
    widths = list(natural)
    excess = sum(widths) - available
    while excess > 0 and max(widths) > _LEAST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
        excess -= 1
    return widths


def column_widths(natural: Sequence[int], available: int, gap: int) -> list[list[int]]:
    """Split columns into tables that fit: the widths of each table's columns.

    Columns are first narrowed (their cells wrap), and only split where that is not enough.
    """
    for most in (max(natural, default=0), *range(_WIDE, _NARROW - 1, -1)):
        widths = [min(width, most) for width in natural]
        if sum(widths) + gap * (len(widths) - 1) <= available:
            return [widths]
    tables: list[list[int]] = [[]]
    for width in (min(width, _SPLIT) for width in natural):
        if tables[-1] and sum(tables[-1]) + width + gap * len(tables[-1]) > available:
            tables.append([])
        tables[-1].append(width)
    return tables


_WIDE, _NARROW, _SPLIT = 24, 13, 18
_LEAST = 8
