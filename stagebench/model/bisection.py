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
    points that lie between these two and have no answer.  ``changed`` are the facts of what is
    watched that differ between the two.  ``again`` index the points where it changed once more, as
    far as every point was looked at; ``not_looked_at`` names those that were not.
    ``machine_code`` is ``False`` where facts of machine code are watched too, and none was made.
    """

    schema_version: Literal[1] = 1
    axis: str
    watched: str
    variant: Variant
    points: tuple[Point, ...]
    left: int | None
    right: int | None
    between: tuple[str, ...]
    changed: tuple[str, ...]
    again: tuple[int, ...]
    not_looked_at: tuple[str, ...]
    machine_code: bool
