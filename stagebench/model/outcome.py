"""How did a variant end, and what does a whole run hold?"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from stagebench.model.base import Record
from stagebench.model.diagnostic import Diagnostic
from stagebench.model.facts import Facts
from stagebench.model.variant import Variant

SCHEMA_VERSION: Literal[1] = 1

FailureKind = Literal[
    "compile_error", "crash", "timeout", "out_of_memory", "no_compiler", "unreadable_ir"
]


FILE_RAISED = "file-raised"
"""The code of the diagnostic of a kernel's file that raised while it was imported."""


class Failure(Record, frozen=True, kw_only=True):
    """Why a variant has no facts.

    ``no_compiler``: its compiler can't be had or imported here; ``unreadable_ir``: it lowered, and
    stagebench can't read the IR of that release.
    ``message`` starts with the compiler's own first line; ``pass`` is the innermost pass that had
    started and not ended; ``diagnostics`` carry what else was printed.
    """

    kind: FailureKind
    message: str
    pass_name: str | None = field(name="pass", default=None)
    detail: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def before_the_kernel(self) -> bool:
        """Whether nothing of the kernel was seen: its file raised while it was imported."""
        return any(diagnostic.code == FILE_RAISED for diagnostic in self.diagnostics)


class VariantResult(Record, frozen=True, kw_only=True):
    """One row of a run: exactly one of ``failure`` and ``facts`` is set."""

    variant: Variant
    outcome: Literal["lowered", "failed"]
    failure: Failure | None
    facts: Facts | None


class Run(Record, frozen=True, kw_only=True):
    """Everything a sweep found out, in the order of its axes.  This is the JSON of ``--json``."""

    schema_version: Literal[1] = SCHEMA_VERSION
    variants: tuple[VariantResult, ...]
