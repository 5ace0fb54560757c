"""How do messages of several depths become one line?  Equal ones are grouped, numbers joined."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def group_messages(
    found: Iterable[tuple[Hashable, str, str]],
) -> list[tuple[Hashable, tuple[str, ...], str]]:
    """Group ``(kind, depth, message)`` by kind and by message with its numbers left out.

    Returns ``(kind, depths, message)`` in the order of the first of each; where the numbers of a
    group differ, the message carries all of them: ``[2, 2]`` and ``[3, 3]`` become ``[2|3, 2|3]``.
    """
    groups: dict[tuple[Hashable, str], list[tuple[str, str]]] = {}
    for kind, depth, message in found:
        groups.setdefault((kind, _NUMBER.sub("#", message)), []).append((depth, message))
    return [
        (
            kind,
            tuple(dict.fromkeys(depth for depth, _ in members)),
            join_numbers([message for _, message in members]),
        )
        for (kind, _), members in groups.items()
    ]


def join_numbers(messages: Sequence[str]) -> str:
    """One message for several that differ in their whole numbers only."""
    columns = zip(*(_NUMBER.findall(message) for message in messages), strict=True)
    joined = iter(["|".join(dict.fromkeys(column)) for column in columns])
    return _NUMBER.sub(lambda _: next(joined), messages[0])
