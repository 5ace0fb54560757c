"""stagebench: what does ``num_stages`` do to a pipelined GPU kernel?

``stagebench.sweep(...)`` lowers a kernel over depths, architectures and parameters without a GPU
and returns typed facts; ``stagebench.read_dump(...)`` and ``stagebench.read_run(...)`` read what
a run left on disk.  ``Experiment``, ``Case`` and ``expect`` state what is to stay as it is
(``stagebench check``).  Nothing here imports a compiler: that happens in worker processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stagebench.dump.directory import read_run
    from stagebench.dump.files import Dump, read_dump
    from stagebench.experiment.definition import Case, Experiment
    from stagebench.experiment.sweep import sweep
    from stagebench.gate.expectation import expect
    from stagebench.model import Facts, Run, Variant, VariantResult

__version__ = "0.1.0"

__all__ = [
    "Case",
    "Dump",
    "Experiment",
    "Facts",
    "Run",
    "Variant",
    "VariantResult",
    "__version__",
    "expect",
    "read_dump",
    "read_run",
    "sweep",
]

_HOMES = {
    "Case": "stagebench.experiment.definition",
    "Dump": "stagebench.dump.files",
    "Experiment": "stagebench.experiment.definition",
    "Facts": "stagebench.model",
    "Run": "stagebench.model",
    "Variant": "stagebench.model",
    "VariantResult": "stagebench.model",
    "expect": "stagebench.gate.expectation",
    "read_dump": "stagebench.dump.files",
    "read_run": "stagebench.dump.directory",
    "sweep": "stagebench.experiment.sweep",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the names of __all__, imported when used
    if name not in _HOMES:
        raise AttributeError(f"module 'stagebench' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
