"""What makes the machine code of a build for probes another kernel?  One record a difference."""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import Record

AuditedBuild = Literal["base", "control", "probed"]
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


class AuditFinding(Record, frozen=True, kw_only=True):
    """Something that differs; ``note`` where it is expected and harmless in itself.

    ``site`` is a site's id (``None``: it concerns the kernel).
    """

    kind: FindingKind
    note: bool
    build: AuditedBuild
    site: int | None
    message: str
