"""Is a kernel whole in a CUDA text: its head, and a body that ends?

Braces are counted outside strings and comments; nothing else of the language is read.
"""

from __future__ import annotations

import re

_UNREAD = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_BRACE = re.compile(r"[{}]")


def defines(text: str, function: str) -> bool:
    """Whether the function is defined in the text, up to its closing brace."""
    plain = _UNREAD.sub(" ", text)
    for head in re.finditer(rf"(?<!\w){re.escape(function)}\s*\(", plain):
        end = _closing(plain, head.end(), re.compile(r"[()]"), "(")
        behind = plain[end:].lstrip() if end is not None else ""
        if end is not None and behind.startswith("{"):
            start = plain.index("{", end) + 1
            return _closing(plain, start, _BRACE, "{") is not None
    return False


def _closing(text: str, start: int, either: re.Pattern[str], opening: str) -> int | None:
    """Where what is open at ``start`` has been closed; ``None`` where the text ends before."""
    depth = 1
    for found in either.finditer(text, start):
        depth += 1 if found[0] == opening else -1
        if depth == 0:
            return found.end()
    return None
