"""Does another process write in this folder?  A lock that ends with its holder, however that ends.

``flock(2)`` on a file in the folder: whoever is killed lets go of it, and the file that is left
keeps nobody out.  Where the file system knows no locks, nobody is kept out either.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from stagebench.errors import UsageError

LOCK = ".stagebench-lock"
"""The file that is locked."""
_NEW = ".new"
"""Behind the name of a lock that is not in its place yet: a folder that has none is left alone."""


_TRIES = 100
"""How often the last holder may take the folder away before that is an error."""


@contextlib.contextmanager
def writing(folder: Path, option: str) -> Iterator[None]:
    """Keep every other `writing` out of ``folder``, which is made, and taken away if empty.

    Raises `UsageError`, naming ``option``, where another process writes there, and `OSError`.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    handle = _lock_in(folder)
    if handle is None:
        raise UsageError(
            f"{option} {folder}: another profile writes there",
            hint=f"wait for it, or choose another {option}",
        )
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / LOCK).unlink()
        os.close(handle)
        for one in missing:
            with contextlib.suppress(OSError):
                one.rmdir()


@contextlib.contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder; those of ``prefix`` whose process was killed are removed first."""
    for other in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        _remove_abandoned(other)
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        handle = os.open(folder / (LOCK + _NEW), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _try_lock(handle)
            (folder / (LOCK + _NEW)).rename(folder / LOCK)
            yield folder
        finally:
            os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove it if it has a lock that nobody holds; another user's can't be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if _try_lock(handle, unknown=False):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _lock_in(folder: Path) -> int | None:
    """The locked file of ``folder``, to be closed; ``None``: another process has it."""
    for _ in range(_TRIES):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:  # an empty folder that its last holder has taken away just now
            continue
        if not _try_lock(handle):
            os.close(handle)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), (folder / LOCK).stat()):
                return handle
        os.close(handle)  # its last holder removed the file between our two steps
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / LOCK))


def _try_lock(handle: int, *, unknown: bool = True) -> bool:
    """Is it ours?  ``unknown``: the answer of a file system without locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return unknown
    return True
