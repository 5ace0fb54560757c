"""Does a value of the command line fit a parameter's annotation?  Python's own types only."""

from __future__ import annotations

import types
import typing
from typing import Union

from stagebench.model import ParamValue

_PLAIN: dict[str, object] = {"int": int, "float": float, "bool": bool, "str": str}
NO_VALUE = object()
"""What is returned where a value does not fit."""


def converted_to(hint: object, value: ParamValue) -> object:
    """Convert ``value`` to ``hint``; `NO_VALUE` where it does not fit; pass other hints by."""
    if isinstance(hint, str):
        hint = _PLAIN.get(hint, hint)
    if hint in (int, float, bool, str):
        return _as_plain(hint, value)
    origin = typing.get_origin(hint)
    if origin is Union or origin is types.UnionType:
        return _first_match(typing.get_args(hint), value)
    if origin is typing.Literal:
        return value if value in typing.get_args(hint) else NO_VALUE
    if hint is type(None):
        return None if value is None else NO_VALUE
    return _as_container(origin or hint, value)


def _first_match(options: tuple[object, ...], value: ParamValue) -> object:
    # An exact type first: `int | float` must not make 1.0 of 1, nor `bool | int` True of 1.
    for option in options:
        if isinstance(option, type) and type(value) is option:
            return value
    for option in options:
        converted = converted_to(option, value)
        if converted is not NO_VALUE:
            return converted
    return NO_VALUE


def _as_plain(hint: object, value: ParamValue) -> object:
    if hint is str:
        # The command line reads `--set mode=3` as an integer and `mode=none` as None; a parameter
        # that is a string wants its text.
        if value is None or isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, (str, int, float)) else NO_VALUE
    if hint is bool:
        return bool(value) if isinstance(value, bool) or value in (0, 1) else NO_VALUE
    if isinstance(value, bool):
        return NO_VALUE
    if hint is int:
        return value if isinstance(value, int) else NO_VALUE
    return float(value) if isinstance(value, (int, float)) else NO_VALUE


def _as_container(hint: object, value: ParamValue) -> object:
    if hint is tuple:
        return value if isinstance(value, tuple) else NO_VALUE
    if hint is list:
        return list(value) if isinstance(value, tuple) else NO_VALUE
    return value
