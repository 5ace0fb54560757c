"""Which name was meant?  One that differs in case alone, else the one that is spelled nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """At most one candidate, as ``difflib.get_close_matches`` returns it."""
    known = list(candidates)
    same = [candidate for candidate in known if candidate.lower() == name.lower()]
    return same[:1] or difflib.get_close_matches(name, known, n=1)
