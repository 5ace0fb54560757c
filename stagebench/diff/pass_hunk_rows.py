"""How do the texts after a pass look side by side: what is new, inherited, or as requested?"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.diff.pass_texts import TextPairing
from stagebench.diff.text_records import Row, RowKind


def pass_rows(
    after: TextPairing,
    lines: tuple[Sequence[str], Sequence[str]],
    new: tuple[set[int], set[int]],
    touched: tuple[set[int], set[int]],
) -> tuple[Row, ...]:
    """Both texts as rows; what the pass did not write is context here.

    ``new`` and ``touched`` are lines of each side after the pass: new differences, and all that it
    wrote.
    """
    rows: list[Row] = []
    start = first = 0
    for one, two in (*after.pairs, (len(lines[0]), len(lines[1]))):
        rows += [
            _alone(lines[0], line, new[0], touched[0], on_left=True) for line in range(start, one)
        ]
        rows += [
            _alone(lines[1], line, new[1], touched[1], on_left=False) for line in range(first, two)
        ]
        if one < len(lines[0]) and two < len(lines[1]):
            kind = after.left_kinds[one]
            wrote = kind != "equal" and (one in touched[0] or two in touched[1])
            fresh = kind != "equal" and (one in new[0] or two in new[1])
            marks: tuple[str, ...] = ()
            if wrote and not fresh:
                marks = ("request" if kind == "request" else "inherited",)
            rows.append(_row(lines, one, two, changed=fresh or wrote, marks=marks))
        start, first = one + 1, two + 1
    return tuple(rows)


def _row(
    lines: tuple[Sequence[str], Sequence[str]],
    one: int,
    two: int,
    *,
    changed: bool,
    marks: tuple[str, ...],
) -> Row:
    return Row(
        kind="changed" if changed else "equal",
        left=one + 1,
        right=two + 1,
        left_text=lines[0][one],
        right_text=lines[1][two],
        marks=marks,
    )


def _alone(
    lines: Sequence[str], line: int, new: set[int], touched: set[int], *, on_left: bool
) -> Row:
    """A line of one side: new, written by the pass, or (``ignored``) only standing nearby."""
    own: RowKind = "removed" if on_left else "added"
    return Row(
        kind=own if lines[line].strip() and (line in new or line in touched) else "ignored",
        left=line + 1 if on_left else None,
        right=None if on_left else line + 1,
        left_text=lines[line] if on_left else None,
        right_text=None if on_left else lines[line],
        marks=() if line in new else ("inherited",),
    )
