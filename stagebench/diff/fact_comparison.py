"""How are two records compared?  Field by field, so that a field of tomorrow shows up too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import TypeVar

import msgspec

from stagebench.diff.fact_change import FactChange, Group, Kind, Presence
from stagebench.diff.fact_evidence import Seen
from stagebench.diff.fact_matching import Pair
from stagebench.diff.fact_renames import FactRenames
from stagebench.diff.fact_words import quantity, summary, what_changed
from stagebench.model import (
    Evidence,
    Extent,
    Facts,
    ParamValue,
    PipelineLoop,
    Record,
    SharedBuffer,
    SyncOp,
)

_R = TypeVar("_R", bound=Record)
_POSITIONS = frozenset({"line", "cuda_line", "file", "line_kind"})
_NAMES = frozenset({"name", "loop_var", "function", "tensor"})
_FOLLOWS = frozenset(
    {
        "dynamic_bytes", "static_bytes", "dynamic_smem_bytes", "offset_bytes", "first", "fields",
        "overlaps", "bytes_per_version", "max_num_stages", "exceeds", "pipeline_depth",
        "versioned_by",
    }
)  # fmt: skip
"""Fields that change because another one of the same comparison did."""

NOTHING: frozenset[str] = frozenset()


class FactComparison:
    """Both sides, the names that differ, and the changes found so far."""

    def __init__(self, left: Facts, right: Facts, renames: FactRenames) -> None:
        self.left = left
        self.right = right
        self.renames = renames
        self.found: list[FactChange] = []

    def records(
        self,
        group: Group,
        path: str,
        pairs: Sequence[Pair[_R]],
        name: Callable[[_R], str],
        seen: Seen,
        *,
        label: str = "{}",
        skip: frozenset[str] = NOTHING,
    ) -> None:
        """Compare matched records field by field; what has no partner appeared or vanished."""
        used: Counter[str] = Counter()
        for pair in pairs:
            key = name(pair.one)
            used[key] += 1
            again = used[key] > 1
            place = f"{path}[{key}#{used[key]}]" if again else f"{path}[{key}]"
            words = label.format(f"{key} (no. {used[key]})" if again else key)
            self.pair(group, place, words, pair, seen, skip=skip)

    def pair(
        self,
        group: Group,
        path: str,
        words: str,
        pair: Pair[_R],
        seen: Seen,
        *,
        note: str = "",
        skip: frozenset[str] = NOTHING,
    ) -> None:
        """Compare one matched record; without a partner it appeared or vanished, with a note."""
        if pair.left is not None and pair.right is not None:
            self.record(group, path, words, pair.left, pair.right, seen, skip=skip)
        else:
            self._alone(group, path, words, pair, seen, note)

    def record(
        self,
        group: Group,
        path: str,
        words: str,
        left: Record,
        right: Record,
        seen: Seen,
        *,
        skip: frozenset[str] = NOTHING,
    ) -> None:
        """Compare two records of one type field by field."""
        evidence = seen(self.left, left), seen(self.right, right)
        for info in fields_of(type(left)):
            if info.name in skip:
                continue
            values = getattr(left, info.name), getattr(right, info.name)
            if values[0] == values[1]:
                continue
            place = f"{path}.{info.encode_name}" if path else info.encode_name
            if isinstance(values[0], dict):
                self._map(group, place, words, left, values, evidence)
            elif _holds_records(values):
                self._nested(group, place, words, values, seen)
            else:
                self.field(group, place, words, left, info.name, values, evidence)

    def field(
        self,
        group: Group,
        path: str,
        words: str,
        owner: Record,
        name: str,
        values: tuple[object, object],
        evidence: tuple[tuple[Evidence, ...], tuple[Evidence, ...]],
    ) -> None:
        """Add the change of one field of ``owner``, whose type chooses the words."""
        renamed = self.renames.in_left(values[1]) == values[0]
        kind: Kind = "position" if name in _POSITIONS else "rename" if renamed else "fact"
        left, right = quantity(name, values[0]), quantity(name, values[1])
        if kind == "rename" and name in _NAMES:
            text = f"{left} renamed to {right}"
        else:
            text = what_changed(owner, words, name, left, right)
        self.add(
            group, path, words, text, _plain(values[0]), _plain(values[1]), *evidence,
            kind=kind, follows=_follows(owner, name, kind),
        )  # fmt: skip

    def add(  # noqa: PLR0913, PLR0917 - one parameter a field of the record
        self,
        group: Group,
        path: str,
        subject: str,
        text: str,
        left: ParamValue,
        right: ParamValue,
        left_evidence: tuple[Evidence, ...],
        right_evidence: tuple[Evidence, ...],
        *,
        kind: Kind = "fact",
        presence: Presence = "both",
        follows: bool = False,
    ) -> None:
        """Add a change; ``subject`` is kept where the text begins with it."""
        self.found.append(
            FactChange(
                path=path,
                group=group,
                kind=kind,
                presence=presence,
                follows=follows,
                subject=subject if text.startswith(subject) else "",
                text=text,
                left=left,
                right=right,
                left_evidence=left_evidence,
                right_evidence=right_evidence,
            )
        )

    def _alone(
        self, group: Group, path: str, words: str, pair: Pair[_R], seen: Seen, note: str
    ) -> None:
        left = None if pair.left is None else summary(pair.left)
        right = None if pair.right is None else summary(pair.right)
        verb = "vanished" if right is None else "appeared"
        if isinstance(pair.one, PipelineLoop):  # the loop itself may be on both
            words = f"pipelining of {words}"
        self.add(
            group, path, words, f"{words} {verb}{note}", left, right,
            () if pair.left is None else seen(self.left, pair.left),
            () if pair.right is None else seen(self.right, pair.right),
            presence="left" if right is None else "right",
            follows=isinstance(pair.one, SyncOp),
        )  # fmt: skip

    def _map(
        self,
        group: Group,
        path: str,
        words: str,
        owner: Record,
        values: tuple[Mapping[str, Extent], Mapping[str, Extent]],
        evidence: tuple[tuple[Evidence, ...], tuple[Evidence, ...]],
    ) -> None:
        for key in dict.fromkeys((*values[0], *values[1])):
            pair = values[0].get(key), values[1].get(key)
            if pair[0] != pair[1]:
                self.field(group, f"{path}[{key}]", words, owner, key, pair, evidence)

    def _nested(
        self, group: Group, path: str, words: str, values: tuple[object, object], seen: Seen
    ) -> None:
        left, right = (value if isinstance(value, tuple) else (value,) for value in values)
        for index, (mine, theirs) in enumerate(zip_longest(left, right)):
            self.pair(group, f"{path}[{index}]", words, Pair(left=mine, right=theirs), seen)


@cache
def fields_of(record: type[Record]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """A record's fields; msgspec evaluates every annotation anew each time it is asked."""
    return msgspec.structs.fields(record)


def _follows(owner: Record, field: str, kind: Kind) -> bool:
    """Whether a field is only another side of a change that is in the list too."""
    if isinstance(owner, SyncOp):  # the totals and the barriers say the rest
        return field not in ("max_pending", "op", "section", "role", "predicate")
    if isinstance(owner, SharedBuffer) and field == "total_bytes":
        return True
    return field in _FOLLOWS or (kind == "rename" and field not in _NAMES)


def _holds_records(values: Sequence[object]) -> bool:
    items = (item for value in values for item in (value if isinstance(value, tuple) else (value,)))
    return any(isinstance(item, Record) for item in items)


def _plain(value: object) -> ParamValue:
    """A value as JSON has it: scalars and tuples of scalars."""
    return tuple(map(_scalar, value)) if isinstance(value, tuple) else _scalar(value)


def _scalar(value: object) -> bool | int | float | str | None:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
