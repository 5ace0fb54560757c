"""How does a comparison of two texts look?  Unified or side by side, in colour or without.

Without colour, changed words have carets under them.  Lines that differ are wrapped, others cut.
The signs: ``-`` left only, ``+`` right only, ``~`` equal under a rule, ``>`` moved; a changed line
is a ``-`` and a ``+``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from stagebench.diff.comparison import Comparison
from stagebench.diff.text_records import Row, Span, TextDiff
from stagebench.report.diff_words import (
    hunk_title,
    not_compared,
    note,
    put_aside,
    side_failure,
    side_name,
    verdict,
)
from stagebench.report.layout import cut
from stagebench.report.lines import hanging, show

Layout = Literal["unified", "side-by-side"]

SIDE_BY_SIDE_WIDTH = 140
"""A terminal of so many columns shows both sides beside each other."""

_LEXERS = {"cuda": "cuda", "tvmscript": "python"}
_THEME = "ansi_dark"
_LINE_STYLE = {"-": "red", "+": "green", "~": "dim", ">": "magenta", " ": ""}
_WORD_STYLE = {"-": "bold white on red", "+": "bold white on green"}
_CONTROL = {code: "�" for code in [*range(32), 127, *range(128, 160)] if code != ord("\t")}
_LEAST_WIDTH = 20
_BATCH = 200

MOST_HIGHLIGHTED = 100_000
"""Characters of code that are highlighted; pygments needs a second for twice as many."""


def choose_layout(console: Console, *, unified: bool, side_by_side: bool) -> Layout:
    """As asked for; else side by side where a person has the room for it."""
    if unified or side_by_side:
        return "unified" if unified else "side-by-side"
    wide = console.is_terminal and console.width >= SIDE_BY_SIDE_WIDTH
    return "side-by-side" if wide else "unified"


def print_sides(console: Console, compared: Comparison) -> None:
    """Print what is compared, why a side failed, and that nothing was compared where both did."""
    for sign, side in (("-", compared.left), ("+", compared.right)):
        style = f"bold {_LINE_STYLE[sign]}"
        show(console, hanging([(f"{sign * 3} ", style)], (side_name(side), style), console.width))
        failure = side_failure(side)
        if failure is not None:
            show(console, hanging([("    ", "")], (failure, _LINE_STYLE[sign]), console.width))
    nothing = not_compared(compared)
    if nothing is not None:
        show(console, hanging([], (nothing, "bold"), console.width))


def print_text_diff(console: Console, diff: TextDiff, *, layout: Layout, context: int) -> None:
    """Print the verdict, what was put aside, and the hunks."""
    show(console, hanging([("CUDA ", "bold")], (verdict(diff), "bold"), console.width))
    for said in put_aside(diff):
        show(console, hanging([("  ", "dim")], (said, "dim"), console.width))
    lines = hunk_lines(console, diff, layout=layout, context=context)
    for start in range(0, len(lines), _BATCH):  # a print for each line costs twice the time
        some = lines[start : start + _BATCH]
        for line in some:
            line.rstrip()
        console.print(Text("\n").join(some), soft_wrap=True)


def hunk_lines(console: Console, diff: TextDiff, *, layout: Layout, context: int) -> list[Text]:
    """The hunks as lines of the console's width."""
    painter = _Painter(console, diff.language)
    digits = len(str(max((row.left or row.right or 0 for row in diff.rows), default=0) + 1))
    found: list[Text] = []
    for hunk in diff.hunks(context):
        found.append(Text(cut(hunk_title(hunk), console.width), style="cyan"))
        sides = painter.paint(hunk.rows)
        for row, (left, right) in zip(hunk.rows, sides, strict=True):
            if layout == "unified":
                found += _unified(row, left, right, digits, console.width, painter.coloured)
            else:
                found += _beside(row, left, right, digits, console.width, painter.coloured)
    return found


class _Painter:
    """Styles code; without colour it is left as it is."""

    def __init__(self, console: Console, language: str) -> None:
        self.coloured = console.color_system is not None and not console.no_color
        self._room = MOST_HIGHLIGHTED
        self._syntax = Syntax("", _LEXERS[language], theme=_THEME) if self.coloured else None

    def paint(self, rows: Sequence[Row]) -> list[tuple[Text, Text]]:
        """The code of each row, left and right, changed words marked."""
        lefts = self._code([row.left_text or "" for row in rows])
        rights = self._code([row.right_text or "" for row in rows])
        for row, left, right in zip(rows, lefts, rights, strict=True):
            for code, spans, sign in ((left, row.left_spans, "-"), (right, row.right_spans, "+")):
                for start, end in spans:
                    code.stylize(_WORD_STYLE[sign], start, end)
        return list(zip(lefts, rights, strict=True))

    def _code(self, lines: Sequence[str]) -> list[Text]:
        plain = [line.removesuffix("\r").translate(_CONTROL) for line in lines]
        self._room -= sum(map(len, plain))
        if self._syntax is None or self._room < 0:
            return [Text(line) for line in plain]
        painted = self._syntax.highlight("\n".join(plain)).split("\n", allow_blank=True)
        if len(painted) < len(plain) or any(
            text.plain != line for text, line in zip(painted, plain, strict=False)
        ):
            return [Text(line) for line in plain]  # the highlighter changed the text: not ours
        return list(painted[: len(plain)])


