"""How is a file or a folder written so that nobody ever sees half of it?"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

UNFINISHED = ".tmp-"
"""How the names start of what is being written; a process that was killed may leave some."""


def write_file(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step.  Creates its folder; raises `OSError`.

    A link is followed; what is there and no regular file (a device, a pipe) is written to as it is.
    """
    if path.exists() and not path.is_file():  # asked first: /dev/stdout of a pipe has no real path
        path.write_bytes(data)
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=path.parent)
    try:
        with _named(path), os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Make ``path`` a folder of exactly ``files``; what is there already and equal is left alone.

    The folder is made beside its place and moved in, so that it is whole or not there.
    """
    if path.is_dir() and _holds(path, files):
        return
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "a file lies where a dump belongs", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=path.parent))
    try:
        fresh.chmod(0o755)
        for name, data in files.items():
            with _named(path / name):
                (fresh / name).write_bytes(data)
        if path.exists():
            _exchange(fresh, path)
        else:
            fresh.replace(path)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give ``path`` to an `OSError` of a write (no space is left, say), which has none itself."""
    try:
        yield
    except OSError as exc:
        if exc.filename is None:
            exc.filename = str(path)
        raise


def _exchange(fresh: Path, path: Path) -> None:
    """Put ``fresh`` in the place of ``path``; if that fails, ``path`` is there as it was."""
    aside = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=path.parent))
    old = aside / path.name
    try:
        path.replace(old)
        fresh.replace(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.replace(path)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    if sorted(entry.name for entry in folder.iterdir()) != sorted(files):
        return False
    return all((folder / name).read_bytes() == data for name, data in files.items())
