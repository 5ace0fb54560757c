"""What did the user give as LEFT and RIGHT?  A dump, or any CUDA file.

A file need not be ours, parse, be UTF-8 (else Latin-1 is read, where every byte is a character),
or end in a line feed.  An empty one is refused: it is no kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stagebench.dump.files import Dump
from stagebench.errors import DumpError, UsageError

MAX_BYTES = 16 << 20
"""A larger file is refused: generated kernels are a hundredth of this."""


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
    if path.is_file():
        return Input(name, read_text(path), None)
    if not path.exists() and not name.endswith("]"):
        raise DumpError(
            f"no file and no dump at {name}",
            hint="name two .cu files, or two dumps that `stagebench sweep` wrote",
        )
    dump = select_dump(name)
    return Input(name, dump.kernel_cu, dump)


def read_text(path: Path) -> str:
    """The characters of a text file; `UsageError` where it is binary or too large."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UsageError(
                f"{path} has {size / (1 << 20):.0f} MiB, diff reads up to {MAX_BYTES >> 20} MiB",
                hint="name the generated .cu file, or a part of this one",
            )
        data = path.read_bytes()
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}") from exc
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
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
