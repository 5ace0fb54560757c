"""Where does a line of PTX come from, and how does PTX name files the same way on any machine?

Reads only the directives ``.file`` and ``.loc`` (PTX ISA, "Debugging Directives"); the reader of
PTX itself is `stagebench.ptx`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

KERNEL_FILE = "kernel.cu"
_FILE = re.compile(r'^(\s*\.file\s+(\d+)\s+)"([^"]*)"[^\n]*$', re.MULTILINE)
_LOC = re.compile(
    r"^\s*\.loc\s+(?P<at>\d+ \d+ \d+)"
    r"(?:\s*,\s*function_name\s+\S+\s*,\s*inlined_at\s+(?P<outer>\d+ \d+ \d+))?\s*$"
)


def with_portable_names(ptx: str, include_folders: Iterable[str]) -> str:
    """The PTX with headers named relative to their include folder and no sizes or times."""
    folders = sorted((os.path.normpath(folder) for folder in include_folders), key=len)[::-1]

    def portable(match: re.Match[str]) -> str:
        path = os.path.normpath(match[3])
        name = os.path.basename(path)  # noqa: PTH119 - a string of another program
        for folder in folders:
            if path.startswith(folder + os.sep):
                name = path[len(folder) + 1 :]
                break
        return f'{match[1]}"{name}"'

    return _FILE.sub(portable, ptx)


def cuda_line_at(ptx: str, line: int) -> int | None:
    """The line of ``kernel.cu`` that the 1-based PTX line was made from, through inlining.

    ``None`` also where several lines fit: a compiler prints the chain of an inlined position once,
    later only its innermost part (`stagebench.ptx.cuda_lines` then weighs the neighbours).
    """
    files = {match[2]: match[3] for match in _FILE.finditer(ptx)}
    outer: dict[str, set[str]] = {}
    last: re.Match[str] | None = None
    for text in ptx.splitlines()[:line]:
        found = _LOC.match(text)
        if found:
            last = found
            if found["outer"]:
                outer.setdefault(found["at"], set()).add(found["outer"])
    work = [last["outer"] or last["at"]] if last else []
    seen: set[str] = set()
    lines: set[int] = set()
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        file, cuda_line, _column = at.split(" ")
        if files.get(file) == KERNEL_FILE:
            lines.add(int(cuda_line))
        else:
            work.extend(outer.get(at, ()))
    return lines.pop() if len(lines) == 1 else None
