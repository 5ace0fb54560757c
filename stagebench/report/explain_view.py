"""How is one dump shown in full?  Sections under bold titles, tables that wrap to the width."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from stagebench.dump.directory import Timing
from stagebench.dump.files import Dump
from stagebench.report import lines
from stagebench.report.console import open_console
from stagebench.report.explain_rows import level_sections, sections
from stagebench.report.explain_section import Section
from stagebench.report.quantities import UNKNOWN

_STYLES = {"error": "bold red", "warning": "yellow", UNKNOWN: "dim"}


def print_explanation(
    dump: Dump,
    timing: Timing | None = None,
    *,
    show_all: bool = False,
    levels_only: bool = False,
    console: Console | None = None,
) -> None:
    """Print everything that is known about one variant, or only its four levels."""
    out = console or open_console()
    found = level_sections(dump) if levels_only else sections(dump, timing, show_all=show_all)
    for section in found:
        lines.show(out, section_lines(section, out.width))
        out.print()


def section_lines(section: Section, width: int) -> list[Text]:
    """The lines of one section at most ``width`` wide."""
    found = [Text(section.title, style="bold red" if section.alarming else "bold")]
    for line in section.lines:
        loud = section.alarming and line is section.lines[0]
        style = "red" if loud else "yellow" if line.startswith("not as asked") else ""
        found += lines.hanging([("  ", "")], (line, style), width)
    if section.rows:
        found += _table(section, width)
    return found


def _table(section: Section, width: int) -> list[Text]:
    columns = max(len(row) for row in section.rows)
    plain = section.rows[0] if columns > 2 else ()  # a list of names and values has no head
    rows: list[list[lines.Styled]] = []
    for row in section.rows:
        if row is plain:
            rows.append([(cell, "dim") for cell in row])
        else:
            rows.append([(cell, _style(cell)) for cell in row])
    return lines.fitted(rows, width, indent=2)


def _style(cell: str) -> str:
    return _STYLES.get(cell, "")
