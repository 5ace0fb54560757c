"""Which compilers are at hand on this machine, and what of each is known?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from stagebench.errors import MachineError
from stagebench.lowering.compiler_environment import this_environment
from stagebench.lowering.installed_packages import find_distribution
from stagebench.lowering.overlays import PACKAGES, Overlays, Packages
from stagebench.lowering.tested_releases import untested
from stagebench.model import Record
from stagebench.model.codec import decode


class ListedCompiler(Record, frozen=True, kw_only=True):
    """One compiler as it is typed after ``--compiler``.

    ``state``: ``here`` in this environment, ``made`` in the cache, ``unfinished`` (its making was
    interrupted: the next use goes on with it).  ``bytes`` is what it takes in the cache.
    """

    compiler: str
    state: Literal["here", "made", "unfinished"]
    tested: bool
    packages: dict[str, str]
    folder: str | None
    bytes: int | None


def list_compilers(overlays: Overlays) -> tuple[ListedCompiler, ...]:
    """This environment's first, then those in the cache."""
    found: list[ListedCompiler] = []
    try:
        compiler = this_environment().compiler
        beside = {name: find_distribution(name, None) for name in ("apache-tvm-ffi", "z3-solver")}
        found.append(
            ListedCompiler(
                compiler=f"{compiler.name}=={compiler.version}",
                state="here",
                tested=untested(compiler.name, compiler.version) is None,
                packages={name: one.version for name, one in beside.items() if one is not None},
                folder=None,
                bytes=None,
            )
        )
    except MachineError:  # none is installed here: the cache may have some
        pass
    for folder in overlays.all():
        name, _, version = folder.name.partition("-")
        listed = decode((folder / PACKAGES).read_bytes(), Packages, str(folder / PACKAGES))
        packages = {key: value for key, value in listed.packages.items() if key != name}
        found.append(_made(name, version, folder, packages, "made"))
    for text in overlays.unfinished():
        name, _, version = text.partition("-")
        found.append(_made(name, version, None, {}, "unfinished"))
    return tuple(found)


def _made(
    name: str,
    version: str,
    folder: Path | None,
    packages: dict[str, str],
    state: Literal["made", "unfinished"],
) -> ListedCompiler:
    return ListedCompiler(
        compiler=f"{name}=={version}",
        state=state,
        tested=untested(name, version) is None,
        packages=packages,
        folder=None if folder is None else str(folder),
        bytes=None if folder is None else _size(folder),
    )


def _size(root: Path) -> int:
    total = 0
    for folder, _, files in os.walk(root):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)  # noqa: PTH118 - thousands of files
    return total
