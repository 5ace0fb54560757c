"""Was this very machine code read before, beside the same facts, by the same code of ours?

Content-addressed like the assembler's cache beside which it lies (`stagebench.assemble.cache`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec

from stagebench.assemble.records import Assembled
from stagebench.dump.atomic_file import write_file
from stagebench.dump.code_digest import code_digest
from stagebench.dump.sealed_file import seal, unseal
from stagebench.lowering.lower import Lowering
from stagebench.model import MachineCode

_FORMAT = b"stagebench-reading 1"
_READERS = ("facts", "machine", "model", "ptx", "sass")
_decode = msgspec.json.Decoder(MachineCode).decode


class ReadingCache:
    """Facts of machine code by what they were read from; ``folder`` ``None``: nothing is kept.

    ``warn`` is told of damaged entries and, once, of failed writes.
    """

    def __init__(self, folder: Path | None, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._warn = warn

    def get(self, lowering: Lowering, made: Assembled) -> MachineCode | None:
        """The stored facts; a damaged entry is removed, with a warning."""
        if self._folder is None:
            return None
        path = self._path(lowering, made)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            return _decode(unseal(_FORMAT, data))
        except ValueError:  # msgspec's errors are ValueErrors
            self._warn(f"damaged cache entry {path}: removed, the machine code is read again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, lowering: Lowering, made: Assembled, machine: MachineCode) -> None:
        """Store facts.  A cache that can't be written costs time, never a result."""
        if self._folder is None:
            return
        try:
            sealed = seal(_FORMAT, msgspec.json.encode(machine))
            write_file(self._path(lowering, made), sealed)
        except OSError as exc:
            self._folder = None
            self._warn(f"the cache can't be written ({exc}); facts of machine code are not kept")

    def _path(self, lowering: Lowering, made: Assembled) -> Path:
        facts = lowering.result.facts
        digest = blake2b(digest_size=20)
        for part in (
            b"" if facts is None else msgspec.json.encode((facts.launch, facts.sync_ops)),
            b"" if facts is None else msgspec.json.encode((facts.shared_buffers, facts.barriers)),
            msgspec.json.encode(lowering.result.variant, order="sorted"),
            (lowering.kernel_cu or "").encode(),
            made.ptx.encode(),
            made.cubin,
            made.sass.encode(),
            msgspec.json.encode((made.resources, made.messages)),
            code_digest(*_READERS).encode(),
        ):
            digest.update(len(part).to_bytes(8, "little") + part)
        name = digest.hexdigest()
        folder = self._folder or Path()
        return folder / "readings" / name[:2] / name
