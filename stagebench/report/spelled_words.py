"""How is said, in a line, what two compilers spell otherwise?  ``tir. → tirx. (9 names)``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from stagebench.diff.spelling import (
    clauses_of,
    dialects_of,
    is_summary,
    same_but_for_dialect,
    texts_of,
)
from stagebench.model import ParamValue

SPELLED_OTHERWISE = "spelled otherwise"
_MOST = 6


def spelled_pairs(path: str, left: ParamValue, right: ParamValue) -> Iterator[tuple[str, str]]:
    """Each text of a fact that differs with the other side's, and what is called so on the left.

    ``tir. → tirx.`` where the dialect is all: said once for every name.
    """
    for mine, theirs in zip_longest(texts_of(left), texts_of(right), fillvalue="–"):
        if is_summary(path):
            for one, two in _clauses(mine, theirs):
                yield f"`{one}` → `{two}`", one
        elif mine != theirs:
            yield _dialects(mine, theirs) or f"{mine} → {theirs}", mine


def most_of(said: Iterable[str]) -> str:
    """The first few, and how many more there are."""
    shown = list(said)
    if len(shown) > _MOST:
        shown = [*shown[:_MOST], f"{len(shown) - _MOST} more"]
    return ", ".join(shown)


def _clauses(left: str, right: str) -> Iterator[tuple[str, str]]:
    ones, twos = clauses_of(left), clauses_of(right)
    pairs = zip(ones, twos, strict=True) if len(ones) == len(twos) else [(left, right)]
    yield from (pair for pair in pairs if pair[0] != pair[1])


def _dialects(left: str, right: str) -> str | None:
    if not same_but_for_dialect(left, right):
        return None
    pairs = zip(dialects_of(left), dialects_of(right), strict=False)
    return next((f"{one} → {two}" for one, two in pairs if one != two), None)
