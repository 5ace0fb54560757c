"""Which compiler is installed where, and has anything about it changed since the last run?

Answers without importing the compiler: from the distribution's metadata and from the sizes and
times of its files.  Does not handle: making environments for other releases
(`stagebench.lowering.overlays`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from stagebench.errors import MachineError
from stagebench.lowering.compiler_choice import COMPILERS, distribution_of
from stagebench.lowering.installed_packages import find_distribution, identity_of
from stagebench.model import Compiler, Record

_SCRUBBED_PREFIXES = ("TVM_", "TL_", "TILELANG_", "PYTHON", "LD_PRELOAD")
_TRACE_VARIABLES = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")
_ASK = "import json, sys; print(json.dumps([list(sys.version_info[:3]), sys.path]))"
_ASK_SECONDS = 60


class CompilerEnvironment(Record, frozen=True, kw_only=True):
    """An interpreter that can import a compiler.

    ``identity`` is a digest that changes with the compiler, its FFI and its solver, a code file of
    one of them, and the versions of torch and numpy.  ``front`` are folders whose packages win
    over the interpreter's own, ``behind`` those that fill in what it lacks.  ``package`` is the
    folder of the compiler's own package, ``None`` for that of this environment.
    """

    compiler: Compiler
    python: str
    identity: str
    front: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    package: str | None = None


def this_environment(name: str = "tilelang") -> CompilerEnvironment:
    """The compiler of the environment that runs us; `MachineError` if there is none."""
    distribution = find_distribution(distribution_of(name), None)
    if distribution is None:
        raise MachineError(
            f"{distribution_of(name)} is not installed in this environment ({sys.prefix})",
            hint=f"pip install -c constraints.txt 'stagebench[{name}]'",
        )
    package = Path(str(distribution.locate_file(name)))
    version = distribution.version
    return CompilerEnvironment(
        compiler=Compiler(name=name, version=version),
        python=sys.executable,
        identity=identity_of(distribution, package, None, sys.version_info[:3], name, version),
    )


def environment_in_front(folder: Path, name: str) -> CompilerEnvironment:
    """This environment with the compiler in ``folder`` in front of its packages.

    A built source tree has no metadata: its ``VERSION`` file says the version.
    """
    package = folder / name
    if not (package / "__init__.py").is_file():
        raise MachineError(f"{folder} has no package {name} in it")
    distribution = find_distribution(distribution_of(name), [str(folder)])
    version = distribution.version if distribution else _told_version(folder, package)
    identity = identity_of(
        distribution, package, [str(folder), *sys.path],
        sys.version_info[:3], name, version,
    )  # fmt: skip
    return CompilerEnvironment(
        compiler=Compiler(name=name, version=version),
        python=sys.executable,
        identity=identity,
        front=(str(folder),),
        package=str(package),
    )


def _told_version(folder: Path, package: Path) -> str:
    for place in (package / "VERSION", folder / "VERSION"):
        if place.is_file():
            return f"{place.read_text().strip()}+local"
    return "local"


def environment_at(place: Path) -> CompilerEnvironment:
    """The compiler at a place: a virtual environment, an interpreter, or a built source tree.

    Which one it is, is seen there: a tree has its package, an interpreter its distribution.  Of a
    place that has both, `COMPILERS` says which: TileLang, then Apache TVM.
    """
    built = (name for name in COMPILERS if (place / name / "__init__.py").is_file())
    name = next(built, None)
    if name is not None:
        return environment_in_front(place, name)
    python = place / "bin" / "python" if place.is_dir() else place
    either = " or ".join(COMPILERS)
    if not os.access(python, os.X_OK):
        raise MachineError(
            f"{place} is no environment: it has no bin/python, and no package {either}",
            hint=f"name a virtual environment, a python, or a folder with a built {either} in it",
        )
    version, folders = _ask(python)
    installed = ((name, find_distribution(distribution_of(name), folders)) for name in COMPILERS)
    found = next(((name, one) for name, one in installed if one is not None), None)
    if found is None:
        either = " or ".join(map(distribution_of, COMPILERS))
        raise MachineError(
            f"{either} is not installed in {place}",
            hint=f"{python} -m pip install {distribution_of(COMPILERS[0])}",
        )
    name, distribution = found
    package = Path(str(distribution.locate_file(name)))
    same = tuple(version[:2]) == sys.version_info[:2]
    return CompilerEnvironment(
        compiler=Compiler(name=name, version=distribution.version),
        python=str(python),
        identity=identity_of(
            distribution, package, folders, tuple(version), name, distribution.version
        ),
        package=str(package),
        # our own dependencies, where their binaries fit that interpreter
        behind=tuple(p for p in sys.path if p.endswith("-packages")) if same else (),
    )


def _ask(python: Path) -> tuple[list[int], list[str]]:
    """An interpreter's version and where it looks for packages."""
    try:
        done = subprocess.run(
            [str(python), "-I", "-c", _ASK],
            env=worker_environ(), capture_output=True, text=True, timeout=_ASK_SECONDS, check=True,
        )  # fmt: skip
        version, folders = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as exc:
        raise MachineError(
            f"{python} does not run as a Python interpreter: {_why_not(exc)}",
            hint="name a virtual environment, a python, or a folder with a built compiler in it",
        ) from exc
    return version, folders


def _why_not(exc: Exception) -> str:
    """How asking ended, without what was asked."""
    if isinstance(exc, subprocess.TimeoutExpired):
        return f"no answer in {_ASK_SECONDS} s"
    if isinstance(exc, subprocess.CalledProcessError):
        said = (exc.stderr or "").strip().splitlines()
        return f"it exits with {exc.returncode}" + (f": {said[-1][:200]}" if said else "")
    if isinstance(exc, ValueError):
        return "it answers something else"
    return str(exc)


def worker_environ() -> dict[str, str]:
    """Environment variables for a worker: ours without what changes or poisons a compiler.

    TileLang writes ``PYTHONPATH``, ``TVM_LIBRARY_PATH`` and ``TL_*`` into the environment when it
    is imported, and ``TL_LOWER_TRACE`` makes it replace its output by edited files.
    """
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(_SCRUBBED_PREFIXES) and key not in _TRACE_VARIABLES
    }
    environ["PYTHONHASHSEED"] = "0"
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return environ
