"""Was this variant lowered before, from the same files, by the same compiler and extractor?

Content-addressed, in direct mode: an entry lists the user's files that its kernel was made from
with their hashes, so a hit needs no compiler to say what a kernel consists of.  Entries are found
by a digest of the request, the compiler environment's identity and our own code; each is one file,
checked by a checksum, written in one step.  Several runs may share a cache.

Does not see: files that a kernel reads without importing them, and environment variables.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

import stagebench
from stagebench.dump.atomic_file import write_file
from stagebench.dump.code_digest import code_digest
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.model import Record
from stagebench.worker.protocol import Lowered, LowerRequest, Raised

_FORMAT = b"stagebench-cache 1"
_KEPT_PER_REQUEST = 8
_EXTRACTOR_PACKAGES = ("dump", "facts", "kernels", "model", "worker")


class UsedFile(Record, frozen=True, kw_only=True):
    """A file of the user's tree; ``path`` is relative to the kernel file's folder."""

    path: str
    digest: str


class EntryHeader(Record, frozen=True, kw_only=True):
    """First line of an entry: what it was made from, and the checksum of what follows."""

    files: tuple[UsedFile, ...]
    payload_digest: str


_decode_header = msgspec.json.Decoder(EntryHeader).decode
_decode_payload = msgspec.json.Decoder(Lowered | Raised).decode


class Cache:
    """Results of earlier lowerings.  ``warn`` is told of damaged entries and failed writes."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self._warn = warn
        self._digests: dict[Path, str | None] = {}

    def get(
        self, request: LowerRequest, environment: CompilerEnvironment
    ) -> Lowered | Raised | None:
        """The stored result whose files are unchanged, or ``None``."""
        folder = self._entry_folder(request, environment)
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return None
        for entry in entries:
            if entry.name.startswith(".tmp-"):
                continue
            found = self._read(entry, request)
            if found is not None:
                return found
        return None

    def put(
        self,
        request: LowerRequest,
        environment: CompilerEnvironment,
        result: Lowered | Raised,
    ) -> None:
        """Store a result.  A cache that can't be written costs time, never a result."""
        base = _base_folder(request)
        files = tuple(
            UsedFile(path=os.path.relpath(path, base), digest=self._digest(Path(path)) or "")
            for path in result.module_files
        )
        payload = msgspec.json.encode(result)
        header = EntryHeader(files=files, payload_digest=_hash(payload))
        name = _hash(msgspec.json.encode(files))[:32]
        folder = self._entry_folder(request, environment)
        data = b"\n".join((_FORMAT, msgspec.json.encode(header), payload))
        try:
            write_file(folder / name, data)
            self._trim(folder)
        except OSError as exc:
            self._warn(f"the cache can't be written ({exc}); results are not kept")

    def _read(self, entry: Path, request: LowerRequest) -> Lowered | Raised | None:
        try:
            data = entry.read_bytes()
        except OSError:
            return None
        try:
            mark, head, payload = data.split(b"\n", 2)
            header = _decode_header(head)
            if mark != _FORMAT or header.payload_digest != _hash(payload):
                raise ValueError("checksum")
            if not self._unchanged(header.files, request):
                return None
            return _decode_payload(payload)
        except ValueError:  # msgspec's errors are ValueErrors
            self._warn(f"damaged cache entry {entry}: removed, the variant is lowered again")
            with contextlib.suppress(OSError):
                entry.unlink()
            return None

    def _unchanged(self, files: Iterable[UsedFile], request: LowerRequest) -> bool:
        base = _base_folder(request)
        return all(
            self._digest(Path(os.path.normpath(base / used.path))) == used.digest for used in files
        )

    def _digest(self, path: Path) -> str | None:
        if path not in self._digests:
            try:
                self._digests[path] = _hash(path.read_bytes())
            except OSError:
                self._digests[path] = None
        return self._digests[path]

    def _entry_folder(self, request: LowerRequest, environment: CompilerEnvironment) -> Path:
        identity = msgspec.structs.replace(request, path=Path(request.path or "").name)
        key = blake2b(digest_size=20)
        for part in (
            msgspec.json.encode(identity, order="sorted"),
            environment.identity.encode(),
            code_digest(*_EXTRACTOR_PACKAGES).encode(),
        ):
            key.update(part + b"\0")
        name = key.hexdigest()
        return self.folder / "variants" / name[:2] / name

    def _trim(self, folder: Path) -> None:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".tmp-")]
        entries.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in entries[_KEPT_PER_REQUEST:]:
            entry.unlink(missing_ok=True)


def _base_folder(request: LowerRequest) -> Path:
    return Path(request.path).parent if request.path else Path(stagebench.__file__).parent


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
