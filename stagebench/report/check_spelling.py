"""How does a verdict tell, in one line, what two compilers spell otherwise, and nothing more?"""

from __future__ import annotations

from stagebench.gate.spelling import SPELLED
from stagebench.model.verdict import ChangeGroup, Verdict
from stagebench.report.quantities import count
from stagebench.report.spelled_words import SPELLED_OTHERWISE, most_of, spelled_pairs


def spelled_words(verdict: Verdict) -> str | None:
    """``tir. → tirx. (9 names, 4 variants), `reduce` → `reduce f → acc` (2)``, at most so many.

    ``None``: there is nothing.
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    for group in _groups(verdict):
        change = group.change
        for pair, name in spelled_pairs(change.path, change.left, change.right):
            names, variants = found.setdefault(pair, (set(), set()))
            names.add(name)
            variants.update(group.variants)
    if not found:
        return None
    most_first = sorted(found.items(), key=lambda item: -len(item[1][1]))
    said = most_of(f"{pair} ({_counted(*of)})" for pair, of in most_first)
    return f"{SPELLED_OTHERWISE}, and not judged: {said}"


def spelled_variants(verdict: Verdict) -> tuple[str, ...]:
    """The variants that have such changes, each once."""
    found = (name for group in _groups(verdict) for name in group.variants)
    return tuple(dict.fromkeys(found))


def _groups(verdict: Verdict) -> list[ChangeGroup]:
    return [group for group in verdict.allowed_groups if group.change.rule == SPELLED]


def _counted(names: set[str], variants: set[str]) -> str:
    many = f"{len(names)} names, " if len(names) > 1 else ""
    return f"{many}{count(len(variants), 'variant')}"
