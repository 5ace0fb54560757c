"""Could a worker import the overlay in this folder?  The last answer, for the files it has now."""

from __future__ import annotations

import contextlib
from pathlib import Path

from stagebench.dump.atomic_file import write_file
from stagebench.errors import MachineError
from stagebench.lowering.compiler_environment import CompilerEnvironment, environment_in_front
from stagebench.lowering.overlay_folder import overlay_release

MARK = "import.txt"
_WORDS = {True: "works", False: "broken"}


def remember_import(environment: CompilerEnvironment, *, works: bool) -> None:
    """Write down how an import ended, where the compiler is an overlay's and it is news.

    A cache that can't be written loses the answer, nothing else.
    """
    for folder in map(Path, environment.front):
        line = _line(environment, works=works)
        if overlay_release(folder) is not None and _read(folder) != line:
            with contextlib.suppress(OSError):
                write_file(folder / MARK, line.encode())


def import_ended(folder: Path, name: str, *, works: bool) -> bool:
    """Whether the last import of the overlay in ``folder``, with the files it has now, ended so."""
    said = _read(folder)
    if said is None or not said.startswith(_WORDS[works]):
        return False
    try:
        return said == _line(environment_in_front(folder, name), works=works)
    except (MachineError, OSError):
        return False


def _line(environment: CompilerEnvironment, *, works: bool) -> str:
    return f"{_WORDS[works]} {environment.identity}\n"


def _read(folder: Path) -> str | None:
    try:
        return (folder / MARK).read_text()
    except (OSError, ValueError):
        return None
