"""How do records become text and come back?  Deterministic to write, strict to read."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from stagebench.errors import DumpError
from stagebench.model.outcome import SCHEMA_VERSION

T = TypeVar("T")


def encode_pretty(value: object) -> bytes:
    """Two-space indented JSON with a final newline; fields in declared order, maps sorted."""
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"


def decode(data: bytes | str, kind: type[T], source: str) -> T:
    """Decode JSON strictly; `DumpError` names the source and the path of the offending field."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as exc:
        raise DumpError(f"{source}: JSON that is nested too deeply") from exc
    except msgspec.DecodeError as exc:
        version, read = _schema_version(data), _version_of(kind)
        if version not in (None, read):
            raise DumpError(
                f"{source}: schema version {version!r}, this stagebench reads {read}"
            ) from exc
        raise DumpError(f"{source}: {exc}") from exc


def _version_of(kind: object) -> object:
    """The schema version of a record that has one of its own; else that of facts."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if field.name == "schema_version":
                return field.default
    return SCHEMA_VERSION


def _schema_version(data: bytes | str) -> object:
    """What a document says of its schema, if it is JSON and says it."""
    try:
        loose = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    return loose.get("schema_version") if isinstance(loose, dict) else None
