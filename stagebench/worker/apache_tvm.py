"""How is Apache TVM imported?  Without torch, which it does not need here.

``tvm_ffi`` imports torch wherever it is installed, for tensors that a lowering never has: two
thirds of the whole import's time.  A kernel's file that wants torch still gets it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


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


tvm: Any = _import_tvm()
