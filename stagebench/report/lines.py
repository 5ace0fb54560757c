"""How do styled cells become lines of text?  Aligned, wrapped, and without trailing blanks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.report import layout

Styled = tuple[str, str]
"""A text and rich's style for it; nothing in the text is read as markup."""

GAP = 2
_LABEL = 24


def plain(*texts: str) -> list[Styled]:
    """Cells without a style."""
    return [(text, "") for text in texts]


def grid(rows: Sequence[Sequence[Styled]], widths: Sequence[int], *, indent: int = 0) -> list[Text]:
    """Lines of a table; a cell that is longer than its column is wrapped.

    A row of one cell is a heading: it may run over all columns.
    """
    found: list[Text] = []
    for row in rows:
        if len(row) == 1 < len(widths):
            found.append(Text(" " * indent + row[0][0], style=row[0][1]))
        else:
            found += _row(row, widths, indent)
    return found


def fitted(
    rows: Sequence[Sequence[Styled]], available: int, *, indent: int = 0, labels: int = 1
) -> list[Text]:
    """Lines of a table that is as wide as its cells ask for, at most ``available``.

    Columns give way first; where that is not enough they stand in several tables, each with the
    first ``labels`` of them, and none for columns that have a head alone.
    """
    count = max((len(row) for row in rows), default=0)
    natural = [
        max((len(row[index][0]) for row in rows if index < len(row) > 1), default=0)
        for index in range(count)
    ]
    room = available - indent
    widths = layout.shrink(natural, room - GAP * max(0, count - 1))
    if count <= labels + 1 or sum(widths) + GAP * (count - 1) <= room:
        return grid(rows, widths, indent=indent)
    beside = sum(min(width, _LABEL) + GAP for width in natural[:labels])
    found: list[Text] = []
    start = labels
    for part in layout.column_widths(natural[labels:], room - beside, GAP):
        end = start + len(part)
        cells = [row if len(row) == 1 else [*row[:labels], *row[start:end]] for row in rows]
        asked = [*natural[:labels], *natural[start:end]]
        start = end
        if not any(text for row in cells[1:] for text, _ in row[labels:]):
            continue
        found += [Text()] if found else []
        found += grid(cells, layout.shrink(asked, room - GAP * (len(asked) - 1)), indent=indent)
    return found


def hanging(head: Sequence[Styled], body: Styled, available: int) -> list[Text]:
    """``head`` and, wrapped beside it, ``body``."""
    indent = sum(len(text) for text, _ in head)
    text, style = body
    first, *rest = layout.wrap(text, max(20, available - indent))
    line = Text()
    for part, part_style in head:
        line.append(part, style=part_style)
    line.append(first, style=style)
    return [line, *(Text(" " * indent + more, style=style) for more in rest)]


def to_copy(words: str, command: str, available: int) -> list[Text]:
    """A command after its words; one that does not fit stands whole on a line of its own."""
    if len(words) + 1 + len(command) <= available:
        return [Text(f"{words} {command}")]
    return [Text(words), Text(command)]


def show(console: Console, lines: Sequence[Text]) -> None:
    """Print lines as they are."""
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)


def _row(row: Sequence[Styled], widths: Sequence[int], indent: int) -> list[Text]:
    wrapped = [
        layout.wrap(text, max(1, width)) for (text, _), width in zip(row, widths, strict=False)
    ]
    lines: list[Text] = []
    for number in range(max((len(cell) for cell in wrapped), default=1)):
        line = Text(" " * indent)
        for index, (cell, (_, style)) in enumerate(zip(wrapped, row, strict=False)):
            part = cell[number] if number < len(cell) else ""
            line.append(part, style=style)
            line.append(" " * (widths[index] - len(part) + GAP))
        line.rstrip()
        lines.append(line)
    return lines
