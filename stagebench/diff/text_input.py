"""What did the user give as LEFT and RIGHT?  A dump, or any CUDA file.

A file need not be ours, parse, be UTF-8 (else Latin-1 is read, where every byte is a character),
or end in a line feed; a pipe is read as a file is.  An empty one is refused: it is no kernel.  A
byte order mark is a character of the text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from stagebench.dump.files import CUDA, Dump
from stagebench.dump.place import RUN, VARIANT
from stagebench.errors import DumpError, UsageError

MAX_BYTES = 16 << 20
"""A larger file is refused: generated kernels are a hundredth of this."""

MAX_FOLDERS = 5_000
"""In a folder without ``run.json`` dumps are looked for below at most so many folders."""


@dataclass(frozen=True)
class Input:
    """One side: its text (``None``: a variant that failed has none), and its dump if it is one."""

    name: str
    text: str | None
    dump: Dump | None


def read_input(name: str) -> Input:
    """Read a dump folder, a selector or a file; errors name what is wrong with it."""
    from stagebench.dump.select import select_dump

    path = Path(name)
    if path.exists() and not path.is_dir():
        return Input(name, read_text(path), None)
    if not path.exists() and not name.endswith("]"):
        raise DumpError(
            f"no file and no dump at {name}",
            hint="name two .cu files, or two dumps that `stagebench sweep` wrote",
        )
    _refuse_vast(path if path.exists() else Path(name.rpartition("[")[0] or "."))
    dump = select_dump(name)
    if dump.kernel_cu is not None and not dump.kernel_cu.strip():
        raise DumpError(
            f"{Path(dump.folder) / CUDA} is empty: the dump is damaged",
            hint="lower the variant again",
        )
    return Input(name, dump.kernel_cu, dump)


def _refuse_vast(folder: Path) -> None:
    """A home folder is no run: say so instead of reading all of it."""
    if not folder.is_dir() or (folder / RUN).is_file() or (folder / VARIANT).is_file():
        return
    for number, _ in enumerate(os.walk(folder)):
        if number >= MAX_FOLDERS:
            raise UsageError(
                f"{folder} is no dump and no run, and holds more than {MAX_FOLDERS} folders: "
                "they are not searched for dumps",
                hint="name the folder that `stagebench sweep --dump-dir` wrote",
            )


def read_text(path: Path) -> str:
    """The characters of a text file or a pipe; `UsageError` where it is binary or too large."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}") from exc
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"{path} has more than {MAX_BYTES >> 20} MiB, and diff reads no more",
            hint="name the generated .cu file, or a part of this one",
        )
    if not data.strip():
        raise UsageError(
            f"{path} is empty: there is nothing to compare",
            hint="a compiler that failed leaves empty files; lower the kernel again",
        )
    if b"\0" in data:
        raise UsageError(
            f"{path} is a binary file (byte 0 at offset {data.index(0)})",
            hint="name CUDA source; `stagebench explain` reads dumps",
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
