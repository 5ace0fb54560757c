"""Were the probes of this very kernel built before, for the same launch, by the same code?

Content-addressed, as the assembler's cache is (`stagebench.assemble.cache`), and beside it: an
entry is three cubins, what decoding needs, and the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from stagebench.bundle.build import Candidate
from stagebench.bundle.records import CubinKind
from stagebench.dump.code_digest import code_digest
from stagebench.dump.record_cache import RecordCache, key_of
from stagebench.model import Record
from stagebench.probe.audit_records import Audit

_MAKERS = ("assemble", "bundle", "machine", "model", "probe", "ptx", "sass")


class ProbedEntry(Record, frozen=True, kw_only=True):
    """What `stagebench.bundle.probing.with_probes` adds to a candidate."""

    ptx: str
    cubins: dict[CubinKind, bytes]
    metadata: bytes
    audit: Audit


class ProbeCache(RecordCache[ProbedEntry]):
    """Builds of earlier bundles, in the cache's ``folder``; ``warn`` is called from any thread."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        super().__init__(
            folder / "probes",
            b"stagebench-probes 1",
            msgspec.msgpack.Decoder(ProbedEntry).decode,
            warn,
            again="the probes are built again",
            lost="probes are not kept",
        )


def probe_key(
    candidate: Candidate, arch: str, scalars: Mapping[str, int | float], *parts: object
) -> str:
    """The name of what a candidate, an arch and these parts determine."""
    what = (
        candidate.kernel_cu, candidate.ptx, candidate.result, arch, dict(scalars), parts,
        code_digest(*_MAKERS),
    )  # fmt: skip
    return key_of(msgspec.json.encode(what, order="deterministic"))
