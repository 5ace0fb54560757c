"""What does only one of two compilers say, so that it was not compared?  Told once, by path."""

from __future__ import annotations

import re

from stagebench.gate.one_sided import ONE_SIDED
from stagebench.model.verdict import ChangeGroup, Verdict

_NAMED = re.compile(r"\[[^\]]*\]")
_OF_VARIANTS = "variant."


def one_sided_words(verdict: Verdict) -> str | None:
    """``machine.frontier[*].two_ctas, variant.params[threads] …``; ``None``: there is nothing."""
    paths: dict[str, None] = {}
    for group in _groups(verdict):
        path = group.change.path
        paths[path if path.startswith(_OF_VARIANTS) else _NAMED.sub("[*]", path)] = None
    if not paths:
        return None
    return f"not compared, since only one of the two compilers says it: {', '.join(paths)}"


def one_sided_variants(verdict: Verdict) -> tuple[str, ...]:
    """The variants that have such facts, each once."""
    found = (name for group in _groups(verdict) for name in group.variants)
    return tuple(dict.fromkeys(found))


def _groups(verdict: Verdict) -> list[ChangeGroup]:
    return [group for group in verdict.allowed_groups if group.change.rule == ONE_SIDED]
