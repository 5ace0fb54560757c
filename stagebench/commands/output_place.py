"""Can a command write where an option says?  Asked before any work; a refusal names the option.

A folder that is missing is made and taken away again, since permissions alone don't tell: ``/proc``
looks writable to some users and is not.  Whoever loses a folder to another command that tries it
makes it again.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from stagebench.dump.atomic_file import UNFINISHED, write_file
from stagebench.errors import UsageError

_IN_THE_WAY = "a file lies where a folder belongs"
_TRIES = 20
"""How often another command may take a folder away before that is an error."""


def write_output(path: Path, data: bytes, option: str) -> None:
    """Write ``data`` to ``path``; `UsageError` names ``option`` where that fails."""
    try:
        _despite_others(lambda: write_file(path, data))
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def cannot_write(option: str, path: Path | str, exc: OSError) -> UsageError:
    """What to raise for ``exc`` of an output of ``option``."""
    why = exc.strerror or str(exc)
    if isinstance(exc, FileExistsError | NotADirectoryError) and _lies_in_the_way(path):
        why = _IN_THE_WAY
    return _refusal(option, path, why)


def _refusal(option: str, path: Path | str, why: str) -> UsageError:
    return UsageError(f"can't write {option} {path}: {why}", hint=f"choose another {option}")


def check_folder(path: Path, option: str) -> None:
    """Raise `UsageError` where ``path`` is no folder to write to, and none can be made."""
    if path.exists() and not path.is_dir():
        raise _refusal(option, path, _IN_THE_WAY)
    try:
        _despite_others(lambda: _try_folder(path))
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def check_file(path: Path, option: str) -> None:
    """Raise `UsageError` where no file can be written at ``path``."""
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder", hint="name a file")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written to as it is
    try:
        _despite_others(lambda: _try_folder(path.resolve().parent))
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def _lies_in_the_way(path: Path | str) -> bool:
    return any(one.exists() and not one.is_dir() for one in Path(path).absolute().parents)


def _despite_others(act: Callable[[], None]) -> None:
    """Do it again where a folder went meanwhile: another command has tried one of the same name."""
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            act()
            return
    act()


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
