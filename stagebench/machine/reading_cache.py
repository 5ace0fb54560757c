"""Was this very machine code read before, beside the same facts, by the same code of ours?

Content-addressed like the assembler's cache beside which it lies (`stagebench.assemble.cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from stagebench.assemble.records import Assembled
from stagebench.dump.code_digest import code_digest
from stagebench.dump.record_cache import RecordCache, key_of
from stagebench.lowering.lower import Lowering
from stagebench.model import MachineCode

_READERS = ("facts", "machine", "model", "ptx", "sass")


class ReadingCache(RecordCache[MachineCode]):
    """Facts of machine code, in the cache's ``folder``; ``None``: nothing is kept."""

    def __init__(self, folder: Path | None, warn: Callable[[str], None]) -> None:
        super().__init__(
            None if folder is None else folder / "readings",
            b"stagebench-reading 2",
            msgspec.msgpack.Decoder(MachineCode).decode,
            warn,
            again="the machine code is read again",
            lost="facts of machine code are not kept",
        )


def reading_key(lowering: Lowering, made: Assembled) -> str:
    """The name of what was read: machine code beside the facts that it is compared with."""
    facts = lowering.result.facts
    return key_of(
        b"" if facts is None else msgspec.json.encode((facts.launch, facts.sync_ops)),
        b"" if facts is None else msgspec.json.encode((facts.shared_buffers, facts.barriers)),
        msgspec.json.encode(lowering.result.variant, order="sorted"),
        (lowering.kernel_cu or "").encode(),
        made.ptx.encode(),
        made.cubin,
        made.sass.encode(),
        msgspec.json.encode((made.resources, made.messages)),
        code_digest(*_READERS).encode(),
    )
