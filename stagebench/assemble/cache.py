"""Was this very text assembled before, with the same flags, by the same toolchain and code of ours?

Content-addressed: a key is a digest of all that the result depends on, an entry one file, checked
by a checksum and written in one step.  Several runs may share a cache.  Does not see: headers that
a user's CUDA includes from outside the toolchain and TileLang's templates.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec
import zstandard

from stagebench.assemble.records import Assembled, MachineText, NotAssembled
from stagebench.dump.atomic_file import write_file
from stagebench.dump.code_digest import code_digest
from stagebench.dump.sealed_file import seal, unseal

Entry = Assembled | MachineText | NotAssembled

_FORMAT = b"stagebench-machine 1"
_MAKERS = ("assemble", "model")
_decode = msgspec.msgpack.Decoder(Entry).decode


def entry_key(*parts: str) -> str:
    """The name of what these parts (texts, flags, a toolchain's identity) determine."""
    digest = blake2b(digest_size=20)
    for part in (*parts, code_digest(*_MAKERS)):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


class MachineCache:
    """Results of earlier runs.  ``warn`` is told of damaged entries and (once) of failed writes."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self._warn = warn
        self._writable = True

    def get(self, key: str) -> Entry | None:
        """The stored result; a damaged one is removed, with a warning."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            packed = unseal(_FORMAT, data)
            return _decode(zstandard.ZstdDecompressor().decompress(packed))
        except (ValueError, zstandard.ZstdError):  # msgspec's errors are ValueErrors
            self._warn(f"damaged cache entry {path}: removed, the kernel is assembled again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, entry: Entry) -> None:
        """Store a result.  A cache that can't be written costs time, never a result."""
        if not self._writable:
            return
        payload = zstandard.ZstdCompressor(level=6).compress(msgspec.msgpack.encode(entry))
        try:
            write_file(self._path(key), seal(_FORMAT, payload))
        except OSError as exc:
            self._writable = False
            self._warn(f"the cache can't be written ({exc}); assembled kernels are not kept")

    def _path(self, key: str) -> Path:
        return self.folder / "machine" / key[:2] / key
