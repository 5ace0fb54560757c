"""What does a comparison of two texts find?  Rows, hunks and counted rules; no behaviour, no I/O.

Line numbers are 1-based; spans are half-open ranges of characters (code points) in a line.
"""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import Record

RowKind = Literal["equal", "renamed", "ignored", "changed", "removed", "added", "moved"]
"""``renamed``: equal once names are mapped; ``ignored``: equal under other rules as well.

``removed`` and ``moved`` with no right line stand on the left only, ``added`` and ``moved`` with no
left line on the right only; the other kinds have both lines, ``ignored`` one or both.
"""

Span = tuple[int, int]


class Row(Record, frozen=True, kw_only=True):
    """One line of the comparison.

    ``rules`` are the names of the rules under which the two sides are equal; ``marks`` what is
    known about a change that is shown (``version-index``).  ``spans`` are the changed tokens of a
    ``changed`` row.  ``moved`` is the line on the other side that a moved line is.
    """

    kind: RowKind
    left: int | None
    right: int | None
    left_text: str | None
    right_text: str | None
    left_spans: tuple[Span, ...] = ()
    right_spans: tuple[Span, ...] = ()
    rules: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    moved: int | None = None


class RuleCount(Record, frozen=True, kw_only=True):
    """How many lines differ as written and were found equal with this rule's help.

    A line that needs two rules counts for both.
    """

    name: str
    summary: str
    lines: int


class Rename(Record, frozen=True, kw_only=True):
    """A name and what it is called on the right, in one function (right's name of it)."""

    function: str
    left: str
    right: str


class Hunk(Record, frozen=True, kw_only=True):
    """Differing rows that are near each other, with the equal rows around them."""

    rows: tuple[Row, ...]


class TextDiff(Record, frozen=True, kw_only=True):
    """Two texts compared line by line.

    ``differing`` rows are shown, or differ in the plain diff too; ``hidden`` of them are equal
    under the rules.  ``equal``: nothing is left to show.  ``identical``: same characters.
    """

    language: Literal["cuda", "tvmscript"]
    identical: bool
    equal: bool
    differing: int
    hidden: int
    rules: tuple[RuleCount, ...]
    marks: tuple[RuleCount, ...]
    renames: tuple[Rename, ...]
    rows: tuple[Row, ...]

    def hunks(self, context: int = 3) -> tuple[Hunk, ...]:
        """Hunks with ``context`` rows around what is shown; nothing where nothing is."""
        return hunks_of(self.rows, context)


SHOWN: frozenset[RowKind] = frozenset(("changed", "removed", "added", "moved"))
"""The kinds of rows that are a difference."""


def hunks_of(rows: tuple[Row, ...], context: int) -> tuple[Hunk, ...]:
    """Group rows: two differences share a hunk where at most ``2 * context`` rows part them."""
    found: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        if row.kind not in SHOWN:
            continue
        start, end = max(0, index - context), min(len(rows), index + context + 1)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(Hunk(rows=rows[start:end]) for start, end in found)
