"""What is one row of a table of variants?"""

from __future__ import annotations

from typing import Literal

from stagebench.model import Record

Group = Literal["schedule", "memory", "barriers", "sync", "machine", "launch", "diagnostics"]

NONE = "none"
"""Looked for and absent, of a thing that is not counted."""


class FactRow(Record, frozen=True, kw_only=True):
    """One fact over all variants.

    ``values`` run along the variants; ``None``: not known, or the variant failed.  ``implied``: the
    value is the same wherever the loop was scheduled, and ``none`` elsewhere, so that the row says
    no more than who scheduled the loop.  ``over_limit`` marks the variants whose value is more than
    the machine has.
    """

    label: str
    group: Group
    values: tuple[str | None, ...]
    implied: bool = False
    over_limit: tuple[bool, ...] = ()
