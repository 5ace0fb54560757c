"""What does ``stagebench diff --json`` hold?  Facts, then the hunks of the text."""

from __future__ import annotations

from typing import Literal

from stagebench.diff.comparison import Comparison, failure_of
from stagebench.diff.fact_change import FactChange
from stagebench.diff.text_input import Input
from stagebench.diff.text_records import Hunk, Rename, RuleCount
from stagebench.model import SCHEMA_VERSION, Failure, Record, Variant


class ComparedSide(Record, frozen=True, kw_only=True):
    """One side as it was named; ``variant`` where it is a dump, ``failure`` where it failed."""

    name: str
    variant: Variant | None
    failure: Failure | None


class ComparedText(Record, frozen=True, kw_only=True):
    """The text part: see `TextDiff`; only hunks, not every row."""

    equal: bool
    identical: bool
    differing: int
    hidden: int
    rules: tuple[RuleCount, ...]
    marks: tuple[RuleCount, ...]
    renames: tuple[Rename, ...]
    hunks: tuple[Hunk, ...]


class DiffDocument(Record, frozen=True, kw_only=True):
    """All of one comparison.

    ``facts`` is ``None`` where a side is no dump or both failed, ``text`` where a side has no CUDA
    (it failed).  ``equal`` is what the exit code says; ``None``: both failed, and nothing was
    compared.  ``no_since`` says why no fact has a ``since``, if so.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    left: ComparedSide
    right: ComparedSide
    equal: bool | None
    facts: tuple[FactChange, ...] | None
    no_since: str | None
    text: ComparedText | None


def document(compared: Comparison, *, context: int) -> DiffDocument:
    """The document of a comparison, with ``context`` rows around each difference."""
    text = compared.text
    return DiffDocument(
        left=_side(compared.left),
        right=_side(compared.right),
        equal=compared.equal,
        facts=compared.facts,
        no_since=compared.no_since,
        text=None
        if text is None
        else ComparedText(
            equal=text.equal,
            identical=text.identical,
            differing=text.differing,
            hidden=text.hidden,
            rules=text.rules,
            marks=text.marks,
            renames=text.renames,
            hunks=text.hunks(context),
        ),
    )


def _side(side: Input) -> ComparedSide:
    variant = None if side.dump is None else side.dump.result.variant
    return ComparedSide(name=side.name, variant=variant, failure=failure_of(side))
