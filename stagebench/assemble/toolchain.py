"""With which compiler, assembler and disassembler are kernels assembled on this machine?

``nvrtc`` (the default) takes everything from wheels; ``nvcc`` a CUDA toolkit's compiler and ptxas;
a path to an ``nvcc`` or a ``ptxas`` takes that one.  TileLang's templates are found without
importing it.  Does not look for a driver: none is needed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Literal

from stagebench.assemble.wheels import (
    COMPILER_WHEELS,
    INSTALL,
    NVDISASM,
    NVRTC,
    PTXAS,
    RUNTIME,
    FoundWheel,
    find_wheel,
    need_wheels,
)
from stagebench.errors import MachineError
from stagebench.model.machine import Toolchain as ToolchainVersions

CompilerKind = Literal["nvrtc", "nvcc"]

_RELEASE = re.compile(r"\bV(\d+(?:\.\d+)+)")
_NAMED = re.compile(r"^(\w+): NVIDIA \(R\) ")
"""How each program of a CUDA toolkit begins what it says of its version."""
_TEMPLATES = "src/tl_templates"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program of the toolchain; ``identity`` changes with it, ``shown`` is for people."""

    path: Path
    shown: str
    identity: str


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """What kernels are assembled with.

    ``nvcc`` is ``None`` where NVRTC compiles.  ``template_folders`` come before the CUDA headers;
    ``identity`` is a digest that changes when a result may.
    """

    compiler: CompilerKind
    nvcc: Program | None
    ptxas: Program
    nvdisasm: Program
    template_folders: tuple[str, ...]
    cuda_folders: tuple[str, ...]
    cuda_major: int
    versions: ToolchainVersions
    identity: str

    @property
    def include_folders(self) -> tuple[str, ...]:
        """All ``-I`` folders, in order."""
        return (*self.template_folders, *self.cuda_folders)


def find_toolchain(assembler: str = "nvrtc", *, tilelang: Path | None = None) -> Toolchain:
    """The toolchain that ``assembler`` names; `MachineError` says what is missing for it.

    ``tilelang`` is the package folder of the TileLang whose templates the kernels include, by
    default the installed one's.
    """
    if assembler == "nvrtc":
        return _with_nvrtc(_wheel_program(PTXAS.name), tilelang)
    if assembler == "nvcc":
        found = shutil.which("nvcc")
        if found is None:
            raise MachineError(
                "there is no nvcc on the PATH",
                hint=f"leave --assembler out to use wheels: {INSTALL}",
            )
        return _with_nvcc(_program(Path(found)), tilelang)
    path = Path(assembler)
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise MachineError(
            f"{assembler!r} is no assembler: neither nvrtc, nvcc nor a program that can be started",
            hint="--assembler takes nvrtc, nvcc or the path of an nvcc or a ptxas",
        )
    program = _program(path)
    if _kind(program) == "ptxas":
        return _with_nvrtc(program, tilelang)
    return _with_nvcc(program, tilelang)


def _kind(program: Program) -> Literal["nvcc", "ptxas"]:
    """Which of the two it is, by what it says of itself; a file name may say anything."""
    name = program.path.name
    said = program.identity.removeprefix(name).strip()
    named = _NAMED.match(said)
    kind = named[1] if named else "ptxas" if name.startswith("ptxas") else "nvcc"
    if kind in ("nvcc", "ptxas") and _RELEASE.search(said):
        return "nvcc" if kind == "nvcc" else "ptxas"
    first = said.partition("\n")[0] or "nothing"
    raise MachineError(
        f"{program.path} is neither an nvcc nor a ptxas: with --version it says {first[:80]!r}",
        hint="--assembler takes nvrtc, nvcc or the path of an nvcc or a ptxas",
    )


def _with_nvrtc(ptxas: Program, tilelang: Path | None) -> Toolchain:
    wheels = {wheel.name: wheel for wheel in need_wheels(*COMPILER_WHEELS)}
    include = wheels[RUNTIME.name].root / "include"
    nvrtc = wheels[NVRTC.name].version
    return _toolchain(
        compiler="nvrtc",
        nvcc=None,
        ptxas=ptxas,
        compiler_shown=f"nvrtc {nvrtc}",
        compiler_identity=[f"{wheel.name} {wheel.version}" for wheel in wheels.values()],
        cuda_folders=(str(include), str(include / "cccl")),
        cuda_major=int(nvrtc.partition(".")[0]),
        tilelang=tilelang,
    )


