"""Where do a bundle's bytes lie: in a folder or in a tar file?  Checked as they are read.

Names in ``bundle.json`` are not trusted: one that leads out of the bundle is refused, in a folder
as in a tar.
"""

from __future__ import annotations

import tarfile
import zlib
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Protocol

from stagebench.bundle.errors import BundleError
from stagebench.bundle.records import BUNDLE, BundledFile

_DIGEST_BYTES = 16
_AGAIN = "copy the bundle again, or make it again: stagebench bundle RUN -o DIR"


class Container(Protocol):
    """Something that holds files by name."""

    @property
    def source(self) -> str:
        """Where it lies, for messages."""

    def read(self, name: str) -> bytes:
        """The bytes of one file; `BundleError` where it is not there."""


class FolderContainer:
    """A bundle as a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def source(self) -> str:
        """Where it lies."""
        return str(self._root)

    def read(self, name: str) -> bytes:
        """The bytes of one file."""
        path = self._root / _checked(name, self.source)
        try:
            return path.read_bytes()
        except OSError as exc:
            raise BundleError(f"{path}: {exc.strerror}", hint=_AGAIN) from exc


class TarContainer:
    """A bundle as a tar file, compressed or not; nothing is extracted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[str, bytes] = {}
        try:
            if not tarfile.is_tarfile(path):
                raise BundleError(
                    f"{path} is no bundle: neither a folder with {BUNDLE} nor a tar file",
                    hint=_AGAIN,
                )
            with tarfile.open(path) as archive:
                for member in archive:
                    stream = archive.extractfile(member) if member.isfile() else None
                    if stream is not None:
                        self._files[member.name.removeprefix("./")] = stream.read()
        except (tarfile.TarError, EOFError, OSError, zlib.error) as exc:
            raise BundleError(f"{path} is no whole tar file: {exc}", hint=_AGAIN) from exc

    @property
    def source(self) -> str:
        """Where it lies."""
        return str(self._path)

    def read(self, name: str) -> bytes:
        """The bytes of one file."""
        found = self._files.get(_checked(name, self.source))
        if found is None:
            raise BundleError(f"{self._path} has no {name}", hint=_AGAIN)
        return found


def open_container(path: Path) -> Container:
    """The container that lies at ``path``."""
    if path.is_dir():
        return FolderContainer(path)
    if path.is_file():
        return TarContainer(path)
    raise BundleError(f"no bundle at {path}", hint="`stagebench bundle RUN -o DIR` makes one")


def store(name: str, content: bytes, *, compress: bool = True) -> tuple[BundledFile, bytes]:
    """How ``content`` is kept under ``name``, and the bytes that are written there."""
    stored = zlib.compress(content, 9) if compress else content
    kept = BundledFile(
        path=name,
        digest=digest_of(stored),
        stored_bytes=len(stored),
        content_bytes=len(content),
        compression="zlib" if compress else "none",
    )
    return kept, stored


def load(container: Container, file: BundledFile) -> bytes:
    """The content of one file, once length and checksum are right."""
    stored = container.read(file.path)
    where = f"{file.path} in {container.source}"
    if len(stored) != file.stored_bytes:
        raise BundleError(
            f"{where} has {len(stored)} bytes of {file.stored_bytes}: it is truncated"
            if len(stored) < file.stored_bytes
            else f"{where} has {len(stored)} bytes, {file.stored_bytes} were written",
            hint=_AGAIN,
        )
    if digest_of(stored) != file.digest:
        raise BundleError(f"{where} is not what was bundled: its checksum differs", hint=_AGAIN)
    try:
        content = zlib.decompress(stored) if file.compression == "zlib" else stored
    except zlib.error as exc:
        raise BundleError(f"{where} can't be decompressed: {exc}", hint=_AGAIN) from exc
    if len(content) != file.content_bytes:
        raise BundleError(f"{where} unpacks to another size than was bundled", hint=_AGAIN)
    return content


def digest_of(data: bytes) -> str:
    """The checksum that the index holds."""
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _checked(name: str, source: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or not path.parts:
        raise BundleError(f"{source} names a file outside of itself: {name!r}")
    return name
