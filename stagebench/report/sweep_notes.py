"""What must be said in words about a table?  Identical code, failures, depths without effect.

Each line names the depths that it holds for; equal lines of several depths are one line.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

import msgspec

from stagebench.model import Facts, Record, VariantResult
from stagebench.model.diagnostic import Severity
from stagebench.report import quantities
from stagebench.report.fact_rows import loop_names, loop_of
from stagebench.report.failure_words import failure_words
from stagebench.report.messages import group_messages

NoteKind = Literal["identical", "failure", "no_effect", "error", "warning", "note"]

_NAMED_ELSEWHERE = ("depth-without-effect",)  # the loop's own reason says it
_NO_FACT: tuple[Severity, ...] = ("error", "warning", "note")


class Note(Record, frozen=True, kw_only=True):
    """One line about some of a table's depths; ``depths`` is empty where there is none to name."""

    kind: NoteKind
    depths: str
    text: str


class Column(Record, frozen=True, kw_only=True):
    """One variant of a table: its depth as it is printed, its result, its CUDA text if at hand."""

    depth: str
    result: VariantResult
    kernel_cu: str | None


def notes(columns: Sequence[Column]) -> tuple[Note, ...]:
    """All lines, the most important first; `identical_notes` come apart."""
    return (*_failures(columns), *_no_effect(columns), *_diagnostics(columns))


def identical_notes(
    columns: Sequence[Column], *, meaning: str = "num_stages changes nothing"
) -> tuple[Note, ...]:
    """Which depths gave the same code; ``meaning`` is said where all did.

    By the CUDA text where every lowered column has one, else by the facts without what merely
    repeats the request (`fingerprint`).
    """
    lowered = [column for column in columns if column.result.facts is not None]
    by_text = bool(lowered) and all(column.kernel_cu is not None for column in lowered)
    groups: dict[str | bytes | None, list[str]] = {}
    for column in lowered:
        facts = column.result.facts
        key = column.kernel_cu if by_text else fingerprint(facts) if facts else None
        groups.setdefault(key, []).append(column.depth)
    found = []
    for depths in groups.values():
        if len(depths) > 1:
            text = "identical code, byte for byte" if by_text else "identical facts"
            if len(depths) == len(columns):
                text += f": {meaning}"
            found.append(Note(kind="identical", depths=quantities.depths_name(depths), text=text))
    return tuple(found)


def texts_note(columns: Sequence[Column]) -> Note | None:
    """How many texts of CUDA there are where no row of the table tells them apart, if several.

    ``None`` too where a lowered column's text is not at hand.
    """
    texts = {column.kernel_cu for column in columns if column.result.facts is not None}
    if len(texts) < 2 or None in texts:
        return None
    return Note(
        kind="note", depths="", text=f"{len(texts)} texts of CUDA; no fact of this table differs"
    )


def fingerprint(facts: Facts) -> bytes:
    """The facts without the request itself and without what is derived from it.

    Left out: ``num_stages`` and ``reason`` of loops, ``max_num_stages``, diagnostics (their
    messages name the depth) and passes (snapshots of the IR differ from the start).
    """
    loops = tuple(
        msgspec.structs.replace(loop, num_stages=None, reason=None) for loop in facts.pipeline_loops
    )
    memory = msgspec.structs.replace(facts.shared_memory, max_num_stages=None)
    parts = (
        loops, facts.shared_buffers, memory, facts.barriers, facts.sync_ops, facts.launch,
    )  # fmt: skip
    return msgspec.json.encode(parts, order="deterministic")


def _failures(columns: Sequence[Column]) -> Iterable[Note]:
    found: list[tuple[Hashable, str, str]] = []
    for column in columns:
        failure = column.result.failure
        if failure is not None:
            found.append((failure.kind, column.depth, failure_words(failure)))
    for _, depths, text in group_messages(found):
        yield Note(kind="failure", depths=quantities.depths_name(depths), text=text)


def _no_effect(columns: Sequence[Column]) -> Iterable[Note]:
    names = loop_names([column.result.facts for column in columns])
    found: list[tuple[Hashable, str, str]] = []
    for key, name in names.items():
        for column in columns:
            facts = column.result.facts
            loop = loop_of(facts, key) if facts else None
            if loop is not None and loop.reason and (loop.num_stages or loop.explicit_schedule):
                text = f"loop {name}: {loop.reason}" if name else loop.reason
                found.append((key, column.depth, text))
    for _, depths, text in group_messages(found):
        yield Note(kind="no_effect", depths=quantities.depths_name(depths), text=text)


def _diagnostics(columns: Sequence[Column]) -> Iterable[Note]:
    for severity in _NO_FACT:
        found: list[tuple[Hashable, str, str]] = [
            (diagnostic.code, column.depth, diagnostic.message)
            for column in columns
            if column.result.facts is not None
            for diagnostic in column.result.facts.diagnostics
            if diagnostic.severity == severity and diagnostic.code not in _NAMED_ELSEWHERE
        ]
        for _, depths, text in group_messages(found):
            yield Note(kind=severity, depths=quantities.depths_name(depths), text=text)
