"""Is this folder a whole overlay, of which release, and how large?

Answers from names, metadata and sizes; nothing is imported.  An overlay is whole where its
``packages.json`` can be read and every distribution in it has its metadata and its package there;
whether it can be imported, `stagebench.lowering.import_mark` remembers.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal

from stagebench.dump.atomic_file import write_file
from stagebench.errors import DumpError, UsageError
from stagebench.lowering.compiler_choice import Release, parse_release
from stagebench.lowering.installed_packages import find_distribution, package_folder
from stagebench.model import Record
from stagebench.model.codec import decode, encode_pretty

PACKAGES = "packages.json"
SIZE = "size.txt"
UNFINISHED = ".unfinished-"
"""What the name of an overlay begins with until it has been imported."""


class Packages(Record, frozen=True, kw_only=True):
    """``packages.json``: what an overlay consists of, distribution by version."""

    schema_version: Literal[1]
    packages: dict[str, str]


def folder_name(release: Release) -> str:
    """What the overlay of a release is called."""
    return f"{release.name}-{release.version}"


def release_of(name: str) -> Release | None:
    """The release that a folder is called after, however spelled; ``None``: it is a stray one."""
    compiler, _, version = name.partition("-")
    try:
        return parse_release(f"{compiler}=={version}")
    except UsageError:
        return None


def overlay_release(folder: Path) -> Release | None:
    """The release whose overlay lies there, finished or not; ``None`` where none does."""
    if not (folder / PACKAGES).is_file():
        return None
    return release_of(folder.name.removeprefix(UNFINISHED))


def made_again(release: Release) -> str:
    """What to do about an overlay that is no good."""
    return (
        f"`stagebench compilers remove {release}`, then `stagebench compilers add {release}` "
        "makes it again"
    )


def write_packages(overlay: Path, packages: dict[str, str]) -> None:
    """Say what an overlay consists of."""
    write_file(overlay / PACKAGES, encode_pretty(Packages(schema_version=1, packages=packages)))


def packages_of(overlay: Path) -> dict[str, str]:
    """What an overlay consists of; `DumpError` where that can't be read."""
    path = overlay / PACKAGES
    try:
        return decode(path.read_bytes(), Packages, str(path)).packages
    except OSError as exc:
        raise DumpError(f"{path}: {exc.strerror}") from exc


def damage(overlay: Path) -> str | None:
    """What of an overlay is missing or can't be read; ``None``: it is whole."""
    try:
        packages = packages_of(overlay)
    except DumpError as exc:
        return exc.message
    for name, version in packages.items():
        found = find_distribution(name, [str(overlay)])
        if found is None or found.version != version:
            return f"{name} {version} is missing"
        package = package_folder(found)
        for needed in (package, package / "__init__.py"):
            if not needed.exists():
                return f"{needed} is missing"
    return None if packages else f"{overlay / PACKAGES} names no package"


def size_of(overlay: Path) -> int:
    """What an overlay takes, in bytes: measured once, and kept beside it where that is possible."""
    kept = overlay / SIZE
    with contextlib.suppress(OSError, ValueError):
        return int(kept.read_text())
    size = _measured(overlay)
    with contextlib.suppress(OSError):
        write_file(kept, f"{size}\n".encode())
    return size


def _measured(root: Path) -> int:
    total = 0
    for folder, _, files in os.walk(root):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)  # noqa: PTH118 - thousands of files
    return total
