"""What was made before of this very thing?  Records in a folder, by the digest of what made them.

An entry is one file, packed, checked by a checksum and written in one step, so that several runs,
and threads, may share a folder.  A cache costs nothing but time: what can't be read is made again,
what can't be written is not kept, and either is told.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import zstandard

from stagebench.dump.atomic_file import write_file
from stagebench.dump.sealed_file import seal, unseal

T = TypeVar("T")
_KEY_BYTES = 20


def key_of(*parts: bytes) -> str:
    """The name of what these parts determine, each by itself: ``a, bc`` is not ``ab, c``."""
    digest = blake2b(digest_size=_KEY_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


class RecordCache(Generic[T]):
    """Entries of one kind in ``folder`` (``None``: nothing is kept).

    ``mark`` names the format, ``decode`` reads a record from msgpack.  ``warn`` is told of each
    damaged entry and once of a failed write; ``again`` and ``lost`` say what that means: "the
    kernel is assembled again", "assembled kernels are not kept".
    """

    def __init__(
        self,
        folder: Path | None,
        mark: bytes,
        decode: Callable[[bytes], T],
        warn: Callable[[str], None],
        *,
        again: str,
        lost: str,
    ) -> None:
        self._folder = folder
        self._mark = mark
        self._decode = decode
        self._warn = warn
        self._again = again
        self._lost = lost
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """The stored record; a damaged one is removed, with a warning."""
        folder = self._folder
        if folder is None:
            return None
        path = _path(folder, key)
        try:
            packed = unseal(self._mark, path.read_bytes())
            return self._decode(zstandard.ZstdDecompressor().decompress(packed))
        except OSError:
            return None
        except (ValueError, zstandard.ZstdError):  # msgspec's errors are ValueErrors
            self._warn(f"damaged cache entry {path}: removed, {self._again}")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, record: T) -> None:
        """Store a record.  A cache that can't be written costs time, never a result."""
        folder = self._folder
        if folder is None:
            return
        packed = zstandard.ZstdCompressor(level=6).compress(msgspec.msgpack.encode(record))
        try:
            write_file(_path(folder, key), seal(self._mark, packed))
        except OSError as exc:
            self._give_up(exc)

    def _give_up(self, exc: OSError) -> None:
        with self._lock:
            told, self._folder = self._folder is None, None
        if not told:
            self._warn(f"the cache can't be written ({exc}); {self._lost}")


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / key
