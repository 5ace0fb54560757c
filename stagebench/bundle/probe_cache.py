"""Were the probes of this very kernel built before, for the same launch, by the same code?

Content-addressed, as the assembler's cache is (`stagebench.assemble.cache`), and beside it: an
entry is three cubins, what decoding needs, and the audit.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
import zstandard

from stagebench.bundle.build import Candidate
from stagebench.bundle.records import CubinKind
from stagebench.dump.atomic_file import write_file
from stagebench.dump.code_digest import code_digest
from stagebench.dump.sealed_file import seal, unseal
from stagebench.model import Record
from stagebench.probe.audit_records import Audit

_FORMAT = b"stagebench-probes 1"
_MAKERS = ("assemble", "bundle", "machine", "model", "probe", "ptx", "sass")


class ProbedEntry(Record, frozen=True, kw_only=True):
    """What `stagebench.bundle.probing.with_probes` adds to a candidate."""

    ptx: str
    cubins: dict[CubinKind, bytes]
    metadata: bytes
    audit: Audit


_decode = msgspec.msgpack.Decoder(ProbedEntry).decode


class ProbeCache:
    """Builds of earlier bundles in ``folder``.

    ``warn`` is told of damages and (once) of a failed write, from any thread.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self._folder = folder / "probes"
        self._warn = warn
        self._writable = True
        self._lock = threading.Lock()

    def get(self, key: str) -> ProbedEntry | None:
        """The stored builds; damaged ones are removed, with a warning."""
        path = self._path(key)
        try:
            packed = unseal(_FORMAT, path.read_bytes())
            return _decode(zstandard.ZstdDecompressor().decompress(packed))
        except OSError:
            return None
        except (ValueError, zstandard.ZstdError):
            self._warn(f"damaged cache entry {path}: removed, the probes are built again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, key: str, entry: ProbedEntry) -> None:
        """Store builds.  A cache that can't be written costs time, never a result."""
        if not self._writable:
            return
        payload = zstandard.ZstdCompressor(level=6).compress(msgspec.msgpack.encode(entry))
        try:
            write_file(self._path(key), seal(_FORMAT, payload))
        except OSError as exc:
            self._failed(exc)

    def _failed(self, exc: OSError) -> None:
        with self._lock:
            told = not self._writable
            self._writable = False
        if not told:
            self._warn(f"the cache can't be written ({exc}); probes are not kept")

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key


def probe_key(
    candidate: Candidate, arch: str, scalars: Mapping[str, int | float], *parts: object
) -> str:
    """The name of what a candidate, an arch and these parts determine."""
    what = (
        candidate.kernel_cu, candidate.ptx, candidate.result, arch, dict(scalars), parts,
        code_digest(*_MAKERS),
    )  # fmt: skip
    return blake2b(msgspec.json.encode(what, order="deterministic"), digest_size=20).hexdigest()
