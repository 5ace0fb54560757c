"""How is said, in one line, what two compilers spell otherwise, and nothing more?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from stagebench.gate.spelling import SPELLED, same_but_for_dialect, texts_of
from stagebench.model.verdict import ChangeGroup, JudgedChange, Verdict

_MOST = 6
_DIALECT = re.compile(r"(?<![\w.])(\w+\.)")
_CLAUSES = re.compile(r"[;:] ")


def spelled_words(verdict: Verdict) -> str | None:
    """``tir. → tirx. (9 names, 4 variants), `reduce` → `reduce f → acc` (2)``, at most so many.

    ``None``: there is nothing.
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    for group in _groups(verdict):
        for pair, name in _pairs(group.change):
            names, variants = found.setdefault(pair, (set(), set()))
            names.add(name)
            variants.update(group.variants)
    if not found:
        return None
    most_first = sorted(found.items(), key=lambda item: -len(item[1][1]))
    said = [f"{pair} ({_counted(*of)})" for pair, of in most_first[:_MOST]]
    if len(most_first) > _MOST:
        said.append(f"{len(most_first) - _MOST} more")
    return f"spelled otherwise, and not judged: {', '.join(said)}"


def spelled_variants(verdict: Verdict) -> tuple[str, ...]:
    """The variants that have such changes, each once."""
    found = (name for group in _groups(verdict) for name in group.variants)
    return tuple(dict.fromkeys(found))


def _groups(verdict: Verdict) -> list[ChangeGroup]:
    return [group for group in verdict.allowed_groups if group.change.rule == SPELLED]


def _counted(names: set[str], variants: set[str]) -> str:
    several = "variant" if len(variants) == 1 else "variants"
    many = f"{len(names)} names, " if len(names) > 1 else ""
    return f"{many}{len(variants)} {several}"


def _pairs(change: JudgedChange) -> Iterator[tuple[str, str]]:
    """Each text that differs with the other side's, and what is called so on the left."""
    summary = change.path.endswith(".summary")
    for left, right in zip_longest(texts_of(change.left), texts_of(change.right), fillvalue="–"):
        if summary:
            for one, two in _clauses(left, right):
                yield f"`{one}` → `{two}`", one
        elif left != right:
            yield _dialects(left, right) or f"{left} → {right}", left


def _clauses(left: str, right: str) -> Iterator[tuple[str, str]]:
    ones, twos = _CLAUSES.split(left), _CLAUSES.split(right)
    pairs = zip(ones, twos, strict=True) if len(ones) == len(twos) else [(left, right)]
    yield from (pair for pair in pairs if pair[0] != pair[1])


def _dialects(left: str, right: str) -> str | None:
    """``tir. → tirx.`` where that is all: said once for every name."""
    if not same_but_for_dialect(left, right):
        return None
    pairs = zip(_DIALECT.findall(left), _DIALECT.findall(right), strict=False)
    return next((f"{one} → {two}" for one, two in pairs if one != two), None)