def _with_nvcc(nvcc: Program, tilelang: Path | None) -> Toolchain:
    beside = nvcc.path.parent / "ptxas"
    ptxas = str(beside) if beside.is_file() else shutil.which("ptxas")
    if ptxas is None:
        raise MachineError(
            f"there is no ptxas beside {nvcc.path} or on the PATH",
            hint=f"or from a wheel: {INSTALL}",
        )
    release = _RELEASE.search(nvcc.identity)
    return _toolchain(
        compiler="nvcc",
        nvcc=nvcc,
        ptxas=_program(Path(ptxas)),
        compiler_shown=nvcc.shown,
        compiler_identity=[nvcc.identity],
        cuda_folders=(),
        cuda_major=int(release[1].partition(".")[0]) if release else 0,
        tilelang=tilelang,
    )


def _toolchain(
    *,
    compiler: CompilerKind,
    nvcc: Program | None,
    ptxas: Program,
    compiler_shown: str,
    compiler_identity: Iterable[str],
    cuda_folders: tuple[str, ...],
    cuda_major: int,
    tilelang: Path | None,
) -> Toolchain:
    nvdisasm = _find_nvdisasm()
    folders, templates = _templates(tilelang)
    digest = blake2b(digest_size=16)
    for part in (compiler, *compiler_identity, ptxas.identity, nvdisasm.identity, templates):
        digest.update(part.encode() + b"\0")
    return Toolchain(
        compiler=compiler,
        nvcc=nvcc,
        ptxas=ptxas,
        nvdisasm=nvdisasm,
        template_folders=folders,
        cuda_folders=cuda_folders,
        cuda_major=cuda_major,
        versions=ToolchainVersions(
            assembler=compiler,
            ptx_compiler=compiler_shown,
            ptx_assembler=ptxas.shown,
            disassembler=nvdisasm.shown,
        ),
        identity=digest.hexdigest(),
    )


def _find_nvdisasm() -> Program:
    if find_wheel(NVDISASM) is not None:
        return _wheel_program(NVDISASM.name)
    found = shutil.which("nvdisasm")
    if found is not None:
        return _program(Path(found))
    return _wheel_program(NVDISASM.name)  # says what is missing


def _wheel_program(name: str) -> Program:
    """``ptxas`` or ``nvdisasm`` of a wheel; its version is the wheel's: nothing is started."""
    wheel = PTXAS if name == PTXAS.name else NVDISASM
    found: FoundWheel = need_wheels(wheel)[0]
    path = found.root / str(wheel.holds)
    return Program(
        path=path,
        shown=f"{path.name} {found.version}",
        identity=f"{found.name} {found.version}",
    )


def said_by(path: Path, option: str) -> str:
    """What a program prints; raises `OSError` or `subprocess.SubprocessError` where it can't."""
    return subprocess.run(
        [path, option],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
        timeout=60,
    ).stdout


def program_version(path: Path) -> str:
    """The version of a program from a CUDA toolkit; `MachineError` if it can't be started."""
    return _program(path).shown.partition(" ")[2]


def _program(path: Path) -> Program:
    """A program from elsewhere, by what it says of its version (a wrapper script has none)."""
    try:
        said = said_by(path, "--version")
    except (OSError, subprocess.SubprocessError) as exc:
        raise MachineError(
            f"{path} doesn't say its version: {exc}",
            hint=f"leave --assembler out to use wheels: {INSTALL}",
        ) from exc
    release = _RELEASE.search(said)
    version = release[1] if release else "of unknown version"
    return Program(path=path, shown=f"{path.name} {version}", identity=f"{path.name} {said}")


def _templates(tilelang: Path | None) -> tuple[tuple[str, ...], str]:
    """TileLang's include folders, and a digest of its templates and of its CUTLASS's version."""
    root = tilelang or _installed_tilelang()
    if root is None:
        return (), "no templates"
    folders = [root / "src", root / "3rdparty" / "cutlass" / "include"]
    digest = blake2b(digest_size=16)
    for path in sorted((root / _TEMPLATES).rglob("*.*h")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    version = folders[1] / "cutlass" / "version.h"
    if version.is_file():
        digest.update(version.read_bytes())
    if tilelang is None:
        digest.update((metadata.distribution("tilelang").read_text("RECORD") or "").encode())
    return tuple(str(folder) for folder in folders if folder.is_dir()), digest.hexdigest()


def _installed_tilelang() -> Path | None:
    try:
        spec = importlib.util.find_spec("tilelang")
        metadata.distribution("tilelang")
    except (ValueError, metadata.PackageNotFoundError):  # a test's stand-in has no spec
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None
