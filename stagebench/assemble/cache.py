"""Was this very text assembled before, with the same flags, by the same toolchain and code of ours?

Content-addressed: a key is a digest of all that the result depends on, an entry one file, checked
by a checksum and written in one step.  Several runs may share a cache.  Does not see: headers that
a user's CUDA includes from outside the toolchain and TileLang's templates.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from stagebench.assemble.records import Assembled, MachineText, NotAssembled
from stagebench.dump.code_digest import code_digest
from stagebench.dump.record_cache import RecordCache, key_of

Entry = Assembled | MachineText | NotAssembled

_MAKERS = ("assemble", "model")


def entry_key(*parts: str) -> str:
    """The name of what these parts (texts, flags, a toolchain's identity) determine."""
    return key_of(*(part.encode() for part in (*parts, code_digest(*_MAKERS))))


class MachineCache(RecordCache[Entry]):
    """Results of earlier runs, in the cache's ``folder``."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        super().__init__(
            folder / "machine",
            b"stagebench-machine 1",
            msgspec.msgpack.Decoder(Entry).decode,
            warn,
            again="the kernel is assembled again",
            lost="assembled kernels are not kept",
        )
        self.folder = folder
