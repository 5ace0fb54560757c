"""Which distributions lie in these folders, at which version, and has a file of one changed?

Answers from metadata and from the sizes and times of files; nothing is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from importlib import metadata
from pathlib import Path

from stagebench.lowering.compiler_choice import Release, distribution_of, parse_release

_CODE = (".py", ".so")
_NOT_CODE = ("3rdparty", "src", "__pycache__", "include")
BESIDE = ("apache-tvm-ffi", "z3-solver")
"""What a compiler runs with whose files count: its FFI, and TileLang's solver."""
_VERSION_ONLY = ("torch", "numpy")
_PACKAGES = {"apache-tvm": "tvm", "apache-tvm-ffi": "tvm_ffi", "z3-solver": "z3"}
"""Distributions whose package is called otherwise."""
_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9._-]+)\s*(?P<versions>[^;]*)")


def find_distribution(name: str, folders: Sequence[str] | None) -> metadata.Distribution | None:
    """The first distribution of that name; ``None`` for folders: those of this interpreter."""
    if folders is None:
        try:
            return metadata.distribution(name)
        except metadata.PackageNotFoundError:
            return None
    return next(iter(metadata.distributions(name=name, path=list(folders))), None)


def is_here(release: Release) -> bool:
    """Whether this environment has that very release installed, or any for one without version."""
    here = find_distribution(distribution_of(release.name), None)
    if here is None or release.version is None:
        return here is not None
    return parse_release(f"{release.name}=={here.version}") == release


def package_folder(distribution: metadata.Distribution) -> Path:
    """Where the package of a distribution lies, if it is there."""
    name = distribution.metadata["Name"]
    return Path(str(distribution.locate_file(_PACKAGES.get(name, name))))


def requirement(distribution: metadata.Distribution, name: str) -> str | None:
    """What a distribution's metadata demands of another one, such as ``z3-solver<4.15.5``."""
    for line in distribution.requires or ():
        match = _REQUIREMENT.match(line)
        if match is not None and match["name"].lower() == name:
            return f"{name}{match['versions'].strip().strip('()')}"
    return None


def identity_of(
    distribution: metadata.Distribution | None,
    package: Path,
    folders: Sequence[str] | None,
    *told: object,
) -> str:
    """A digest that changes with a compiler, what it is installed with, or a file of either.

    ``package`` is the compiler's own folder; what it runs with is looked for in ``folders``: of
    its FFI and its solver the files count as well, of torch and numpy, which are large and make no
    code, the versions alone.  ``told`` is what else tells this compiler from another.
    """
    digest = blake2b(digest_size=16)
    digest.update(f"{told}\n".encode())
    if distribution is not None:
        digest.update((distribution.read_text("RECORD") or "").encode())
    packages = [package]
    for other in (*BESIDE, *_VERSION_ONLY):
        found = find_distribution(other, folders)
        digest.update(f"{other} {found.version if found else 'absent'}\n".encode())
        if found is not None and other in BESIDE:
            packages.append(package_folder(found))
    for folder in packages:
        for line in (f"{folder.name}\n", *_file_states(folder)):
            digest.update(line.encode())
    return digest.hexdigest()


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
