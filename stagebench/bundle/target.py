"""Where may a bundle be written, and how does it come there whole?

A folder that is empty or not there, or one that is a bundle and nothing else: that is replaced as a
whole.  So is a tar file that is a bundle.  Whatever else lies there is not touched.
"""

from __future__ import annotations

import errno
import io
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from stagebench.bundle.errors import BundleError
from stagebench.bundle.records import BUNDLE
from stagebench.dump.atomic_file import UNFINISHED, write_file

TAR = ".tar"
_OTHER_ARCHIVES = (
    ".7z", ".bz2", ".gz", ".rar", ".tbz2", ".tgz", ".txz", ".xz", ".zip", ".zst",
)  # fmt: skip
_HINTS = {
    errno.ENOSPC: "the disk is full: free some space, or write elsewhere with -o",
    errno.EDQUOT: "the quota is used up: free some space, or write elsewhere with -o",
    errno.EROFS: "write elsewhere with -o",
    errno.EACCES: "write elsewhere with -o",
    errno.ENOTDIR: "a file lies where a folder belongs: write elsewhere with -o",
}


class _Index(msgspec.Struct):
    """What every version of ``bundle.json`` has."""

    variants: list[msgspec.Raw]


def check_target(path: Path) -> None:
    """Raise `BundleError` where a bundle can't be written to, or would bury something else."""
    suffix = path.suffix.lower()
    if suffix in _OTHER_ARCHIVES or (suffix == TAR and path.suffix != TAR):
        raise BundleError(
            f"-o {path}: a bundle is a folder or a {TAR} file",
            hint=f"-o {_stem(path)}{TAR}: its files are compressed already",
        )
    if suffix == TAR:
        if path.is_dir():
            raise BundleError(f"-o {path} is a folder", hint="another name, or remove it")
        if path.is_file() and not _is_bundle_tar(path):
            raise BundleError(
                f"-o {path}: a file that is no bundle lies there",
                hint="another name, or remove it",
            )
        return
    if path.is_dir():
        foreign = _foreign(path)
        if foreign is not None:
            raise BundleError(
                f"-o {path}: {foreign} lies there, which is of no bundle",
                hint="a new or empty folder; one that is a bundle and nothing else is replaced",
            )
    elif path.exists():
        raise BundleError(
            f"-o {path} is a file", hint=f"a folder, or a file that ends in {TAR}: -o {path}{TAR}"
        )


def write_container(path: Path, files: Mapping[str, bytes]) -> None:
    """Write ``files`` to the tar file or the folder ``path``, whole or not at all.

    `BundleError` names the place where it can't be written; what was there is there still.
    """
    check_target(path)
    try:
        if path.suffix == TAR:
            write_file(path, _tar(files))
        elif path.is_dir() and not any(path.iterdir()):
            _fill(path, files)  # the folder itself stays: it may be a mount, or the working one
        else:
            _replace(path, files)
    except OSError as exc:
        raise BundleError(
            f"the bundle can't be written to {path}: {exc.strerror or exc}",
            hint=_HINTS.get(exc.errno or 0, "write elsewhere with -o"),
        ) from exc


def _tar(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """The index comes last: before it there is no bundle."""
    try:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    except BaseException:
        for name in {Path(name).parts[0] for name in files}:
            shutil.rmtree(folder / name, ignore_errors=True)
            if (folder / name).is_file():
                (folder / name).unlink()
        raise


def _replace(path: Path, files: Mapping[str, bytes]) -> None:
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=path.parent))
    try:
        whole, old = fresh / "new", fresh / "old"
        whole.mkdir()
        _fill(whole, files)
        if path.exists():
            path.replace(old)
        try:
            whole.replace(path)
        except BaseException:
            if old.exists():
                old.replace(path)
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _foreign(folder: Path) -> str | None:
    """A file in it that its index does not name; ``None``: it is empty, or just a bundle."""
    there = sorted(one for one in folder.rglob("*") if not one.is_dir() or one.is_symlink())
    if not there:
        return None
    named = _named(folder / BUNDLE)
    for one in there:
        name = one.relative_to(folder).as_posix()
        if name != BUNDLE and name not in named:
            return name
    return None if named else BUNDLE


def _named(index: Path) -> frozenset[str]:
    """The files that an index names, of whatever version it is; none where it is no index."""
    try:
        data = index.read_bytes()
        msgspec.json.decode(data, type=_Index)
        return frozenset(_paths(msgspec.json.decode(data)))
    except (OSError, msgspec.DecodeError, RecursionError):
        return frozenset()


def _paths(value: object) -> list[str]:
    if isinstance(value, list):
        return [path for one in value for path in _paths(one)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("path"), str) and "digest" in value:
        return [value["path"]]
    return [path for one in value.values() for path in _paths(one)]


def _is_bundle_tar(path: Path) -> bool:
    try:
        with tarfile.open(path) as archive:
            return any(name.removeprefix("./") == BUNDLE for name in archive.getnames())
    except (tarfile.TarError, EOFError, OSError):
        return False


def _stem(path: Path) -> Path:
    while path.suffix.lower() in (*_OTHER_ARCHIVES, TAR):
        path = path.with_suffix("")
    return path
