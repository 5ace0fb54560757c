"""How are changed facts shown?  A table: what changed, since which pass, where in the CUDA text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.diff.fact_change import FactChange
from stagebench.report import layout, lines
from stagebench.report.fact_change_rows import REQUESTED, ChangeTable, change_table

_HEAD = ("changed fact", "since pass", "CUDA lines")


def print_fact_changes(
    changes: Sequence[FactChange],
    console: Console,
    *,
    show_all: bool = False,
    no_since: str | None = None,
) -> None:
    """Print the table of changed facts; one line where there is none."""
    lines.show(
        console, fact_change_lines(changes, console.width, show_all=show_all, no_since=no_since)
    )


def fact_change_lines(
    changes: Sequence[FactChange],
    width: int,
    *,
    show_all: bool = False,
    no_since: str | None = None,
) -> list[Text]:
    """The lines of the table at most ``width`` wide; ``no_since``: why no pass is named."""
    table = change_table(changes, show_all=show_all, no_since=no_since)
    found = [Text("no fact changed", style="bold")] if not table.rows else []
    if table.rows:
        found += _table(table, width, quoted=show_all, known=no_since is None)
    for line in table.folded:
        found += lines.hanging([("– ", "dim")], (f"{line} –", "dim"), width)
    return found


def _table(table: ChangeTable, width: int, *, quoted: bool, known: bool) -> list[Text]:
    cuda = any(row.cuda for row in table.rows)
    head = _HEAD if cuda else _HEAD[:2]
    rows: list[list[lines.Styled]] = [[(word, "dim") for word in head]]
    for row in table.rows:
        since = "dim" if not known or row.since in (REQUESTED, "–") else "bold"
        cells = [(row.text, ""), (row.since, since), (row.cuda, "dim")]
        rows.append(cells[: len(head)])
        if quoted:
            rows += _quotes(row.left, row.right, width)
    return lines.fitted(rows, width)


def _quotes(left: str | None, right: str | None, width: int) -> list[list[lines.Styled]]:
    """The IR after the pass on both sides: heading rows, which may run over all columns."""
    sides = (("left", left, "red"), ("right", right, "green"))
    return [
        [(layout.cut(f"    {side} IR {text}", width), style)]
        for side, text, style in sides
        if text is not None
    ]
