"""How do records become text and come back?  Deterministic to write, strict to read."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from stagebench.errors import DumpError
from stagebench.model.outcome import SCHEMA_VERSION

T = TypeVar("T")

_OUT_OF_BOUNDS = re.compile(r"Expected `\w+` ([<>]=?) ([-\d.e+]+) - at `\$\.?(.*)`")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def encode_pretty(value: object) -> bytes:
    """Two-space indented JSON with a final newline; fields in declared order, maps sorted."""
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"


def decode(data: bytes | str, kind: type[T], source: str) -> T:
    """Decode JSON strictly; `DumpError` names the source and the path of the offending field."""
    try:
        found = msgspec.json.decode(data, type=kind)
    except RecursionError as exc:
        raise DumpError(f"{source}: JSON that is nested too deeply") from exc
    except msgspec.DecodeError as exc:
        version, read = _schema_version(data), _version_of(kind)
        if version not in (None, read):
            raise DumpError(
                f"{source}: schema version {version!r}, this stagebench reads {read}"
            ) from exc
        raise DumpError(f"{source}: {_placed(data, str(exc))}") from exc
    if _says_its_version(kind) and _schema_version(data) is None:
        raise DumpError(f"{source} has no schema_version")
    return found


def _says_its_version(kind: object) -> bool:
    """Is it a document?  One that does not say its version may be of any."""
    return isinstance(kind, type) and "schema_version" in getattr(kind, "__struct_fields__", ())


def _placed(data: bytes | str, message: str) -> str:
    """A number that can't be, with its value: ``timings[0].runs is -5: it must be >= 1``."""
    found = _OUT_OF_BOUNDS.fullmatch(message)
    if found is None:
        return message
    relation, bound, place = found.groups()
    if "[...]" in place:  # msgspec does not tell the key of a map
        return f"{place.replace('[...]', '')} has a value that is not {relation} {bound}"
    value = msgspec.json.decode(data)
    for index, name in _STEP.findall(place):
        value = value[int(index) if index else name]
    return f"{place} is {value}: it must be {relation} {bound}"


def _version_of(kind: object) -> object:
    """The schema version of a record that has one of its own; else that of facts."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if field.name == "schema_version" and field.default is not msgspec.NODEFAULT:
                return field.default
    return SCHEMA_VERSION


def _schema_version(data: bytes | str) -> object:
    """What a document says of its schema, if it is JSON and says it."""
    try:
        loose = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    return loose.get("schema_version") if isinstance(loose, dict) else None
