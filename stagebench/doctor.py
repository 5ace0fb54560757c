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
from stagebench.assemble.toolchain import program_version
from stagebench.assemble.wheels import ALL_WHEELS, INSTALL, Wheel, find_wheel
from stagebench.errors import MachineError, StagebenchError
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.compiler_choice import distribution_of
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.tested_releases import tested_range, untested
from stagebench.lowering.worker_process import WorkerProcess
from stagebench.model import Record

Status = Literal["works", "missing", "broken", "optional"]

TESTED_TILELANG = "0.1.15"
_SYSTEM_PROGRAMS = ("nvcc", "ptxas", "nvdisasm")


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
        _tvm(),
        _torch(),
        _cache(),
        *_cuda_wheels(),
        *(_system_program(name) for name in _SYSTEM_PROGRAMS),
        _gpu(),
        _cupti(),
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
    if untested("tilelang", found) is not None:
        found += f" (untested: this stagebench was tested with {tested_range('tilelang')})"
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
    """How passes are observed: the seam of 0.1.14 and later, else TVM's own instrument."""
    spec = importlib.util.find_spec("tilelang")
    root = Path(spec.origin).parent if spec and spec.origin else None
    seam = root is not None and (root / "instrumentation").is_dir()
    found = "tilelang.instrumentation" if seam else "a TVM pass instrument (no pass phases)"
    return Check(what="pass snapshots", status="works", found=found)


def _tvm() -> Check:
    """Apache TVM, which nothing needs unless ``--compiler tvm`` is asked for."""
    found = _version(distribution_of("tvm"))
    if found is None:
        return Check(
            what="Apache TVM",
            status="optional",
            found="not installed: --compiler tvm has nothing to lower with",
            install="pip install -c constraints.txt 'stagebench[tvm]'",
        )
    if untested("tvm", found) is not None:
        found += f" (untested: this stagebench was tested with {tested_range('tvm')})"
    return Check(what="Apache TVM", status="works", found=found)


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
    sizes: dict[str, list[int]] = {}
    for path in folder.rglob("*") if folder.exists() else ():
        if path.is_file():
            kind = path.relative_to(folder).parts[0]
            sizes.setdefault(kind, []).append(path.stat().st_size)
    compilers = sum(sizes.pop("compilers", ()))
    sizes.pop("locks", None)
    results = [size for several in sizes.values() for size in several]
    found = f"{folder}: {len(results)} results, {sum(results) >> 20} MiB"
    if compilers:
        found += f"; compilers, {compilers >> 20} MiB"
    return Check(what="cache", status="works", found=found)


def _cuda_wheels() -> tuple[Check, ...]:
    """What assembles kernels (``sweep --machine``): each wheel, and all of it together."""
    checks = [_cuda_wheel(wheel) for wheel in ALL_WHEELS]
    lacking = [check.what for check in checks if check.status != "works"]
    if lacking:
        found = f"not without {', '.join(lacking)}: no PTX, no SASS, no registers"
        together = Check(what="machine code", status="optional", found=found, install=INSTALL)
    else:
        together = Check(
            what="machine code", status="works", found="PTX, SASS, registers: no GPU needed"
        )
    return (*checks, together)


def _cuda_wheel(wheel: Wheel) -> Check:
    version = _version(wheel.name)
    if version is None:
        return Check(
            what=wheel.name,
            status="optional",
            found=f"not installed ({wheel.purpose})",
            install=INSTALL,
        )
    if find_wheel(wheel) is None:
        return Check(
            what=wheel.name,
            status="optional",
            found=f"{version}, but its files are missing or elsewhere ({wheel.purpose})",
            install=f"pip install --force-reinstall {wheel.name}=={version}",
        )
    return Check(what=wheel.name, status="works", found=version)


def _system_program(name: str) -> Check:
    """A CUDA toolkit's program: ``--assembler nvcc`` uses them."""
    path = shutil.which(name)
    if path is None:
        return Check(
            what=f"system {name}", status="optional", found="no CUDA toolkit; none is needed"
        )
    try:
        version = program_version(Path(path))
    except MachineError as exc:
        return Check(what=f"system {name}", status="optional", found=exc.message)
    return Check(what=f"system {name}", status="works", found=f"{version}, {path}")


def _gpu() -> Check:
    driver = Path("/proc/driver/nvidia/version")
    devices = sorted(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))
    if driver.exists() and devices:
        return Check(what="GPU", status="works", found=f"driver loaded, {', '.join(devices)}")
    return Check(what="GPU", status="optional", found="none: sweep and explain need none")


def _cupti() -> Check:
    """The kernel's own time in ``profile``, beside that between device events."""
    found = _version("cupti-python")
    if found is not None:
        return Check(what="CUPTI", status="works", found=f"cupti-python {found}")
    return Check(
        what="CUPTI",
        status="optional",
        found="cupti-python is not installed: profile times with device events alone",
        install="pip install 'stagebench[cupti]'",
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
