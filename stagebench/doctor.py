"""What of stagebench works on this machine, what is missing, and what installs it?

Looks without importing a compiler or touching a GPU; only the compiler check starts a worker, as a
sweep would, because an installed compiler may still fail to import.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Literal

from stagebench import __version__
from stagebench.errors import MachineError, StagebenchError
from stagebench.lowering.cache import default_cache_folder
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.worker_process import WorkerProcess
from stagebench.model import Record

Status = Literal["works", "missing", "broken", "optional"]

TESTED_TILELANG = "0.1.15"
_CUDA_WHEELS = (
    ("nvidia-cuda-nvrtc", "compiles CUDA to PTX"),
    ("nvidia-cuda-runtime", "headers that generated CUDA includes"),
    ("nvidia-cuda-cccl", "headers that generated CUDA includes"),
    ("nvidia-cuda-nvcc", "ptxas: assembles PTX"),
)


class Check(Record, frozen=True, kw_only=True):
    """One thing that was looked at; ``install`` is the command that would change the answer."""

    what: str
    status: Status
    found: str
    install: str | None = None


def examine(*, start_worker: bool = True) -> tuple[Check, ...]:
    """Look at everything, the essential first."""
    return (
        _ours(),
        *_compiler(start_worker=start_worker),
        _torch(),
        _cache(),
        *_cuda_wheels(),
        _tool("nvcc", "a CUDA toolkit; not needed"),
        _gpu(),
    )


def main_job_works(checks: tuple[Check, ...]) -> bool:
    """Whether ``stagebench sweep`` can run here."""
    return not any(check.status in ("missing", "broken") for check in checks)


def _ours() -> Check:
    python = platform.python_version()
    return Check(
        what="stagebench", status="works", found=f"{__version__} on Python {python}, {sys.prefix}"
    )


def _compiler(*, start_worker: bool) -> tuple[Check, ...]:
    install = f"pip install -c constraints.txt tilelang=={TESTED_TILELANG}"
    try:
        environment = this_environment()
    except MachineError as exc:
        return (Check(what="TileLang", status="missing", found=exc.message, install=install),)
    found = environment.compiler.version
    if found != TESTED_TILELANG:
        found += f" (untested: this stagebench was tested with {TESTED_TILELANG})"
    if not start_worker:
        return (Check(what="TileLang", status="works", found=found),)
    try:
        with WorkerProcess(environment, jobs=1) as worker:
            seconds = worker.hello(worker.messages()).import_seconds
    except StagebenchError as exc:
        return (Check(what="TileLang", status="broken", found=exc.message, install=install),)
    return (
        Check(what="TileLang", status="works", found=f"{found}, imported in {seconds:.1f} s"),
        _span_support(),
    )


def _span_support() -> Check:
    """Only a release with the instrumentation seam can be observed pass by pass."""
    spec = importlib.util.find_spec("tilelang")
    root = Path(spec.origin).parent if spec and spec.origin else None
    if root and (root / "instrumentation").is_dir():
        return Check(what="pass snapshots", status="works", found="tilelang.instrumentation")
    return Check(
        what="pass snapshots",
        status="broken",
        found="this TileLang has no tilelang.instrumentation",
        install=f"pip install -c constraints.txt tilelang=={TESTED_TILELANG}",
    )


def _torch() -> Check:
    found = _version("torch")
    if found is None:
        return Check(
            what="torch",
            status="missing",
            found="not installed (TileLang imports it)",
            install="pip install -c constraints.txt torch",
        )
    return Check(what="torch", status="works", found=found)


def _cache() -> Check:
    folder = default_cache_folder()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(nearest, os.W_OK):
        return Check(
            what="cache",
            status="optional",
            found=f"{folder} can't be written: every sweep lowers everything again",
            install="export STAGEBENCH_CACHE_DIR=/a/folder/you/can/write",
        )
    entries = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    size = sum(path.stat().st_size for path in entries)
    return Check(
        what="cache", status="works", found=f"{folder}: {len(entries)} results, {size >> 20} MiB"
    )


def _cuda_wheels() -> tuple[Check, ...]:
    checks = []
    for name, purpose in _CUDA_WHEELS:
        found = _version(name)
        checks.append(
            Check(
                what=name,
                status="works" if found else "optional",
                found=found or f"not installed ({purpose})",
                install=None if found else f"pip install {name}",
            )
        )
    return tuple(checks)


def _tool(name: str, purpose: str) -> Check:
    path = shutil.which(name)
    return Check(what=name, status="works" if path else "optional", found=path or purpose)


def _gpu() -> Check:
    driver = Path("/proc/driver/nvidia/version")
    devices = sorted(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))
    if driver.exists() and devices:
        return Check(what="GPU", status="works", found=f"driver loaded, {', '.join(devices)}")
    return Check(what="GPU", status="optional", found="none: sweep and explain need none")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
