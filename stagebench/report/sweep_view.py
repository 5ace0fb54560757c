"""How is a sweep shown?  Tables of depths with what changed in front, at any width.

Yellow is what changed against the column to the left, red what can't run.  All content is data: no
markup is read from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stagebench.model import Run
from stagebench.report import layout, quantities
from stagebench.report.console import open_console
from stagebench.report.sweep_notes import Note
from stagebench.report.sweep_rows import AS_WRITTEN, Cell, SweepRow, SweepTable, sweep_tables

_GAP = 2
_LABEL = 30
_MARKS = {
    "identical": ("=", "bold yellow"),
    "failure": ("✗", "bold red"),
    "no_effect": ("!", "yellow"),
    "error": ("✗", "bold red"),
    "warning": ("!", "yellow"),
    "note": ("·", "dim"),
}
_SYNC_HEAD = "call sites · executions"


def print_sweep(  # noqa: PLR0913 - keyword-only: the numbers of the closing line
    run: Run,
    *,
    kernel_cus: Sequence[str | None] | None = None,
    show_all: bool = False,
    elapsed_seconds: float | None = None,
    from_cache: int = 0,
    dump_dir: str | None = None,
    notes: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Print every table of a run and one line that closes it."""
    out = console or open_console()
    for table in sweep_tables(run, kernel_cus):
        print_table(table, out, show_all=show_all)
    for text in notes:
        out.print(_note_grid([Note(kind="note", depths="", text=text)]))
    failed = sum(result.outcome == "failed" for result in run.variants)
    line = summary_line(
        variants=len(run.variants),
        failed=failed,
        elapsed_seconds=elapsed_seconds,
        from_cache=from_cache,
        dump_dir=dump_dir,
    )
    out.print(Text(line, style="bold red" if failed else "bold"), soft_wrap=True)


def summary_line(
    *,
    variants: int,
    failed: int,
    elapsed_seconds: float | None,
    from_cache: int,
    dump_dir: str | None,
) -> str:
    """``8 variants: 8 lowered, 0 failed · 5.1 s · 6 from cache · dumps in …``."""
    parts = [
        f"{quantities.count(variants, 'variant')}: {variants - failed} lowered, {failed} failed"
    ]
    if elapsed_seconds is not None:
        parts.append(quantities.seconds(elapsed_seconds))
    if from_cache:
        parts.append(f"{from_cache} from cache")
    if dump_dir is not None:
        parts.append(f"dumps in {dump_dir}")
    return " · ".join(parts)


def print_table(table: SweepTable, console: Console, *, show_all: bool = False) -> None:
    """Print one table: title, what is identical, the rows, what did not change, the notes."""
    width = console.width
    console.print(_title(table, width), no_wrap=True, overflow="ellipsis")
    if table.headline:
        console.print(_note_grid(table.headline))
    shown, folded = table.folded(show_all=show_all)
    if shown:
        for part in _tables(table, shown, width):
            console.print(part)
    if folded:
        console.print(Text(fold_line(folded, width), style="dim"), no_wrap=True)
    if table.notes:
        console.print(_note_grid(table.notes))
    console.print()


def fold_line(rows: Sequence[SweepRow], width: int) -> str:
    """``– unchanged: threads 128, grid 8×8 … +3 more –``."""
    head, tail = "– unchanged: ", " –"
    items = [f"{row.label} {_common(row)}" for row in rows]
    return head + layout.cut_list(items, width - len(head) - len(tail)) + tail


def _common(row: SweepRow) -> str:
    known = [cell.text for cell in row.cells if cell.state == "value"]
    return known[0] if known else next(cell.text for cell in row.cells)


def _title(table: SweepTable, width: int) -> Text:
    around = f"{table.kernel} · {table.arch} ·  · {table.compiler}"
    text = Text()
    text.append(table.kernel, style="bold")
    text.append(f" · {table.arch}", style="bold")
    if table.parameters:
        text.append(" · " + layout.cut_list(table.parameters, max(10, width - len(around))))
    text.append(f" · {table.compiler}", style="dim")
    return text


def _tables(table: SweepTable, rows: Sequence[SweepRow], width: int) -> list[Table]:
    labels = [table.axis, *(row.label for row in rows)]
    label_width = min(_LABEL, max(len(label) for label in labels))
    natural = [
        max(len(head), *(len(row.cells[index].text) for row in rows))
        for index, head in enumerate(table.columns)
    ]
    made: list[Table] = []
    start = 0
    for widths in layout.column_widths(natural, width - label_width - 1, _GAP):
        made.append(_part(table, rows, label_width, start, widths))
        start += len(widths)
    return made


def _part(
    table: SweepTable, rows: Sequence[SweepRow], label_width: int, start: int, widths: Sequence[int]
) -> Table:
    """The columns from ``start`` on, with the labels repeated."""
    part = Table(box=None, show_header=False, padding=(0, _GAP, 0, 0), pad_edge=False)
    part.add_column(width=label_width, no_wrap=True)
    for width in widths:
        part.add_column(width=width, no_wrap=True)
    heads = table.columns[start : start + len(widths)]
    part.add_row(
        Text(table.axis, style="bold"), *(Text(_head(head), style="bold") for head in heads)
    )
    part.add_row(*(Text("─" * width, style="dim") for width in (label_width, *widths)))
    group = None
    for row in rows:
        if row.group == "sync" != group:
            part.add_row(Text(_SYNC_HEAD, style="dim italic"))
        group = row.group
        cells = row.cells[start : start + len(widths)]
        part.add_row(
            Text("\n".join(layout.wrap(row.label, label_width))),
            *(_cell(cell, width) for cell, width in zip(cells, widths, strict=True)),
        )
    return part


def _head(depth: str) -> str:
    return depth if depth != AS_WRITTEN else AS_WRITTEN


def _cell(cell: Cell, width: int) -> Text:
    style = ""
    if cell.over_limit or cell.state == "failed":
        style = "bold red"
    elif cell.state == "unknown":
        style = "dim"
    elif cell.changed:
        style = "bold yellow"
    return Text("\n".join(layout.wrap(cell.text, width)), style=style)


def _note_grid(notes: Sequence[Note]) -> Padding:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for note in notes:
        mark, style = _MARKS[note.kind]
        text = f"not as asked – {note.text}" if note.kind == "no_effect" else note.text
        loud = style if note.kind in ("identical", "failure", "error") else ""
        grid.add_row(Text(mark, style=style), Text(note.depths), Text(text, style=loud))
    return Padding(grid, (0, 0, 0, 0))
