"""Can a command write where an option says?  Asked before any work; a refusal names the option.

A folder that is missing is made and taken away again, since permissions alone don't tell: ``/proc``
looks writable to some users and is not.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from stagebench.dump.atomic_file import UNFINISHED, write_file
from stagebench.errors import UsageError


def write_output(path: Path, data: bytes, option: str) -> None:
    """Write ``data`` to ``path``; `UsageError` names ``option`` where that fails."""
    try:
        write_file(path, data)
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def cannot_write(option: str, path: Path | str, exc: OSError) -> UsageError:
    """What to raise for ``exc`` of an output of ``option``."""
    why = exc.strerror or str(exc)
    if isinstance(exc, FileExistsError | NotADirectoryError):
        why = "a file lies where a folder belongs"
    return UsageError(f"can't write {option} {path}: {why}", hint=f"choose another {option}")


def check_folder(path: Path, option: str) -> None:
    """Raise `UsageError` where ``path`` is no folder to write to, and none can be made."""
    try:
        _try_folder(path)
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def check_file(path: Path, option: str) -> None:
    """Raise `UsageError` where no file can be written at ``path``."""
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder", hint="name a file")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written to as it is
    try:
        _try_folder(path.resolve().parent)
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def _try_folder(path: Path) -> None:
    missing = [one for one in (path, *path.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(prefix=UNFINISHED, dir=path):
            pass
    finally:
        for one in missing:
            with contextlib.suppress(OSError):
                one.rmdir()
