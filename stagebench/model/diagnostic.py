"""What must a reader of the facts know beside them, and where was it seen?"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from stagebench.model.base import Record

Severity = Literal["error", "warning", "note"]


class Evidence(Record, frozen=True, kw_only=True):
    """Where a fact was seen.

    ``artifact`` is ``device_ir``, ``host_ir``, ``kernel.cu``, ``passes``, ``stderr`` or ``source``;
    ``line`` is 1-based in that artifact; ``pass_name`` the compiler pass whose result was read.
    """

    artifact: str
    line: int | None = None
    pass_name: str | None = field(name="pass", default=None)
    text: str | None = None


class Diagnostic(Record, frozen=True, kw_only=True):
    """Something a reader of the facts must know.  ``code`` is stable, kebab-case."""

    severity: Severity
    code: str
    message: str
    evidence: tuple[Evidence, ...] = ()
