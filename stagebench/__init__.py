"""stagebench: what does ``num_stages`` do to a pipelined GPU kernel?

``stagebench.sweep(...)`` lowers a kernel over depths, architectures and parameters without a GPU
and returns typed facts; ``stagebench.read_dump(...)`` and ``stagebench.read_run(...)`` read what
a run left on disk.  Nothing here imports a compiler: that happens in worker processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stagebench.dump.directory import read_run
    from stagebench.dump.files import Dump, read_dump
    from stagebench.experiment.sweep import sweep
    from stagebench.model import Facts, Run, Variant, VariantResult

__version__ = "0.1.0"

__all__ = [
    "Dump",
    "Facts",
    "Run",
    "Variant",
    "VariantResult",
    "__version__",
    "read_dump",
    "read_run",
    "sweep",
]

_HOMES = {
    "Dump": "stagebench.dump.files",
    "Facts": "stagebench.model",
    "Run": "stagebench.model",
    "Variant": "stagebench.model",
    "VariantResult": "stagebench.model",
    "read_dump": "stagebench.dump.files",
    "read_run": "stagebench.dump.directory",
    "sweep": "stagebench.experiment.sweep",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the names of __all__, imported when used
    if name not in _HOMES:
        raise AttributeError(f"module 'stagebench' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
