"""How does a command say what the user should know and did not ask for?  On standard error."""

from __future__ import annotations

import sys

from stagebench.visible_text import visible


def warn(message: str) -> None:
    """Write one line, over a line of progress where one may stand."""
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    said = visible(message, keep="\n")
    sys.stderr.write(f"{clear}stagebench: {said}\n")
