"""How is Apache TVM imported?  Without torch, which it does not need here.

``tvm_ffi`` imports torch wherever it is installed, for tensors that a lowering never has: two
thirds of the whole import's time.  A kernel's file that wants torch still gets it.
"""

from __future__ import annotations

import importlib.abc
import sys
from types import ModuleType
from typing import Any

from stagebench.errors import UsageError


class TileLangImportError(UsageError, ImportError):
    """A kernel's file imports TileLang where Apache TVM lowers."""


class _NoTileLang(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Refuse to find it; everything else is for others to find."""
        del path, target
        if fullname == "tilelang":
            raise TileLangImportError(
                "the kernel's file imports tilelang, which can't share a process with Apache TVM",
                hint="--compiler tilelang lowers it",
            )


def _import_tvm() -> ModuleType:
    wanted = "torch" not in sys.modules
    if wanted:
        sys.modules["torch"] = None  # type: ignore[assignment]  # importing it raises ImportError
    try:
        import tvm
    finally:
        if wanted:
            del sys.modules["torch"]
    module: ModuleType = tvm
    return module


sys.meta_path.insert(0, _NoTileLang())
tvm: Any = _import_tvm()
