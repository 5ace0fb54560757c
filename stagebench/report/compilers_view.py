"""How is the list of compilers shown?  One line each, what goes with it beside it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.lowering.compiler_choice import COMPILERS
from stagebench.lowering.compiler_listing import ListedCompiler
from stagebench.report import lines
from stagebench.report.console import open_console

_STATES = {
    "here": "this environment",
    "made": "in the cache",
    "damaged": "damaged: remove it and add it again",
    "stray": "not made by stagebench",
    "broken": "can't be imported: `stagebench compilers add` makes it again, or says why",
    "unfinished": "unfinished: the next use goes on with it",
}


def print_compilers(listed: Sequence[ListedCompiler], console: Console | None = None) -> None:
    """Print the list and how to have more."""
    out = console or open_console()
    lines.show(out, compiler_lines(listed, out.width))


def compiler_lines(listed: Sequence[ListedCompiler], width: int) -> list[Text]:
    """The lines of the list."""
    rows: list[list[lines.Styled]] = []
    for one in listed:
        beside = ", ".join(f"{name} {version}" for name, version in one.packages.items())
        if one.state == "stray":
            beside = str(one.folder)
        size = "" if one.bytes is None else f"{one.bytes >> 20} MiB"
        known = one.tested or one.state == "stray"
        state = _STATES[one.state] + ("" if known else ", untested")
        rows.append([(one.compiler, "bold"), (state, ""), (size, "dim"), (beside, "dim")])
    found = lines.fitted(rows, width) if rows else [Text("no compiler is at hand")]
    releases = " or ".join(f"{name}==VERSION" for name in COMPILERS)
    return [*found, Text(f"`stagebench compilers add {releases}` makes another", style="dim")]
