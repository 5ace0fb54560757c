"""Which lines of IR are shown of a pass, and which are folded?  ``-`` left, ``+`` right."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.diff.text_records import SHOWN, Hunk, Row
from stagebench.model import Record

_ACCESS = ("T.reads(", "T.writes(")


class HunkLine(Record, frozen=True, kw_only=True):
    """One line of a hunk: ``-`` left, ``+`` right, blank context; line numbers are 1-based.

    ``text`` is without the hunk's common indentation; ``focus`` is the first character in which
    it differs from its partner, so that a view that cuts lines can keep it in sight.
    """

    sign: str
    line: str
    text: str
    focus: int = 0


class Folded(Record, frozen=True, kw_only=True):
    """How many differing lines a view leaves out: access regions, and what was inherited."""

    access: int
    inherited: int


def hunk_lines(
    hunks: Sequence[Hunk], *, show_all: bool = False, context: int = 1
) -> tuple[list[list[HunkLine]], Folded]:
    """Hunks as lines, ``-`` left and ``+`` right, and how many lines were folded.

    Access regions (``T.reads``, ``T.writes``) restate what the statements below them do, inherited
    differences what earlier passes did: they are left out unless all is asked for or nothing else
    differs.  Inherited ones that stand within ``context`` rows of a new one are shown.
    """
    rows = [row for hunk in hunks for row in hunk.rows if row.kind in SHOWN]
    every_region = show_all or all(map(_is_access, rows))
    everything = show_all or all(map(_is_inherited, rows))
    found: list[list[HunkLine]] = []
    access = inherited = 0
    for hunk in hunks:
        kept = [row for row in hunk.rows if every_region or not _is_access(row)]
        access += sum(row.kind in SHOWN for row in hunk.rows) - sum(r.kind in SHOWN for r in kept)
        for part in [kept] if everything else _near_new(kept, context):
            if any(row.kind in SHOWN for row in part):
                found.append(_lines(part))
                inherited -= sum(map(_is_inherited, part))
        inherited += sum(map(_is_inherited, kept))
    return found, Folded(access=access, inherited=inherited)


def _near_new(rows: Sequence[Row], context: int) -> list[list[Row]]:
    """The stretches of rows that are new, with the rows around them."""
    new = [at for at, row in enumerate(rows) if row.kind in SHOWN and not _is_inherited(row)]
    if len(new) == sum(row.kind in SHOWN for row in rows):
        return [list(rows)]
    found: list[list[Row]] = []
    end = 0
    for at in new:
        start = max(at - context, 0)
        if start > end or not found:
            found.append([])
            end = start
        found[-1] += rows[max(start, end) : at + context + 1]
        end = max(end, min(at + context + 1, len(rows)))
    return found


def _is_inherited(row: Row) -> bool:
    return row.kind in SHOWN and "inherited" in row.marks


def _is_access(row: Row) -> bool:
    texts = [text for text in (row.left_text, row.right_text) if text is not None]
    return all(text.lstrip().startswith(_ACCESS) for text in texts)


def _lines(rows: Sequence[Row]) -> list[HunkLine]:
    texts = [t for row in rows for t in (row.left_text, row.right_text) if t and t.strip()]
    indent = min((len(text) - len(text.lstrip()) for text in texts), default=0)
    found: list[HunkLine] = []
    for row in rows:
        left, right = (
            None if text is None else text[indent:] for text in (row.left_text, row.right_text)
        )
        if row.kind not in SHOWN:
            text = left if left is not None else right
            number = row.left if left is not None else row.right
            sign = " "
            if "inherited" in row.marks and (left is None or right is None):
                sign = "-" if right is None else "+"
            found.append(HunkLine(sign=sign, line=str(number), text=text or ""))
            continue
        focus = _first_difference(left, right) if left is not None and right is not None else 0
        if left is not None:
            found.append(HunkLine(sign="-", line=str(row.left), text=left, focus=focus))
        if right is not None:
            found.append(HunkLine(sign="+", line=str(row.right), text=right, focus=focus))
    return found


def _first_difference(left: str, right: str) -> int:
    for index, (one, two) in enumerate(zip(left, right, strict=False)):
        if one != two:
            return index
    return min(len(left), len(right))


def window(text: str, focus: int, width: int) -> str:
    """At most ``width`` characters of a line, its beginning and what is in focus among them."""
    if len(text) <= width:
        return text
    if focus < width * 2 // 3:
        return text[: width - 1] + "…"
    indent = len(text) - len(text.lstrip())
    head = text[: min(indent + width // 4, focus)]
    rest = text[max(len(head), focus - width // 4) :]
    room = width - len(head) - 1
    return head + "…" + (rest if len(rest) <= room else rest[: room - 1] + "…")
