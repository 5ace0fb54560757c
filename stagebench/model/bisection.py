"""Between which neighbours of an axis did something change, and where was it looked at?"""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import Record
from stagebench.model.variant import Variant


class Point(Record, frozen=True, kw_only=True):
    """One point that was lowered and what was seen there; ``None``: it has no answer."""

    name: str
    value: str | None
    note: str | None = None


class Bisection(Record, frozen=True, kw_only=True):
    """What was found.

    ``points`` are those that were looked at, in the order of the axis; ``left`` and ``right`` index
    the neighbours between which it changed (``None``: the ends do not differ).  ``between`` are
    points that lie between these two and have no answer.
    """

    schema_version: Literal[1] = 1
    axis: str
    watched: str
    variant: Variant
    points: tuple[Point, ...]
    left: int | None
    right: int | None
    between: tuple[str, ...]
