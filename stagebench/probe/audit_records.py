"""What can an audit of a probed kernel say?  One record a site, one a finding."""

from __future__ import annotations

from typing import Literal

from stagebench.model.audit_finding import AuditedBuild, AuditFinding, FindingKind
from stagebench.model.base import Record

SiteStatus = Literal["ok", "moved", "wait_missing", "read_missing"]


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


class Audit(Record, frozen=True, kw_only=True):
    """What came of comparing three builds; ``passed``: nothing but notes was found.

    ``registers`` and ``spill_bytes`` (stores and loads) are by build; ``ctas_per_sm`` is the
    theoretical occupancy (``None``: not known for the arch).
    """

    passed: bool
    sites: tuple[SiteAudit, ...]
    findings: tuple[AuditFinding, ...]
    registers: dict[AuditedBuild, int]
    spill_bytes: dict[AuditedBuild, int]
    code_bytes: dict[AuditedBuild, int | None]
    ctas_per_sm: dict[AuditedBuild, int | None]

    @property
    def serious(self) -> tuple[AuditFinding, ...]:
        """What makes a build for probes another kernel: all but the notes."""
        return tuple(one for one in self.findings if not one.note)


_NOTES = frozenset(("copies_differ", "registers"))


def finding(
    kind: FindingKind, message: str, *, build: AuditedBuild = "probed", site: int | None = None
) -> AuditFinding:
    """A finding; what is expected of a kind is a note."""
    return AuditFinding(kind=kind, note=kind in _NOTES, build=build, site=site, message=message)
