"""Which facts does ``sync_totals[wgmma].*`` name?

A pattern is a fact's path (`stagebench.diff.fact_change.FactChange.path`) in which ``*`` stands
for any characters.  It names that fact and everything below it: ``launch`` is ``launch.grid`` too.
Brackets are plain characters.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    inside = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.compile(rf"{inside}(?:[.\[].*)?", re.DOTALL)


def has_form(path: str, form: str) -> bool:
    """Whether the path is of this form (``*`` for any name in it), and no fact below it."""
    inside = ".*".join(re.escape(part) for part in form.split("*"))
    return re.fullmatch(inside, path, re.DOTALL) is not None


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern names the fact at ``path`` or something that the fact is part of."""
    return _compiled(pattern).fullmatch(path) is not None


def specificity(pattern: str) -> int:
    """The number of characters that are spelt out: the more, the more specific."""
    return len(pattern) - pattern.count("*")


def names_field(pattern: str, path: str) -> bool:
    """Whether the pattern spells out the last field of the path, as ``*.line`` does."""
    return pattern.rpartition(".")[2] == path.rpartition(".")[2]


def can_match(pattern: str, template: str) -> bool:
    """Whether any path of the form ``template`` (``*`` for any name in it) is named."""
    return any(_overlap(form, template) for form in (pattern, f"{pattern}.*", f"{pattern}[*"))


def _overlap(one: str, two: str) -> bool:
    """Whether some text matches both globs: positions that both can be in, from left to right."""

    @cache
    def meet(i: int, j: int) -> bool:
        if i == len(one) and j == len(two):
            return True
        if i < len(one) and one[i] == "*":
            return meet(i + 1, j) or (j < len(two) and meet(i, j + 1))
        if j < len(two) and two[j] == "*":
            return meet(i, j + 1) or (i < len(one) and meet(i + 1, j))
        return i < len(one) and j < len(two) and one[i] == two[j] and meet(i + 1, j + 1)

    return meet(0, 0)
