"""Which lines of the two variants' IR are the same, up to names and to what was asked for?

Lines are paired by what they are with every number left out, then what is left of them by their
head (``T.reads(``, ``A_shared = T.alloc_buffer(``), and compared token by token:

``equal``    the same tokens; a name may carry another of the printer's numbers (``A_shared_1``
             for ``A_shared_2``), or be the other side's name of a renamed tensor, as long as each
             name stands for one name throughout the text; the kernel's parameters may stand in
             another order where a tensor is renamed, the compiler sorts them by name
             (`stagebench.diff.pass_parameters`)
``request``  tokens differ, and each pair of them is what was asked for: ``n`` and ``n'`` where the
             variants ask for these depths, the same multiple of both (bytes of all versions), and
             ``n - 1`` and ``n' - 1`` in a stage list
``differs``  a line of that kind with other numbers, names or parts in it
``alone``    no such line on the other side

``with T.attr(…):`` and ``T.attr(…)`` are one statement: the printer chooses by what follows it.
The kinds are about one text after one pass; what a pass did is `stagebench.diff.pass_divergence`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from stagebench.diff.pass_allowance import Allowance, right_tokens
from stagebench.diff.pass_parameters import in_name_order
from stagebench.diff.pass_tokens import (
    TokenPair,
    base_name,
    head_of,
    key_of,
    token_differences,
    tokens_of,
)

LineKind = Literal["equal", "request", "differs", "alone"]
_STAGE_LIST = '"software_pipeline_stage"'


@dataclass
class TextPairing:
    """Two texts line by line (0-based): each line's kind and its partner on the other side."""

    left_kinds: list[LineKind]
    right_kinds: list[LineKind]
    pairs: list[tuple[int, int]]
    differing: frozenset[TokenPair]
    requested: frozenset[TokenPair]


def pair_texts(
    left: Sequence[str],
    right: Sequence[str],
    allowed: Allowance,
    kept: Iterable[tuple[int, int]] = (),
) -> TextPairing:
    """Pair the lines of two texts.  ``kept`` pairs, ascending on both sides, are taken as given."""
    tokens = [tokens_of(line) for line in left], [right_tokens(line, allowed) for line in right]
    if allowed.names:
        tokens = (
            in_name_order(tokens[0], allowed.orders[0]),
            in_name_order(tokens[1], allowed.orders[1]),
        )
    pairs: list[tuple[int, int]] = []
    start, first = 0, 0
    for end, last in (*kept, (len(left), len(right))):
        if start < end and first < last:
            pairs += line_pairs(*tokens, (start, end), (first, last))
        if end < len(left) and last < len(right):
            pairs.append((end, last))
            start, first = end + 1, last + 1
    judge = _Judge(allowed)
    result = TextPairing(
        left_kinds=["alone"] * len(left),
        right_kinds=["alone"] * len(right),
        pairs=pairs,
        differing=frozenset(),
        requested=frozenset(),
    )
    for one, two in pairs:
        kind = judge.kind(tokens[0][one], tokens[1][two])
        result.left_kinds[one] = result.right_kinds[two] = kind
    result.differing = frozenset(judge.differing)
    result.requested = frozenset(judge.requested)
    return result


def line_pairs(
    left: Sequence[tuple[str, ...]],
    right: Sequence[tuple[str, ...]],
    mine: tuple[int, int],
    theirs: tuple[int, int],
) -> Iterator[tuple[int, int]]:
    """Pairs of lines of two blocks: those of one kind in order, then those of one head."""
    (start, end), (first, last) = mine, theirs
    keys = [key_of(line) for line in left[start:end]], [key_of(line) for line in right[first:last]]
    for tag, one, one_end, two, two_end in edit_script(tuple(keys[0]), tuple(keys[1])):
        if tag == "equal":
            yield from zip(
                range(start + one, start + one_end), range(first + two, first + two_end),
                strict=True,
            )  # fmt: skip
        elif tag == "replace":
            heads = (
                tuple(head_of(line) for line in left[start + one : start + one_end]),
                tuple(head_of(line) for line in right[first + two : first + two_end]),
            )
            for same, a, a_end, b, b_end in edit_script(*heads):
                if same == "equal":
                    yield from zip(
                        range(start + one + a, start + one + a_end),
                        range(first + two + b, first + two + b_end),
                        strict=True,
                    )


def edit_script(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> list[tuple[str, int, int, int, int]]:
    """Opcodes of difflib over lines; equal heads and tails are split off first (most of a text)."""
    head = 0
    shortest = min(len(before), len(after))
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    ends = len(before) - tail, len(after) - tail
    matcher = SequenceMatcher(None, before[head : ends[0]], after[head : ends[1]], autojunk=False)
    middle = [
        (str(tag), start + head, end + head, first + head, last + head)
        for tag, start, end, first, last in matcher.get_opcodes()
    ]
    found: list[tuple[str, int, int, int, int]] = []
    if head:
        found.append(("equal", 0, head, 0, head))
    found += middle
    if tail:
        found.append(("equal", ends[0], len(before), ends[1], len(after)))
    return found


class _Judge:
    """Compares lines of one text pair; each name may stand for one name only."""

    def __init__(self, allowed: Allowance) -> None:
        self.differing: set[TokenPair] = set()
        self.requested: set[TokenPair] = set()
        self._allowed = allowed
        self._left_for: dict[str, str] = {}
        self._right_for: dict[str, str] = {}

    def kind(self, left: tuple[str, ...], right: tuple[str, ...]) -> LineKind:
        if left is right or left == right:
            return "equal"
        if key_of(left) != key_of(right):
            self.differing |= token_differences(left, right)
            return "differs"
        found: LineKind = "equal"
        in_stages = False
        pairs: set[TokenPair] = set()
        for one, two in zip(left, right, strict=True):
            if one == _STAGE_LIST:
                in_stages = True
            elif one == "]":
                in_stages = False
            if one == two or self._same_name(one, two):
                continue
            pairs.add((one, two))
            pair = one, two
            stage = in_stages and self._allowed.asked_as_stage(pair)
            if not stage and not self._allowed.asked(pair):
                found = "differs"
            elif found == "equal":
                found = "request"
        (self.differing if found == "differs" else self.requested).update(pairs)
        return found

    def _same_name(self, one: str, two: str) -> bool:
        if not one.isidentifier() or base_name(one) != base_name(two):
            return False
        return (
            self._left_for.setdefault(two, one) == one
            and self._right_for.setdefault(one, two) == two
        )
