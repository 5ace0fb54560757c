"""How is ``NAME=V1,V2`` read?  Values are Python literals, else words.

``M=512,1024`` is an axis of two integers, ``tile=(64,64)`` one tuple, ``dtype=float16`` a word;
``true``, ``false`` and ``none`` are accepted in any case.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from stagebench.errors import UsageError
from stagebench.model import ParamValue, Scalar

_CONSTANTS: dict[str, Scalar] = {"true": True, "false": False, "none": None}
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "'\""


def parse_assignments(texts: Iterable[str], flag: str) -> dict[str, tuple[ParamValue, ...]]:
    """Read several ``NAME=V1,V2``; `UsageError` names the flag and the text that is wrong."""
    found: dict[str, tuple[ParamValue, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name or not values.strip():
            raise UsageError(f"{flag} {text}: not of the form NAME=VALUE[,VALUE …]")
        if name in found:
            raise UsageError(f"{flag} {name} is given twice", hint=f"{flag} {name}=V1,V2")
        items = [parse_value(item) for item in _split(values)]
        repeated = next((value for i, value in enumerate(items) if _in(value, items[:i])), None)
        if repeated is not None:
            raise UsageError(f"{flag} {text}: {repeated!r} is there twice")
        found[name] = tuple(items)
    return found


def parse_pass_configs(texts: Iterable[str]) -> dict[str, Scalar]:
    """Read several ``KEY=VALUE`` of ``--pass-config``, each of one value."""
    found: dict[str, Scalar] = {}
    for key, several in parse_assignments(texts, "--pass-config").items():
        value = several[0]
        if len(several) != 1 or isinstance(value, tuple):
            raise UsageError(f"--pass-config {key}: one value, not several")
        found[key] = value
    return found


def parse_value(text: str) -> ParamValue:
    """One value: a literal where it is one, else the text itself."""
    text = text.strip()
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return _plain(ast.literal_eval(text), text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _plain(value: object, text: str) -> ParamValue:
    if isinstance(value, list | tuple):
        # nesting is checked where a record is made of it
        return tuple(_plain(item, text) for item in value)  # type: ignore[misc]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return text


def _split(text: str) -> list[str]:
    """Split at commas that are inside no bracket and no quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


def _in(value: ParamValue, others: Sequence[ParamValue]) -> bool:
    return any(value == other and type(value) is type(other) for other in others)
