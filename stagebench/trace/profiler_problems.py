"""What can be wrong with a profiler's buffer, and where?  Damage is a record, never an error."""

from __future__ import annotations

from typing import Literal

from stagebench.model import Record

WireProblemKind = Literal[
    "truncated",
    "no_header",
    "bad_header",
    "lanes_alias",
    "event_alias",
    "lane_out_of_range",
    "foreign_record",
    "interleaved",
    "other_stride",
    "unknown_event",
    "unknown_group",
    "unknown_type",
    "sm_changed",
    "timer_wrapped",
    "clock_backwards",
    "missing_start",
    "missing_end",
    "hole",
    "not_finalized",
    "lane_full",
    "after_finalize",
]

HARMLESS: frozenset[WireProblemKind] = frozenset({"timer_wrapped"})
"""What was put right: the regions are whole all the same."""


class WireProblem(Record, frozen=True, kw_only=True):
    """One kind of damage in one lane (``None``: of the whole buffer).

    ``slot`` is the 0-based word at which it was first seen, ``count`` how often.
    """

    kind: WireProblemKind
    lane: int | None
    slot: int | None
    count: int
    message: str


class ProblemLog:
    """Problems as they are found: one record for each kind and lane, with the first slot."""

    def __init__(self) -> None:
        self._found: dict[tuple[WireProblemKind, int | None], tuple[int | None, int, str]] = {}

    def add(
        self,
        kind: WireProblemKind,
        message: str,
        *,
        lane: int | None = None,
        slot: int | None = None,
        count: int = 1,
    ) -> None:
        """Note one more; the message of the first stays."""
        first, times, text = self._found.get((kind, lane), (slot, 0, message))
        self._found[kind, lane] = (first, times + count, text)

    def problems(self) -> tuple[WireProblem, ...]:
        """All of them, those of the whole buffer first, then by lane."""
        ordered = sorted(self._found.items(), key=lambda item: (item[0][1] is not None, item[0][1]))
        return tuple(
            WireProblem(kind=kind, lane=lane, slot=slot, count=count, message=message)
            for (kind, lane), (slot, count, message) in ordered
        )
