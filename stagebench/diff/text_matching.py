"""Which lines of two prepared texts correspond?  Nested alike first, then anywhere in the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from stagebench.diff.text_alignment import Pair, align, gaps
from stagebench.diff.text_functions import Words
from stagebench.diff.text_rule_names import MIN_MOVED_LINES, MIN_UNBALANCED_LINES

_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", ";", ",", "::", "."])

MAX_SIMILARITY_CELLS = 2_500
"""A gap of more than this many left times right lines is paired by shape alone."""

MAX_SIMILARITY_CELLS_IN_ALL = 60_000
"""After this many, gaps of a text are paired by shape alone."""

_LEAST_SIMILAR = 0.5


def match_lines(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    left_nesting: Sequence[int],
    right_nesting: Sequence[int],
) -> list[Pair]:
    """Pairs of lines with equal keys; among equal ones those nested equally deep are preferred.

    Where that finds few, one text is nested deeper as a whole, and nesting says nothing.
    """
    pairs: list[Pair] = []
    if any(left_nesting) and any(right_nesting):
        pairs = align(
            list(zip(left, left_nesting, strict=True)), list(zip(right, right_nesting, strict=True))
        )
    if 2 * len(pairs) < min(len(left), len(right)):
        pairs = []
    return fill_gaps(pairs, left, right)


def fill_gaps(pairs: list[Pair], left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """The pairs, and what matches by these keys between them."""
    found = list(pairs)
    for left_from, left_to, right_from, right_to in gaps(pairs, 0, len(left), 0, len(right)):
        if left_from < left_to and right_from < right_to:
            found += [
                (left_from + one, right_from + other)
                for one, other in align(left[left_from:left_to], right[right_from:right_to])
            ]
    found.sort()
    return found


_DIGITS = frozenset("0123456789")


def shape(words: Words) -> Words:
    """The words with every number left out (one that starts with its point stays)."""
    return tuple(["#" if word[:1] in _DIGITS else word for word in words])


def says_something(words: Words) -> bool:
    """Is there more on this line than brackets?"""
    return any(word not in _PUNCTUATION for word in words)


def moved_blocks(
    pairs: Sequence[Pair], left: Sequence[Words], right: Sequence[Words]
) -> Iterator[tuple[int, int, int]]:
    """Blocks ``(left, right, lines)`` that are unmatched on both sides and equal.

    A block has at least `MIN_MOVED_LINES` lines that say something, and none is used twice.  It
    ends before a block that it does not close, unless it has `MIN_UNBALANCED_LINES`: a loop's
    header alone did not move.
    """
    left_free = [True] * len(left)
    right_free = [True] * len(right)
    for one, other in pairs:
        left_free[one] = right_free[other] = False
    where: dict[tuple[Words, Words], list[int]] = {}
    for index in range(len(right) - 1):
        if right_free[index] and right_free[index + 1]:
            where.setdefault((right[index], right[index + 1]), []).append(index)
    index = 0
    while index < len(left) - 1:
        best = (0, 0, 0)
        if left_free[index] and left_free[index + 1]:
            for start in where.get((left[index], left[index + 1]), ())[:32]:
                size = 0
                while (
                    index + size < len(left)
                    and start + size < len(right)
                    and left_free[index + size]
                    and right_free[start + size]
                    and left[index + size] == right[start + size]
                ):
                    size += 1
                telling = sum(map(says_something, left[index : index + size]))
                if telling < MIN_UNBALANCED_LINES:
                    size = _balanced(left[index : index + size])
                    telling = sum(map(says_something, left[index : index + size]))
                best = max(best, (telling, size, start))
        telling, size, start = best
        if telling >= MIN_MOVED_LINES:
            yield index, start, size
            left_free[index : index + size] = [False] * size
            right_free[start : start + size] = [False] * size
            index += size
        else:
            index += 1


def _balanced(lines: Sequence[Words]) -> int:
    """How many lines from the first on close every brace that they open, and no other."""
    depth = size = 0
    for number, words in enumerate(lines, 1):
        for word in words:
            depth += (word == "{") - (word == "}")
            if depth < 0:
                return size
        if depth == 0:
            size = number
    return size


def changed_pairs(
    pairs: list[Pair],
    left: Sequence[Words],
    right: Sequence[Words],
    taken: tuple[set[int], set[int]],
) -> list[Pair]:
    """Pairs of unequal lines that are the same line changed, between the pairs of equal ones.

    Lines that are ``taken`` (moved) on either side are left alone.
    """
    found: list[Pair] = []
    budget = MAX_SIMILARITY_CELLS_IN_ALL
    for left_from, left_to, right_from, right_to in gaps(pairs, 0, len(left), 0, len(right)):
        of_left = [index for index in range(left_from, left_to) if index not in taken[0]]
        of_right = [index for index in range(right_from, right_to) if index not in taken[1]]
        if not of_left or not of_right:
            continue
        same_shape = align(
            [shape(left[index]) for index in of_left], [shape(right[index]) for index in of_right]
        )
        same_shape = [
            (one, other) for one, other in same_shape if says_something(left[of_left[one]])
        ]
        found += [(of_left[one], of_right[other]) for one, other in same_shape]
        for rest in gaps(same_shape, 0, len(of_left), 0, len(of_right)):
            some_left, some_right = of_left[rest[0] : rest[1]], of_right[rest[2] : rest[3]]
            cells = len(some_left) * len(some_right)
            if 0 < cells <= min(MAX_SIMILARITY_CELLS, budget):
                budget -= cells
                found += _similar(some_left, some_right, left, right)
    found.sort()
    return found


def _similar(
    of_left: list[int], of_right: list[int], left: Sequence[Words], right: Sequence[Words]
) -> list[Pair]:
    """The pairing in order with the greatest similarity in all."""
    if len(of_left) == len(of_right) == 1:  # nothing else that either could be
        pair = of_left[0], of_right[0]
        return [pair] if says_something(left[pair[0]]) == says_something(right[pair[1]]) else []
    left_bags = [_bag(left[index]) for index in of_left]
    right_bags = [_bag(right[index]) for index in of_right]
    columns = len(of_right)
    scores = [[0.0] * (columns + 1) for _ in range(len(of_left) + 1)]
    likeness = [[_likeness(one, other) for other in right_bags] for one in left_bags]
    for row in range(len(of_left) - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            best = max(scores[row + 1][column], scores[row][column + 1])
            if likeness[row][column] >= _LEAST_SIMILAR:
                best = max(best, likeness[row][column] + scores[row + 1][column + 1])
            scores[row][column] = best
    found: list[Pair] = []
    row = column = 0
    while row < len(of_left) and column < columns:
        here = scores[row][column]
        if here == scores[row + 1][column]:
            row += 1
        elif here == scores[row][column + 1]:
            column += 1
        else:
            found.append((of_left[row], of_right[column]))
            row += 1
            column += 1
    return found


def _bag(words: Words) -> tuple[Counter[str], int]:
    bag = Counter(word for word in words if word not in _PUNCTUATION)
    return bag, sum(bag.values())


def _likeness(one: tuple[Counter[str], int], other: tuple[Counter[str], int]) -> float:
    if not one[1] or not other[1]:
        return 0.0
    return 2 * sum((one[0] & other[0]).values()) / (one[1] + other[1])
