"""What do the words ``NAME=VALUE`` of ``--scalar`` and ``TENSOR=LOW,HIGH`` of ``--range`` say?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from stagebench.bundle.records import ValueRange
from stagebench.errors import UsageError

_WHOLE = re.compile(r"-?[0-9]+")


def scalars(texts: Iterable[str]) -> dict[str, int | float]:
    """Numbers by name; `UsageError` where one is given twice, or is no number."""
    found: dict[str, int | float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--scalar {text}: NAME=NUMBER")
        if name in found:
            raise UsageError(f"--scalar {text}: {name} is {found[name]} already", hint="once each")
        try:
            found[name] = int(value) if _WHOLE.fullmatch(value) else float(value)
        except ValueError:
            raise UsageError(f"--scalar {text}: NAME=NUMBER") from None
    return found


def ranges(texts: Iterable[str]) -> dict[str, ValueRange]:
    """Half-open ranges by tensor; `UsageError` where one is empty, or given twice."""
    found: dict[str, ValueRange] = {}
    for text in texts:
        name, _, bounds = text.partition("=")
        low, _, high = bounds.partition(",")
        if name in found:
            raise UsageError(f"--range {text}: {name} has a range already", hint="once each")
        try:
            found[name] = ValueRange(low=int(low), high=int(high))
        except ValueError:
            raise UsageError(f"--range {text}: TENSOR=LOW,HIGH, two integers") from None
        if found[name].low >= found[name].high or not name:
            raise UsageError(f"--range {text}: LOW must be below HIGH")
    return found
