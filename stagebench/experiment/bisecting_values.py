"""How are the facts that a bisection watches shown?  Each path with its value, as text.

For showing only: what differs is found by `stagebench.diff.fact_changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from stagebench.diff.fact_words import site_place
from stagebench.gate.fact_values import fact_values
from stagebench.model import Facts


def shown_values(facts: Facts) -> Iterator[tuple[str, object]]:
    """``(path, value)`` of every fact, sites and the columns of statements too."""
    for path, value in fact_values(facts):
        if path.startswith("pipeline_loops[") and path.endswith(".statements"):
            yield from _columns(path, value)
        else:
            yield path, value
    used: Counter[str] = Counter()
    for site in facts.sync_ops:
        key = " ".join([site.op, *site_place(site)])
        used[key] += 1
        path = f"sync_ops[{key} #{used[key]}]"
        for info in msgspec.structs.fields(type(site)):
            value = getattr(site, info.name)
            if isinstance(value, Mapping):
                for name, argument in value.items():
                    yield f"{path}.{info.encode_name}[{name}]", argument
            else:
                yield f"{path}.{info.encode_name}", value


def _columns(path: str, statements: object) -> Iterator[tuple[str, object]]:
    """A field of all statements is one fact, as `stagebench diff` has it."""
    if not isinstance(statements, tuple) or not statements:
        return
    for info in msgspec.structs.fields(type(statements[0])):
        column = tuple(getattr(one, info.name) for one in statements)
        yield f"{path}.{info.encode_name}", None if set(column) == {None} else column


def said(value: object) -> str:
    """A value in a word or a few."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return " ".join(said(item) for item in value) or "none"
    return str(value)
