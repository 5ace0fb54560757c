"""Do two lines differ in nothing but the version of a buffer that they index?

A version is chosen as ``(k % 3) * 4096`` or ``(k & 1) * 4096``; with another count the operator,
the count and the distance to the version that is written change together, and constant indices move
by whole versions.  Such a line is *shown*: it is a difference.  It is only marked, so that a reader
can skip it.

A line is marked if every word that differs stands in a subscript and is part of a choice of
version, the number added before it (``(k + 1) & 1``), or an offset that differs by whole versions
of a buffer whose count did change, in this line or in another changed one.
"""

from __future__ import annotations

from collections.abc import Iterable

from stagebench.diff.text_functions import Words

VERSION_INDEX = "version-index"


class VersionIndex:
    """Marks the changed lines of one comparison."""

    def __init__(self) -> None:
        self._strides: dict[str, set[int]] = {}
        self._counts: dict[str, set[tuple[int, int]]] = {}

    def learn(self, changed: Iterable[tuple[Words, Words]]) -> None:
        """See all changed lines first: whose version count changed, and how far versions part."""
        for left, right in changed:
            if len(left) == len(right):
                bases = _bases(left)
                for index in range(len(left) - 1):
                    counts = _count(left, index), _count(right, index)
                    if not bases[index] or None in counts or counts[0] == counts[1]:
                        continue
                    self._counts.setdefault(bases[index], set()).add(
                        (counts[0] or 0, counts[1] or 0)
                    )
                    strides = {_stride(left, index), _stride(right, index)} - {0}
                    if len(strides) == 1:
                        self._strides.setdefault(bases[index], set()).update(strides)

    def marks(self, left: Words, right: Words) -> tuple[str, ...]:
        """The marks of a changed line."""
        if len(left) != len(right):
            return ()
        bases = _bases(left)
        if bases != _bases(right):
            return ()
        differing = [
            at for at, (one, other) in enumerate(zip(left, right, strict=True)) if one != other
        ]
        explained = all(bases[at] and self._follows(left, right, at, bases[at]) for at in differing)
        return (VERSION_INDEX,) if explained and differing else ()

    def _follows(self, left: Words, right: Words, at: int, base: str) -> bool:
        for choice in (at, at - 1, at + 2):  # its operator, its count, the number added before it
            counts = _count(left, choice), _count(right, choice)
            if all(counts) and counts[0] != counts[1]:
                if choice != at + 2:
                    return True
                return (
                    left[at + 1] == ")" and left[at - 1] == "+" and _both_numbers(left, right, at)
                )
        if left[at - 1] != "+" or not _both_numbers(left, right, at):
            return False
        ours, theirs = int(left[at]), int(right[at])
        whole = any((ours - theirs) % stride == 0 for stride in self._strides.get(base, ()))
        return whole or any(
            ours * count_right == theirs * count_left  # what lies behind all versions
            for count_left, count_right in self._counts.get(base, ())
        )


def _both_numbers(left: Words, right: Words, at: int) -> bool:
    return left[at].isdecimal() and right[at].isdecimal()


def _count(words: Words, at: int) -> int | None:
    """The number of versions that ``% 3`` or ``& 1`` at this place chooses from."""
    if not 0 < at < len(words) - 1 or not words[at + 1].isdecimal():
        return None
    number = int(words[at + 1])
    if words[at] == "%" and number > 1:
        return number
    if words[at] == "&" and number and (number + 1) & number == 0:
        return number + 1
    return None


def _stride(words: Words, at: int) -> int:
    """The ``4096`` of ``(k % 3) * 4096``, or 0."""
    after = words[at + 2 : at + 5]
    if len(after) == 3 and after[:2] == (")", "*") and after[2].isdecimal():
        return int(after[2])
    return 0


def _bases(words: Words) -> list[str]:
    """For each word the name that the innermost subscript around it indexes, or ``""``."""
    found: list[str] = []
    around: list[str] = []
    for at, word in enumerate(words):
        if word == "]" and around:
            around.pop()
        found.append(around[-1] if around else "")
        if word == "[":
            before = [each for each in words[max(0, at - 2) : at] if each != ")"]
            around.append(before[-1] if before else "")
    return found
