"""How does a sweep look in a pull request?  The rows of `sweep_tables` as GitHub's markdown."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import Run
from stagebench.report.sweep_notes import Note
from stagebench.report.sweep_rows import Cell, SweepRow, SweepTable, sweep_tables

_ESCAPED = str.maketrans({char: f"\\{char}" for char in "|*_<>[]`#"})


def sweep_markdown(
    run: Run, kernel_cus: Sequence[str | None] | None = None, *, show_all: bool = False
) -> str:
    """Every table of a run; what changed against the left is bold, what did not change folded."""
    tables = sweep_tables(run, kernel_cus)
    return "\n\n".join(_table(table, show_all=show_all) for table in tables) + "\n"


def _table(table: SweepTable, *, show_all: bool) -> str:
    shown, folded = table.folded(show_all=show_all)
    title = (table.kernel, table.arch, *table.parameters, table.compiler)
    parts = [f"**{_text(title[0])}** " + " · ".join(_text(word) for word in title[1:])]
    if table.headline:
        parts.append(_notes(table.headline))
    if shown:
        parts.append(_rows(table.axis, table.columns, shown))
    if folded:
        parts.append(
            "<details><summary>unchanged</summary>\n\n"
            + _rows(table.axis, table.columns, folded)
            + "\n\n</details>"
        )
    if table.notes:
        parts.append(_notes(table.notes))
    return "\n\n".join(parts)


def _rows(axis: str, columns: Sequence[str], rows: Sequence[SweepRow]) -> str:
    lines = [
        _line([_text(axis), *(_text(head) for head in columns)]),
        _line(["---"] * (len(columns) + 1)),
        *(_line([_text(row.label), *(_cell(cell) for cell in row.cells)]) for row in rows),
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    text = _text(cell.text)
    return f"**{text}**" if cell.changed or cell.over_limit else text


def _notes(notes: Sequence[Note]) -> str:
    lines = []
    for note in notes:
        depths = f"{note.depths}: " if note.depths else ""
        kind = note.kind.replace("_", " ")
        lines.append(f"- {kind}, {depths}{_text(note.text)}")
    return "\n".join(lines)


def _text(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())
