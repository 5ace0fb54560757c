"""How is a user's file imported, wherever it lies, whatever it is called?  Under a private name.

As ``python file.py`` would see it (its folder first on ``sys.path``, ``sys.argv`` holding only its
path), but under a private name, so that ``if __name__ == "__main__"`` is not run.  A file that
imports relatively (``from . import x``) also gets its package.  ``sys.path``, ``sys.argv`` and the
user's entries of ``sys.modules`` are put back when the load ends; no ``__pycache__`` is written.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.machinery
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from stagebench.errors import UsageError
from stagebench.worker.loading.user_tree import UserTree

PRIVATE_NAME = "_stagebench_kernel_file"
_MAIN_HINT = 'move it below `if __name__ == "__main__":`; a kernel\'s file is imported, not run'


def check_file(path: Path) -> ast.Module:
    """Parse the file; a `UsageError` where there is none or where it is not Python."""
    if path.is_dir():
        found = ", ".join(sorted(p.name for p in path.glob("*.py"))[:8])
        raise UsageError(
            f"{path} is a folder, not a Python file",
            hint=f"name a file in it: {found}" if found else None,
        )
    if not path.is_file():
        raise UsageError(f"{path}: no such file", hint=_nearby(path))
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise _syntax_error(error, path.name) from error
    except ValueError as error:  # a NUL byte
        raise UsageError(f"{path.name} is not Python: {error}") from error


def _nearby(path: Path) -> str | None:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder} either"
    names = [p.name for p in folder.glob("*.py")]
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {folder / near[0]}?" if near else None


def _syntax_error(error: SyntaxError, shown: str) -> UsageError:
    line = f":{error.lineno}" if error.lineno else ""
    text = f": `{error.text.strip()}`" if error.text and error.text.strip() else ""
    return UsageError(f"{shown}{line} is not valid Python: {error.msg}{text}")


@contextmanager
def imported_file(path: Path, parsed: ast.Module, tree: UserTree) -> Iterator[ModuleType]:
    """Import the file for as long as the context is open."""
    before = sys.path[:], sys.argv, sys.dont_write_bytecode
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    sys.dont_write_bytecode = True
    try:
        yield _execute(path, parsed, tree)
    finally:
        sys.path[:], sys.argv, sys.dont_write_bytecode = before
        for name in {PRIVATE_NAME, *tree.remember()}:
            sys.modules.pop(name, None)


def raised_by_import(error: BaseException) -> bool:
    """Whether an exception came out of the import of a kernel's file, not of what followed."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is _execute.__code__ for frame, _ in frames)


def _execute(path: Path, parsed: ast.Module, tree: UserTree) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(PRIVATE_NAME, str(path))
    spec = importlib.util.spec_from_file_location(PRIVATE_NAME, str(path), loader=loader)
    if spec is None:
        raise UsageError(f"{path} can't be imported as Python")
    module = importlib.util.module_from_spec(spec)
    package = _package(path, parsed)
    if package is not None:
        root, name = package
        sys.path.insert(1, str(root))
        module.__package__ = name
    sys.modules[PRIVATE_NAME] = module
    try:
        if package is not None:
            importlib.import_module(package[1])
        loader.exec_module(module)
    except SyntaxError as error:  # of a file that this one imports
        if error.filename is None or not tree.contains(error.filename):
            raise
        raise _syntax_error(error, tree.relative(error.filename)) from error
    except SystemExit as error:
        place = tree.raising_line(error.__traceback__)
        where = tree.show(place) if place else path.name
        raise UsageError(
            f"{where} ends the program at import (exit code {error.code})", hint=_MAIN_HINT
        ) from error
    return module


def _package(path: Path, parsed: ast.Module) -> tuple[Path, str] | None:
    """Find the folder for ``sys.path`` and the package of a file that imports relatively."""
    levels = [n.level for n in ast.walk(parsed) if isinstance(n, ast.ImportFrom) and n.level]
    if not levels:
        return None
    depth = max(levels)
    while (_ancestor(path, depth) / "__init__.py").is_file():
        depth += 1
    # `depth` folders above the file belong to the package; the one above them goes on the path.
    if not (_ancestor(path, depth - 1) / "__init__.py").is_file():
        depth = max(levels)
    names = [_ancestor(path, i).name for i in reversed(range(depth))]
    return _ancestor(path, depth), ".".join(names)


def _ancestor(path: Path, index: int) -> Path:
    """Return the file's folder for 0, the one above it for 1."""
    folder = path.parent
    for _ in range(index):
        folder = folder.parent
    return folder
