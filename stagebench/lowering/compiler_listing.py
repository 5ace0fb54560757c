"""Which compilers are at hand on this machine, and what of each is known?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from stagebench.lowering.compiler_choice import COMPILERS, Release, distribution_of
from stagebench.lowering.import_mark import import_ended
from stagebench.lowering.installed_packages import BESIDE, find_distribution, requirement
from stagebench.lowering.overlay_folder import (
    UNFINISHED,
    damage,
    folder_name,
    packages_of,
    release_of,
    size_of,
)
from stagebench.lowering.overlays import Overlays
from stagebench.lowering.tested_releases import untested
from stagebench.model import Record

State = Literal["here", "made", "damaged", "stray", "unfinished", "broken"]


class ListedCompiler(Record, frozen=True, kw_only=True):
    """One compiler as it is typed after ``--compiler``.

    ``state``: ``here`` in this environment, ``made`` in the cache; there too, ``damaged`` (a part
    of it is missing), ``stray`` (a folder that is no overlay: ``compiler`` is its name),
    ``unfinished`` (it is being made, or that was interrupted: the next use goes on with it) and
    ``broken`` (it is whole, and the last import of these files failed).  ``bytes`` is what it
    takes in the cache.
    """

    compiler: str
    state: State
    tested: bool
    packages: dict[str, str]
    folder: str | None
    bytes: int | None


def list_compilers(overlays: Overlays) -> tuple[ListedCompiler, ...]:
    """This environment's first, then those in the cache."""
    found = [_here(name) for name in COMPILERS]
    listed = [one for one in found if one is not None]
    listed += [_in_cache(folder) for folder in overlays.all()]
    for folder in overlays.unfinished():
        release = release_of(folder.name.removeprefix(UNFINISHED))
        listed.append(
            _kept(folder, release, "broken" if _broken(folder, release) else "unfinished")
        )
    return tuple(listed)


def _here(name: str) -> ListedCompiler | None:
    """This environment's compiler of that name, if it has one; the cache may have others."""
    own = find_distribution(distribution_of(name), None)
    if own is None:
        return None
    demanded = [other for other in BESIDE if requirement(own, other) is not None]
    beside = {other: find_distribution(other, None) for other in demanded}
    return ListedCompiler(
        compiler=f"{name}=={own.version}",
        state="here",
        tested=untested(name, own.version) is None,
        packages={other: one.version for other, one in beside.items() if one is not None},
        folder=None,
        bytes=None,
    )


def _in_cache(folder: Path) -> ListedCompiler:
    release = release_of(folder.name)
    named = release is not None and folder.name == folder_name(release)
    if not named or damage(folder) is not None:
        return _kept(folder, release, "damaged")
    return _kept(folder, release, "broken" if _broken(folder, release) else "made")


def _broken(folder: Path, release: Release | None) -> bool:
    return release is not None and import_ended(folder, release.name, works=False)


def _kept(folder: Path, release: Release | None, state: State) -> ListedCompiler:
    """What lies in the cache; of what is not whole only that it does."""
    state = state if release is not None else "stray"
    made = release is not None and state == "made"
    packages = packages_of(folder) if made else {}
    own = None if release is None else distribution_of(release.name)
    return ListedCompiler(
        compiler=folder.name if release is None else str(release),
        state=state,
        tested=release is not None and untested(release.name, str(release.version)) is None,
        packages={name: version for name, version in packages.items() if name != own},
        folder=str(folder),
        bytes=size_of(folder) if made else None,
    )