def _unified(
    row: Row, left: Text, right: Text, digits: int, width: int, coloured: bool
) -> list[Text]:
    room = max(_LEAST_WIDTH, width - 2 * digits - 5)
    said = note(row)
    lines: list[Text] = []
    for sign, code, spans, numbers in _printed(row, left, right):
        gutter = " ".join("".rjust(digits) if n is None else str(n).rjust(digits) for n in numbers)
        lines += _wrapped(f"{gutter} ", sign, code, spans, room, coloured, whole=_is_shown(row))
    if said:
        lines += hanging([(" " * (2 * digits + 4), "")], (f"({said})", "dim"), width)
    return lines


def _printed(
    row: Row, left: Text, right: Text
) -> list[tuple[str, Text, tuple[Span, ...], tuple[int | None, int | None]]]:
    if row.kind == "changed":
        return [
            ("-", left, row.left_spans, (row.left, None)),
            ("+", right, row.right_spans, (None, row.right)),
        ]
    sign = {"removed": "-", "added": "+", "moved": ">", "equal": " "}.get(row.kind, "~")
    code = left if row.right is None else right
    return [(sign, code, (), (row.left, row.right))]


def _is_shown(row: Row) -> bool:
    return row.kind in ("changed", "removed", "added", "moved")


def _wrapped(
    gutter: str,
    sign: str,
    code: Text,
    spans: Sequence[Span],
    room: int,
    coloured: bool,
    *,
    whole: bool,
) -> list[Text]:
    """A line of code beside its gutter; wrapped as a ``whole``, or cut."""
    style = _LINE_STYLE[sign]
    code, spans = _expanded(code, spans)
    pieces = _pieces(code, room)
    if not whole and len(pieces) > 1:
        pieces = [code[: room - 1] + Text("…")]
    lines: list[Text] = []
    for index, piece in enumerate(pieces):
        line = Text()
        line.append(gutter if index == 0 else " " * len(gutter), style="dim")
        line.append(f"{sign} ", style=style)
        line.append_text(piece)
        lines.append(line)
        carets = _carets(spans, index * room, len(piece))
        if carets and not coloured:
            lines.append(Text(" " * (len(gutter) + 2) + carets))
    return lines


def _beside(
    row: Row, left: Text, right: Text, digits: int, width: int, coloured: bool
) -> list[Text]:
    half = max(_LEAST_WIDTH + digits + 3, (width - 3) // 2)
    room = half - digits - 3
    signs = {
        "changed": ("-", "+"),
        "removed": ("-", " "),
        "added": (" ", "+"),
        "moved": (">", ">"),
        "equal": (" ", " "),
    }.get(row.kind, ("~", "~"))
    columns: list[list[Text]] = []
    for number, sign, code, spans in (
        (row.left, signs[0], left, row.left_spans),
        (row.right, signs[1], right, row.right_spans),
    ):
        if number is None:
            columns.append([])
            continue
        gutter = str(number).rjust(digits) + " "
        columns.append(_wrapped(gutter, sign, code, spans, room, coloured, whole=_is_shown(row)))
    said = note(row)
    if said:
        columns[0 if row.right is None else 1] += hanging(
            [(" " * (digits + 3), "")], (f"({said})", "dim"), half
        )
    lines: list[Text] = []
    for index in range(max(map(len, columns), default=0)):
        line = columns[0][index].copy() if index < len(columns[0]) else Text()
        line.append(" " * max(0, half - line.cell_len))
        line.append(" │ ", style="dim")
        if index < len(columns[1]):
            line.append_text(columns[1][index])
        lines.append(line)
    return lines


def _expanded(code: Text, spans: Sequence[Span]) -> tuple[Text, tuple[Span, ...]]:
    """Tabs as blanks, with the spans where they are then."""
    if "\t" not in code.plain:
        return code, tuple(spans)
    places = [0]
    for char in code.plain:
        places.append(places[-1] + (4 - places[-1] % 4 if char == "\t" else 1))
    expanded = Text("")
    for index, char in enumerate(code.plain):
        piece = code[index]
        expanded.append_text(
            Text(" " * (places[index + 1] - places[index])) if char == "\t" else piece
        )
    return expanded, tuple((places[start], places[end]) for start, end in spans)


def _pieces(code: Text, room: int) -> list[Text]:
    if len(code) <= room:
        return [code]
    return list(code.divide(range(room, len(code), room)))


def _carets(spans: Sequence[Span], start: int, length: int) -> str:
    marks = [" "] * length
    for first, end in spans:
        for at in range(max(first, start), min(end, start + length)):
            marks[at - start] = "^"
    return "".join(marks).rstrip()
