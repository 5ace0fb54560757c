"""How is a machine's examination shown?  One line a check, the command to type under it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagebench.visible_text import visible

_MARKS = {
    "works": ("✓", "green"),
    "missing": ("✗", "bold red"),
    "broken": ("✗", "bold red"),
    "optional": ("–", "dim"),
}


def print_checks(
    checks: Sequence[tuple[str, str, str, str | None]], console: Console | None = None
) -> None:
    """Print ``(what, status, found, install)`` rows."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for what, status, found, install in checks:
        mark, style = _MARKS[status]
        table.add_row(Text(mark, style=style), what, Text(visible(found, keep="\n")))
        if install:
            table.add_row("", "", Text(install, style="cyan"))
    (console or Console()).print(table)
