"""Is a kernel's file written for Apache TVM, where TileLang was to lower it?

TileLang brings a TVM of its own, so that ``import tvm`` works there too and what such a file makes
fails far inside of it.  A file is taken for Apache TVM's where it, or another of the user's files
that it imports, imports ``tvm`` and none of them imports ``tilelang``; it is asked only after
something went wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from stagebench.errors import UsageError

_SAID_CHARS = 200


def for_apache_tvm(path: str | None, files: Iterable[str], error: Exception) -> UsageError | None:
    """What to say of an error instead, where ``path`` is Apache TVM's; ``None`` where it is not."""
    if path is None:
        return None
    imported = [name for file in dict.fromkeys([path, *files]) for name in _imports(Path(file))]
    packages = {name.partition(".")[0] for name in imported}
    if "tvm" not in packages or "tilelang" in packages:
        return None
    how = next((n for n in imported if n.startswith("tvm.")), "tvm")
    said = error.message if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    first = said.strip().partition("\n")[0][:_SAID_CHARS]
    return UsageError(
        f"{Path(path).name} is Apache TVM's (it imports {how}, and no tilelang), and TileLang "
        f"can't lower it: {first}",
        hint='add --compiler tvm (in an experiment or a test: compiler="tvm")',
    )


def _imports(file: Path) -> list[str]:
    """The modules that a file imports, anywhere in it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module)
    return found
