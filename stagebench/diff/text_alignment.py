"""Which element of the left sequence is which of the right?

difflib's matcher is good on small inputs and quadratic (cubic at worst) on large or repetitive
ones, so it only sees small gaps.  Everything else is anchored first, as patience diff does: cut the
common head and tail, match what is unique on both sides, keep the longest increasing chain, and go
on between the anchors.  A large gap without an anchor (an unrolled loop) is walked in windows.
difflib's ``autojunk`` is off: it drops frequent lines, and ``__syncthreads();`` is one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from stagebench.diff.text_windows import aligned_in_windows

Pair = tuple[int, int]

MAX_DIFFLIB_CELLS = 10_000
"""A gap of more than this many left times right elements is never given to difflib."""


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Index pairs of equal elements, increasing in both."""
    codes: dict[Hashable, int] = {}
    left_codes = [codes.setdefault(item, len(codes)) for item in left]
    right_codes = [codes.setdefault(item, len(codes)) for item in right]
    pairs: list[Pair] = []
    todo = [(0, len(left_codes), 0, len(right_codes))]
    while todo:
        gap = todo.pop()
        trimmed, found = _trim(left_codes, right_codes, gap)
        pairs += found
        left_from, left_to, right_from, right_to = trimmed
        if left_from == left_to or right_from == right_to:
            continue
        anchors = _anchors(left_codes, right_codes, trimmed)
        if anchors:
            pairs += anchors
            todo += gaps(anchors, *trimmed)
    pairs.sort()
    return pairs


def gaps(
    pairs: Sequence[Pair], left_from: int, left_to: int, right_from: int, right_to: int
) -> Iterator[tuple[int, int, int, int]]:
    """What lies between matched pairs: half-open ranges left and right, not both empty."""
    for left, right in (*pairs, (left_to, right_to)):
        if left > left_from or right > right_from:
            yield left_from, left, right_from, right
        left_from, right_from = left + 1, right + 1


def _trim(
    left: list[int], right: list[int], gap: tuple[int, int, int, int]
) -> tuple[tuple[int, int, int, int], list[Pair]]:
    left_from, left_to, right_from, right_to = gap
    found: list[Pair] = []
    while left_from < left_to and right_from < right_to and left[left_from] == right[right_from]:
        found.append((left_from, right_from))
        left_from += 1
        right_from += 1
    while (
        left_from < left_to and right_from < right_to and left[left_to - 1] == right[right_to - 1]
    ):
        left_to -= 1
        right_to -= 1
        found.append((left_to, right_to))
    return (left_from, left_to, right_from, right_to), found


def _anchors(left: list[int], right: list[int], gap: tuple[int, int, int, int]) -> list[Pair]:
    left_from, left_to, right_from, right_to = gap
    of_left, of_right = left[left_from:left_to], right[right_from:right_to]
    left_count, right_count = Counter(of_left), Counter(of_right)
    unique = _chain(
        [code if left_count[code] == right_count[code] == 1 else None for code in of_left],
        [code if left_count[code] == right_count[code] == 1 else None for code in of_right],
    )
    if not unique and len(of_left) * len(of_right) <= MAX_DIFFLIB_CELLS:
        matcher = SequenceMatcher(None, of_left, of_right, autojunk=False)
        unique = [
            (block.a + offset, block.b + offset)
            for block in matcher.get_matching_blocks()
            for offset in range(block.size)
        ]
    elif not unique:
        unique = aligned_in_windows(of_left, of_right)
    return [(left_from + one, right_from + other) for one, other in unique]


def _chain(left: Sequence[Hashable | None], right: Sequence[Hashable | None]) -> list[Pair]:
    """The longest chain, increasing in both, of elements that are equal and unique per side."""
    where = {item: index for index, item in enumerate(right) if item is not None}
    candidates = [
        (index, where[item])
        for index, item in enumerate(left)
        if item is not None and item in where
    ]
    tails: list[int] = []
    tail_at: list[int] = []
    before: list[int] = []
    for position, (_, target) in enumerate(candidates):
        slot = bisect_left(tails, target)
        before.append(tail_at[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(target)
            tail_at.append(position)
        else:
            tails[slot] = target
            tail_at[slot] = position
    found: list[Pair] = []
    position = tail_at[-1] if tail_at else -1
    while position >= 0:
        found.append(candidates[position])
        position = before[position]
    found.reverse()
    return found
