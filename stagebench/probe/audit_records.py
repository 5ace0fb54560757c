"""What can an audit of a probed kernel say?  One record a site, one a finding."""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import Record

Build = Literal["base", "control", "probed"]
SiteStatus = Literal["ok", "moved", "wait_missing", "read_missing"]
FindingKind = Literal[
    "moved",
    "wait_missing",
    "read_missing",
    "ops_differ",
    "order_differs",
    "copies_differ",
    "spills",
    "stack",
    "message",
    "registers",
    "role_registers",
    "occupancy",
]


class SiteAudit(Record, frozen=True, kw_only=True):
    """One site in the machine code.

    ``copies`` are its waits; ``work`` counts memory and matrix instructions between the reads,
    which the wait's time then includes; ``span`` the instructions between the reads at most.
    """

    site: int
    status: SiteStatus
    copies: int
    span: int
    work: dict[str, int]
    reads: tuple[str, ...]


class Finding(Record, frozen=True, kw_only=True):
    """Something that differs; ``note`` where it is expected and harmless in itself.

    ``site`` is a site's id (``None``: it concerns the kernel).
    """

    kind: FindingKind
    note: bool
    build: Build
    site: int | None
    message: str


class Audit(Record, frozen=True, kw_only=True):
    """What came of comparing three builds; ``passed``: nothing but notes was found.

    ``registers`` and ``spill_bytes`` (stores and loads) are by build; ``ctas_per_sm`` is the
    theoretical occupancy (``None``: not known for the arch).
    """

    passed: bool
    sites: tuple[SiteAudit, ...]
    findings: tuple[Finding, ...]
    registers: dict[Build, int]
    spill_bytes: dict[Build, int]
    code_bytes: dict[Build, int | None]
    ctas_per_sm: dict[Build, int | None]

    @property
    def serious(self) -> tuple[Finding, ...]:
        """What makes a build for probes another kernel: all but the notes."""
        return tuple(one for one in self.findings if not one.note)


_NOTES = frozenset(("copies_differ", "registers"))


def finding(
    kind: FindingKind, message: str, *, build: Build = "probed", site: int | None = None
) -> Finding:
    """A finding; what is expected of a kind is a note."""
    return Finding(kind=kind, note=kind in _NOTES, build=build, site=site, message=message)
