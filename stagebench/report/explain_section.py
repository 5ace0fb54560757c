"""What is one part of the explanation of a dump?"""

from __future__ import annotations

from stagebench.model import Record


class Section(Record, frozen=True, kw_only=True):
    """A part of the explanation: lines, then a table whose first row is its head.

    A row of one cell is a heading inside the table.  ``alarming`` sections hold what can't run.
    """

    title: str
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    alarming: bool = False
