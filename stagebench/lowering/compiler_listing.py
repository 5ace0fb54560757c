"""Which compilers are at hand on this machine, and what of each is known?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from stagebench.lowering.compiler_choice import COMPILERS, distribution_of
from stagebench.lowering.installed_packages import find_distribution
from stagebench.lowering.overlays import PACKAGES, Overlays, Packages, size_of
from stagebench.lowering.tested_releases import untested
from stagebench.model import Record
from stagebench.model.codec import decode

_BESIDE = {"tilelang": ("apache-tvm-ffi", "z3-solver"), "tvm": ("apache-tvm-ffi",)}


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
    found = [_here(name) for name in COMPILERS]
    listed = [one for one in found if one is not None]
    for folder in overlays.all():
        name, _, version = folder.name.partition("-")
        own = distribution_of(name)
        kept = decode((folder / PACKAGES).read_bytes(), Packages, str(folder / PACKAGES))
        packages = {key: value for key, value in kept.packages.items() if key != own}
        listed.append(_made(name, version, folder, packages, size_of(folder)))
    for text in overlays.unfinished():
        name, _, version = text.partition("-")
        listed.append(_made(name, version, None, {}, None))
    return tuple(listed)


def _here(name: str) -> ListedCompiler | None:
    """This environment's compiler of that name, if it has one; the cache may have others."""
    own = find_distribution(distribution_of(name), None)
    if own is None:
        return None
    beside = {other: find_distribution(other, None) for other in _BESIDE[name]}
    return ListedCompiler(
        compiler=f"{name}=={own.version}",
        state="here",
        tested=untested(name, own.version) is None,
        packages={other: one.version for other, one in beside.items() if one is not None},
        folder=None,
        bytes=None,
    )


def _made(
    name: str,
    version: str,
    folder: Path | None,
    packages: dict[str, str],
    size: int | None,
) -> ListedCompiler:
    return ListedCompiler(
        compiler=f"{name}=={version}",
        state="unfinished" if folder is None else "made",
        tested=untested(name, version) is None,
        packages=packages,
        folder=None if folder is None else str(folder),
        bytes=size,
    )
