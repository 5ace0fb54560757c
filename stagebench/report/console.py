"""Where is a report printed, and how wide is it?

A terminal decides by itself; a pipe or a file gets 100 columns (or ``COLUMNS``), so that a table
does not depend on who reads it.  Colour follows rich: ``NO_COLOR``, ``FORCE_COLOR``, ``TERM=dumb``.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

from rich.console import Console
from rich.text import Span, Text

from stagebench.visible_text import visible

PIPE_WIDTH = 100


def open_console(file: TextIO | None = None, *, width: int | None = None) -> Console:
    """A console on ``file`` (standard output)."""
    target = sys.stdout if file is None else file
    _replace_unprintable(target)
    console = _Console(file=target, width=width, highlight=False, markup=False, emoji=False)
    if width is None and not (target.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        console.width = PIPE_WIDTH
    return console


class _Console(Console):
    """A console that leaves a reader who went away (``| head``) to the command line's main.

    Whatever a text holds, a terminal obeys none of it: colours are those of its style.
    """

    def print(self, *objects: object, **options: Any) -> None:  # noqa: ANN401 - rich's own
        """Print with what a terminal would obey spelt out."""
        super().print(*map(harmless, objects), **options)

    def on_broken_pipe(self) -> None:
        """Raise on: rich would end the program with 1, which means a difference here."""
        raise BrokenPipeError


def harmless(printed: object) -> object:
    """A text with what a terminal would obey spelt out; its styles stay where they were."""
    if isinstance(printed, str):
        return visible(printed, keep=_LAYOUT)
    if not isinstance(printed, Text) or visible(printed.plain, keep=_LAYOUT) == printed.plain:
        return printed
    shown = Text(style=printed.style, end=printed.end)
    for at, char in enumerate(printed.plain):
        said = visible(char, keep=_LAYOUT)
        spans = [Span(0, len(said), span.style) for span in printed[at].spans]
        shown.append_text(Text(said, spans=spans))
    return shown


_LAYOUT = "\n\t"
_PLAIN = {
    "×": "x", "·": "|", "–": "-", "…": "~", "─": "-", "✗": "x", "→": ">", "³": "^3",
    "█": "#", "░": ".",
}  # fmt: skip


def _replace_unprintable(file: TextIO) -> None:
    """An encoding that lacks our signs gets plain ones, and ``?`` for the rest of what it lacks."""
    if isinstance(file, io.TextIOWrapper) and not file.encoding.lower().startswith("utf"):
        codecs.register_error("stagebench-plain", _plain)
        file.reconfigure(errors="stagebench-plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(char, "?") for char in lacking), error.end
