"""How does an expectation read records?  By name, and every value that is read is noted.

Names that are not there raise, with what is: nothing reads as zero by mistake.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

from stagebench.model import Record

_MAX_SEEN = 40


class Notes:
    """The values that one evaluation read, in order, each once."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def add(self, expression: str, value: object) -> None:
        """Note a value; a long one in short."""
        if len(self.seen) < _MAX_SEEN:
            said = repr(value)
            self.seen[expression] = said if len(said) <= 120 else f"{said[:117]}..."


class RecordView:
    """A record whose fields are read as they are; tuples of records and maps are views too."""

    def __init__(self, record: Record, path: str, notes: Notes) -> None:
        self._record = record
        self._path = path
        self._notes = notes

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        fields = self._record.__struct_fields__
        if name not in fields:
            raise AttributeError(f"{self._path} has no {name!r}" + nearest(name, [*fields]))
        return _seen(getattr(self._record, name), _joined(self._path, name), self._notes)

    def __repr__(self) -> str:
        return repr(self._record)

    def __eq__(self, other: object) -> bool:
        return self._record == (other._record if isinstance(other, RecordView) else other)

    def __hash__(self) -> int:
        return hash(repr(self._record))


class SequenceView(Sequence[RecordView]):
    """Records in order; by name too, where they have one."""

    def __init__(self, records: Sequence[Record], path: str, notes: Notes) -> None:
        self._records = records
        self._path = path
        self._notes = notes

    def __len__(self) -> int:
        self._notes.add(f"len({self._path})", len(self._records))
        return len(self._records)

    def __iter__(self) -> Iterator[RecordView]:
        return (self._view(index) for index in range(len(self._records)))

    @overload
    def __getitem__(self, key: int | str) -> RecordView: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[RecordView]: ...
    def __getitem__(self, key: int | str | slice) -> RecordView | Sequence[RecordView]:
        if isinstance(key, slice):
            return [self._view(index) for index in range(*key.indices(len(self._records)))]
        if isinstance(key, str):
            names = [_name(record) for record in self._records]
            if key not in names:
                raise LookupError(f"{self._path} has no {key!r}" + _has(names))
            return self._view(names.index(key), repr(key))
        if not -len(self._records) <= key < len(self._records):
            raise LookupError(f"{self._path} has {len(self._records)} of them, not {key}")
        return self._view(key % len(self._records))

    def names(self) -> list[str]:
        """What the records are called."""
        found = [_name(record) for record in self._records]
        self._notes.add(f"{self._path}.names()", found)
        return found

    def _view(self, index: int, said: str | None = None) -> RecordView:
        path = f"{self._path}[{said or index}]"
        return RecordView(self._records[index], path, self._notes)


class MapView:
    """A map whose values are read by key; a missing key raises with the nearest."""

    def __init__(
        self,
        values: Mapping[str, object],
        path: str,
        notes: Notes,
        absent: Callable[[str], object] | None = None,
    ) -> None:
        self._values = values
        self._path = path
        self._notes = notes
        self._absent = absent

    def __getitem__(self, key: str) -> object:
        if key in self._values:
            value = self._values[key]
        elif self._absent is not None:
            value = self._absent(key)
        else:
            raise LookupError(f"{self._path} has no {key!r}" + _has([*self._values]))
        return _seen(value, f"{self._path}[{key!r}]", self._notes)

    def __contains__(self, key: str) -> bool:
        self._notes.add(f"{key!r} in {self._path}", key in self._values)
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str, default: object = None) -> object:
        """The value, or ``default`` where there is none."""
        return self[key] if key in self._values else default


def _seen(value: object, path: str, notes: Notes) -> object:
    if isinstance(value, Record):
        return RecordView(value, path, notes)
    if isinstance(value, tuple) and value and isinstance(value[0], Record):
        return SequenceView(value, path, notes)
    if isinstance(value, dict):
        return MapView(value, path, notes)
    notes.add(path, value)
    return value


def _name(record: Record) -> str:
    for field in ("loop_var", "name", "code", "op"):
        if hasattr(record, field):
            return str(getattr(record, field))
    return type(record).__name__


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def nearest(name: str, known: Sequence[str]) -> str:
    """What may have been meant, for the end of a message."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _has(names: Sequence[str]) -> str:
    return f" (there are: {', '.join(dict.fromkeys(names))})" if names else " (there is none)"
