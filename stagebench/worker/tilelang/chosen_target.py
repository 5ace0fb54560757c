"""Which target does the kernel's Python see?  The chosen arch's, whatever the file says.

The front end reads the current target while it builds.  A file that names one of its own
(``target="cuda"``, ``{"kind": "cuda", "arch": "sm_90"}``) would hide ours, and a bare ``"cuda"``
means sm_50 on a machine without a GPU, so CUDA targets are normalised to the chosen one, through
TileLang's own registry of normalisers.

Source: tilelang 0.1.15, ``tilelang.backend.target`` and ``JITImpl._get_frontend_target_context``.
Releases without that registry (0.1.9) do not enter a file's target while they build.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tilelang import tvm

from stagebench.worker.loading.notes import Notes

_REGISTRY = "tilelang.backend.target"
_CUDA = "tilelang.cuda.target"


@contextmanager
def targets_are(arch: str, notes: Notes) -> Iterator[None]:
    """Make ``arch`` the current target, and the answer for every CUDA target that is asked for."""
    chosen = tvm.target.Target({"kind": "cuda", "arch": arch})

    def normalize(target: object) -> Any:
        named = _cuda_arch(target)
        if named is None:
            return None
        if named not in {"", arch}:
            notes.add("target-replaced", f"the file's target {named} gave way to {arch}")
        return chosen

    registry = sys.modules.get(_REGISTRY)
    if registry is None:
        with chosen:
            yield
        return
    registry.register_target_normalizer("cuda", normalize, override=True)
    try:
        with chosen:
            yield
    finally:
        original = sys.modules[_CUDA].normalize_cuda_target
        registry.register_target_normalizer("cuda", original, override=True)


def _cuda_arch(target: object) -> str | None:
    """Read the arch of a CUDA target: empty where it names none, ``None`` for other kinds."""
    if isinstance(target, str):
        words = target.split()
        if not words or words[0] != "cuda":
            return None
        return next((w.removeprefix("-arch=") for w in words if w.startswith("-arch=")), "")
    if isinstance(target, Mapping):
        return str(target.get("arch", "")) if target.get("kind") == "cuda" else None
    if isinstance(target, tvm.target.Target) and target.kind.name == "cuda":
        return str(target.attrs["arch"]) if "arch" in target.attrs else ""
    return None
