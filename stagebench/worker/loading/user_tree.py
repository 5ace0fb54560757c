"""Which files are the user's, and which of their lines runs now?  Asked of paths and stacks.

A file is the user's unless it belongs to Python, to an installed package, to the compiler or to
stagebench itself.  What was imported before the kernel's file is the compiler's or the worker's,
wherever it lies (an editable checkout of the compiler has its examples beside its package).
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

Place = tuple[str, int]
"""A file's absolute path and a line of it, 1-based."""


def _installed_roots() -> set[str]:
    schemes = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {path for scheme in schemes if (path := sysconfig.get_path(scheme))}
    folders.update(site.getsitepackages())
    folders.add(site.getusersitepackages())
    return {str(Path(folder).resolve()) for folder in folders}


def _loaded_roots() -> tuple[set[str], set[str]]:
    """List the folders of the packages, and the single files, that are loaded already."""
    folders: set[str] = set()
    files: set[str] = set()
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if "." in name or not isinstance(origin, str):
            continue
        path = Path(origin).resolve()
        if path.stem == "__init__":
            folders.add(str(path.parent))
        else:
            files.add(str(path))
    return folders, files


class UserTree:
    """The user's files around one kernel file (``None``: a built-in, which has no such files)."""

    def __init__(self, kernel_file: Path | None) -> None:
        self._kernel_file = kernel_file
        self._folder = kernel_file.parent if kernel_file else None
        folders, self._files = _loaded_roots()
        self._roots = tuple(root + os.sep for root in sorted(_installed_roots() | folders))
        self._known: dict[str, bool] = {}
        self._before = frozenset(sys.modules)
        self._imported: set[str] = set()

    def contains(self, filename: str) -> bool:
        """Say whether a code object's ``co_filename`` is a file of the user."""
        if filename not in self._known:
            self._known[filename] = self._decide(filename)
        return self._known[filename]

    def _decide(self, filename: str) -> bool:
        if self._folder is None or filename.startswith("<"):
            return False
        path = Path(filename).resolve()
        if path == self._kernel_file:
            return True
        if str(path) in self._files or not path.is_file():
            return False
        inside = [root for root in self._roots if str(path).startswith(root)]
        if not inside:
            return True
        # A kernel that is itself part of an installed package: its own folder is the user's.
        own = str(self._folder) + os.sep
        return all(own.startswith(root) for root in inside) and str(path).startswith(own)

    def show(self, place: Place) -> str:
        """Write ``file.py:12``, relative to the kernel file's folder: the same on any machine."""
        return f"{self.relative(place[0])}:{place[1]}"

    def relative(self, filename: str) -> str:
        """Make a path relative to the kernel file's folder, with ``/``."""
        if self._folder is None:
            return Path(filename).name
        return Path(os.path.relpath(Path(filename).resolve(), self._folder)).as_posix()

    def current_line(self) -> Place | None:
        """Find the user's line that is running: the innermost one on this thread's stack."""
        for frame, line in traceback.walk_stack(None):
            if self.contains(frame.f_code.co_filename):
                return frame.f_code.co_filename, line
        return None

    def raising_line(self, trace: TracebackType | None) -> Place | None:
        """Find the user's line that an exception came from: the innermost of its traceback."""
        found = None
        for frame, line in traceback.walk_tb(trace):
            if self.contains(frame.f_code.co_filename):
                found = frame.f_code.co_filename, line
        return found

    def remember(self) -> tuple[str, ...]:
        """Note which of the user's files are imported now; return their names in `sys.modules`."""
        names = []
        for name, module in list(sys.modules.items()):
            origin = getattr(module, "__file__", None)
            if name not in self._before and isinstance(origin, str) and self.contains(origin):
                names.append(name)
                self._imported.add(str(Path(origin).resolve()))
        return tuple(names)

    def imported(self) -> tuple[str, ...]:
        """List the absolute paths of the user's files that were imported, sorted."""
        self.remember()
        return tuple(sorted(self._imported))
