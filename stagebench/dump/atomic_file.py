"""How is a file or a folder written so that nobody ever sees half of it?"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step.  Creates its folder; raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
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
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".tmp-", dir=path.parent))
    try:
        fresh.chmod(0o755)
        for name, data in files.items():
            (fresh / name).write_bytes(data)
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=".tmp-", dir=path.parent))
            path.replace(old / path.name)
            fresh.replace(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            fresh.replace(path)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    if sorted(entry.name for entry in folder.iterdir()) != sorted(files):
        return False
    return all((folder / name).read_bytes() == data for name, data in files.items())
