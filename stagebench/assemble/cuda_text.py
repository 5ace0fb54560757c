"""Which bytes are compiled, so that a line of the PTX's ``.loc`` is a line of ``kernel.cu``?

``#line`` directives are emptied, not removed.  Does not handle: directives inside comments or raw
strings (generated code has neither).
"""

from __future__ import annotations

import re

_LINE_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:line\b|\d).*$", re.MULTILINE)
_COMMENT = re.compile(r"\s*(?://.*|/\*(?:(?!\*/).)*\*/\s*)")
_TILELANG_TEMPLATES = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]tl_templates/', re.MULTILINE)


def without_line_directives(kernel_cu: str) -> str:
    """The text with every ``#line`` emptied; the other lines keep their numbers."""
    return _LINE_DIRECTIVE.sub("", kernel_cu)


def uses_tilelang_templates(kernel_cu: str) -> bool:
    """Whether TileLang generated it; ``tl_templates/cuda/nvrtc_std.h`` then has to come first."""
    return _TILELANG_TEMPLATES.search(kernel_cu) is not None


def leading_directives(kernel_cu: str) -> str:
    """The directives before the first other line: what a precompiled header can hold.

    Two texts with the same leading directives and flags can share one.
    """
    found: list[str] = []
    continued = False
    for line in kernel_cu.splitlines():
        if continued or line.lstrip().startswith("#"):
            found.append(line)
            continued = line.endswith("\\")
        elif line.strip() and not _COMMENT.fullmatch(line):
            break
    return "\n".join(found)
