"""How is a sweep shown?  Tables of depths with what changed in front, at any width.

Yellow is what changed against the column to the left, red what can't run.  All content is data: no
markup is read from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.model import Run, VariantResult
from stagebench.model.machine import NO_MACHINE_CODE
from stagebench.report import layout, lines, quantities
from stagebench.report.console import open_console
from stagebench.report.fact_row import NONE
from stagebench.report.quantities import UNKNOWN
from stagebench.report.sweep_notes import Note
from stagebench.report.sweep_rows import Cell, SweepRow, SweepTable, sweep_tables

_LABEL = 24
_MARKS = {
    "identical": ("=", "bold yellow"),
    "failure": ("✗", "bold red"),
    "no_effect": ("!", "yellow"),
    "error": ("✗", "bold red"),
    "warning": ("!", "yellow"),
    "note": ("·", "dim"),
}
_SYNC_HEAD = "call sites · executed"


def print_sweep(
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
        lines.show(out, _note_lines([Note(kind="note", depths="", text=text)], out.width))
    failed = sum(result.outcome == "failed" for result in run.variants)
    bare = sum(without_machine_code(result) for result in run.variants)
    line = summary_line(
        variants=len(run.variants),
        failed=failed,
        not_assembled=bare,
        elapsed_seconds=elapsed_seconds,
        from_cache=from_cache,
        dump_dir=dump_dir,
    )
    lines.show(out, [Text(line, style="bold red" if failed or bare else "bold")])


def without_machine_code(result: VariantResult) -> bool:
    """Whether machine code was asked for, and could not be made or read."""
    diagnostics = () if result.facts is None else result.facts.diagnostics
    return any(diagnostic.code in NO_MACHINE_CODE for diagnostic in diagnostics)


def summary_line(
    *,
    variants: int,
    failed: int,
    not_assembled: int = 0,
    elapsed_seconds: float | None,
    from_cache: int,
    dump_dir: str | None,
) -> str:
    """``8 variants: 8 lowered, 0 failed · 5.1 s · 6 from cache · dumps in …``."""
    parts = [
        f"{quantities.count(variants, 'variant')}: {variants - failed} lowered, {failed} failed"
        + (f", {not_assembled} without machine code" if not_assembled else "")
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
    lines.show(console, table_lines(table, console.width, show_all=show_all))
    console.print()


def table_lines(table: SweepTable, width: int, *, show_all: bool = False) -> list[Text]:
    """The lines of one table at most ``width`` wide (the narrowest that works is about 60)."""
    shown, folded = table.folded(show_all=show_all)
    found = [*_title(table, width), *_note_lines(table.headline, width)]
    if shown:
        found += _parts(table, shown, width)
    if folded:
        found.append(Text(fold_line(folded, width), style="dim"))
    return [*found, *_note_lines(table.notes, width)]


def fold_line(rows: Sequence[SweepRow], width: int) -> str:
    """``– unchanged: threads 128, grid 8×8 … +3 more –``."""
    head, tail = "– unchanged: ", " –"
    items = [f"{row.label} {_common(row)}" for row in rows]
    return head + layout.cut_list(items, width - len(head) - len(tail)) + tail


def _common(row: SweepRow) -> str:
    known = [cell.text for cell in row.cells if cell.state == "value"]
    if row.implied:
        return next(text for text in known if text != NONE) + " where scheduled"
    return known[0] if known else UNKNOWN


def _title(table: SweepTable, width: int) -> list[Text]:
    """One line; two where the parameters don't fit beside the names."""
    names = f"{table.kernel} · {table.arch}"
    parameters = ", ".join(table.parameters)
    tail = f" · {table.compiler}"
    together = bool(parameters) and len(f"{names} · {parameters}{tail}") <= width
    text = Text(names, style="bold")
    if together:
        text.append(f" · {parameters}", style="not bold")
    text.append(tail, style="dim not bold")
    if together or not parameters:
        return [text]
    return [text, Text("  " + layout.cut_list(table.parameters, width - 2))]


def _parts(table: SweepTable, rows: Sequence[SweepRow], width: int) -> list[Text]:
    """The table, or several with the labels repeated where the columns don't fit in one."""
    labels = [table.axis, *(row.label for row in rows)]
    if any(row.group == "sync" for row in rows):
        labels.append(_SYNC_HEAD)
    label_width = min(_LABEL, max(len(label) for label in labels))
    natural = [
        max(len(head), *(len(row.cells[index].text) for row in rows))
        for index, head in enumerate(table.columns)
    ]
    found: list[Text] = []
    start = 0
    for widths in layout.column_widths(natural, width - label_width - lines.GAP, lines.GAP):
        if start:
            found.append(Text())
        cells = _part(table, rows, slice(start, start + len(widths)))
        rule = [("─" * each, "dim") for each in (label_width, *widths)]
        found += lines.grid([cells[0], rule, *cells[1:]], [label_width, *widths])
        start += len(widths)
    return found


def _part(table: SweepTable, rows: Sequence[SweepRow], columns: slice) -> list[list[lines.Styled]]:
    found: list[list[lines.Styled]] = [
        [(table.axis, "bold"), *((head, "bold") for head in table.columns[columns])]
    ]
    group = None
    for row in rows:
        if row.group == "sync" != group:
            found.append([(_SYNC_HEAD, "dim italic")])
        group = row.group
        found.append([(row.label, ""), *(_cell(cell) for cell in row.cells[columns])])
    return found


def _cell(cell: Cell) -> lines.Styled:
    if cell.over_limit or cell.state == "failed":
        return cell.text, "bold red"
    if cell.state == "unknown":
        return cell.text, "dim"
    return cell.text, "bold yellow" if cell.changed else ""


def _note_lines(notes: Sequence[Note], width: int) -> list[Text]:
    aligned = max((len(note.depths) for note in notes), default=0)
    found: list[Text] = []
    for note in notes:
        mark, style = _MARKS[note.kind]
        text = f"not as asked – {note.text}" if note.kind == "no_effect" else note.text
        loud = style if note.kind in ("identical", "failure", "error") else ""
        depths = f"{note.depths:<{aligned}}  " if aligned else ""
        found += lines.hanging([(f"{mark} ", style), (depths, "")], (text, loud), width)
    return found
