"""Which compiler is installed where, and has anything about it changed since the last run?

Answers without importing the compiler: from the distribution's metadata and from the sizes and
times of its files.  Does not handle: making environments for other releases.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from importlib import metadata
from pathlib import Path

from stagebench.errors import MachineError
from stagebench.model import Compiler, Record

_WITH_IT = ("apache-tvm-ffi", "z3-solver", "torch", "numpy")
_CODE = (".py", ".so")
_NOT_CODE = ("3rdparty", "src", "__pycache__", "include")
_EXTRAS = {"apache-tvm": "tvm"}
_PACKAGES = {"apache-tvm": "tvm"}
"""What is installed and imported under another name than the distribution's."""
_SCRUBBED_PREFIXES = ("TVM_", "TL_", "TILELANG_", "PYTHON", "LD_PRELOAD")
_TRACE_VARIABLES = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")


class CompilerEnvironment(Record, frozen=True, kw_only=True):
    """An interpreter that can import a compiler.

    ``identity`` is a digest that changes with the compiler, what it is installed with, or a file
    of either.
    """

    compiler: Compiler
    python: str
    identity: str


def this_environment(name: str = "tilelang") -> CompilerEnvironment:
    """The compiler of the environment that runs us; `MachineError` if there is none."""
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError as exc:
        raise MachineError(
            f"{name} is not installed in this environment ({sys.prefix})",
            hint=f"pip install -c constraints.txt 'stagebench[{_EXTRAS.get(name, name)}]'",
        ) from exc
    digest = blake2b(digest_size=16)
    digest.update(f"{sys.version_info[:3]} {name} {distribution.version}\n".encode())
    digest.update((distribution.read_text("RECORD") or "").encode())
    for other in _WITH_IT:
        try:
            digest.update(f"{other} {metadata.version(other)}\n".encode())
        except metadata.PackageNotFoundError:
            digest.update(f"{other} absent\n".encode())
    package = Path(str(distribution.locate_file(_PACKAGES.get(name, name))))
    for line in _file_states(package):
        digest.update(line.encode())
    return CompilerEnvironment(
        compiler=Compiler(name=name, version=distribution.version),
        python=sys.executable,
        identity=digest.hexdigest(),
    )


def _file_states(root: Path) -> list[str]:
    """Size and modification time of every code file below ``root``, sorted by path."""
    states: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_CODE]
        for name in files:
            if name.endswith(_CODE):
                path = os.path.join(folder, name)  # noqa: PTH118 - thousands of files
                state = os.stat(path)  # noqa: PTH116 - as above
                relative = path[len(str(root)) :]
                states.append(f"{relative} {state.st_size} {state.st_mtime_ns}\n")
    return sorted(states)


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
