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

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from stagebench.diff.pass_parameters import in_name_order
from stagebench.diff.text_tokens import lex
from stagebench.model import Launch, Variant

LineKind = Literal["equal", "request", "differs", "alone"]

_NUMBERED = re.compile(r"(.+?)_\d+\Z")
_WORD = re.compile(r"[A-Za-z_]\w*")
_STAGE_LIST = '"software_pipeline_stage"'

TokenPair = tuple[str, str]


@dataclass(frozen=True)
class Allowance:
    """What may differ between the two variants' texts without being a decision of a pass.

    ``names`` maps right names to left ones; ``requested`` are pairs of tokens that were asked for;
    ``depths`` are the two requested depths where they differ.  ``orders`` are, for each side, the
    parameters of the device function in name order: a text of host code alone calls it.
    """

    names: Mapping[str, str]
    requested: frozenset[TokenPair]
    depths: tuple[int, int] | None
    orders: tuple[Mapping[str, Sequence[int]], Mapping[str, Sequence[int]]]

    def asked(self, pair: TokenPair) -> bool:
        """Whether the two tokens differ as the two requests do."""
        if pair in self.requested:
            return True
        if self.depths is None or not (pair[0].isdigit() and pair[1].isdigit()):
            return False
        left, right = self.depths
        times, rest = divmod(int(pair[0]), left) if left else (0, 1)
        return rest == 0 and times > 0 and times * right == int(pair[1])

    def asked_as_stage(self, pair: TokenPair) -> bool:
        """Whether the two tokens are the last stages of the requested depths."""
        if self.depths is None:
            return False
        return pair == (str(self.depths[0] - 1), str(self.depths[1] - 1))


@dataclass
class TextPairing:
    """Two texts line by line (0-based): each line's kind and its partner on the other side."""

    left_kinds: list[LineKind]
    right_kinds: list[LineKind]
    pairs: list[tuple[int, int]]
    differing: frozenset[TokenPair]
    requested: frozenset[TokenPair]


def allowance(
    variants: tuple[Variant, Variant], texts: tuple[str, str], launches: tuple[Launch, Launch]
) -> Allowance:
    """What two variants ask for differently, and which names differ in their first texts."""
    left, right = variants
    requested: set[TokenPair] = set()
    params = dict.fromkeys((*left.params, *right.params))
    values = [(left.params.get(name), right.params.get(name)) for name in params]
    for one, two in (*values, (left.arch, right.arch)):
        if one == two or one is None or two is None:
            continue
        if type(one) is int and type(two) is int:
            requested.add((str(one), str(two)))
        elif isinstance(one, str) and isinstance(two, str):
            requested.add((f'"{one}"', f'"{two}"'))
    mine, theirs = left.num_stages, right.num_stages
    depths = None if mine is None or theirs is None or mine == theirs else (mine, theirs)
    names = renamed(*texts)
    passed = [[param.name for param in launch.params] for launch in launches]
    passed[1] = [_translated(name, names) for name in passed[1]]
    orders = [
        {_translated(launch.function, names): sorted(range(len(used)), key=used.__getitem__)}
        for launch, used in zip(launches, passed, strict=True)
    ]
    return Allowance(names, frozenset(requested), depths, (orders[0], orders[1]))


def renamed(left: str, right: str) -> dict[str, str]:
    """Names of the right text that stand for others in the left: right name → left name.

    Learned from lines that differ in names alone; a name that both sides use is never renamed.
    """
    mine, theirs = _names(left), _names(right)
    only = mine - theirs, theirs - mine
    found: dict[str, str] = {}
    if not only[0] or not only[1]:
        return found
    lines = [_token_lines(left), _token_lines(right)]
    keys = [["\0".join(map(_shape, tokens)) for tokens in side] for side in lines]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for start, first, size in matcher.get_matching_blocks():
        for offset in range(size):
            for one, two in zip(lines[0][start + offset], lines[1][first + offset], strict=True):
                if one in only[0] and two in only[1]:
                    found.setdefault(two, one)
    taken: dict[str, str] = {}
    for theirs_name, mine_name in found.items():
        taken.setdefault(mine_name, theirs_name)
    return {two: one for two, one in found.items() if taken[one] == two}


def pair_texts(
    left: Sequence[str],
    right: Sequence[str],
    allowed: Allowance,
    kept: Iterable[tuple[int, int]] = (),
) -> TextPairing:
    """Pair the lines of two texts.  ``kept`` pairs, ascending on both sides, are taken as given."""
    tokens = [tokens_of(line) for line in left], [_here(line, allowed) for line in right]
    if allowed.names:
        tokens = (
            in_name_order(tokens[0], allowed.orders[0]),
            in_name_order(tokens[1], allowed.orders[1]),
        )
    pairs: list[tuple[int, int]] = []
    start, first = 0, 0
    for end, last in (*kept, (len(left), len(right))):
        if start < end and first < last:
            pairs += _between(tokens[0], tokens[1], start, end, first, last)
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


def line_difference(left: str, right: str, allowed: Allowance) -> frozenset[TokenPair]:
    """The pairs of tokens in which two lines differ, renames left out; see `_differences`."""
    return _differences(tokens_of(left), _here(right, allowed))


def same_head(left: str, right: str) -> bool:
    """Whether two lines begin with the same assignment or call."""
    return _head(tokens_of(left)) == _head(tokens_of(right))


def tokens_in(
    lines: Sequence[str], allowed: Allowance | None = None
) -> tuple[tuple[str, ...], ...]:
    """The tokens of each line; with ``allowed`` a right text's, in the left side's names."""
    if allowed is None:
        return tuple(map(tokens_of, lines))
    return tuple(_here(line, allowed) for line in lines)


def token_differences(left: tuple[str, ...], right: tuple[str, ...]) -> frozenset[TokenPair]:
    """The pairs of tokens in which two lines differ, the printer's numbering left out."""
    return _differences(left, right)


def line_pairs(
    left: Sequence[tuple[str, ...]],
    right: Sequence[tuple[str, ...]],
    mine: tuple[int, int],
    theirs: tuple[int, int],
) -> Iterator[tuple[int, int]]:
    """Pairs of lines of two blocks: those of one kind in order, then those of one head."""
    return _between(left, right, *mine, *theirs)


def key_of(tokens: tuple[str, ...]) -> str:
    """What kind of line it is, see `_key`."""
    return _key(tokens)


@lru_cache(maxsize=1 << 14)
def _differences(left: tuple[str, ...], right: tuple[str, ...]) -> frozenset[TokenPair]:
    """Pairs of tokens of lines of one kind; else pairs of the runs of tokens that were replaced."""
    if _key(left) == _key(right):
        pairs = zip(left, right, strict=True)
        return frozenset((a, b) for a, b in pairs if a != b and _base(a) != _base(b))
    mine, theirs = [_base(token) for token in left], [_base(token) for token in right]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    return frozenset(
        (" ".join(mine[start:end]), " ".join(theirs[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    )


def _between(
    left: Sequence[tuple[str, ...]],
    right: Sequence[tuple[str, ...]],
    start: int,
    end: int,
    first: int,
    last: int,
) -> Iterator[tuple[int, int]]:
    """Pairs of a gap between two fixed pairs: lines of one kind in order, then of one head."""
    keys = [_key(line) for line in left[start:end]], [_key(line) for line in right[first:last]]
    for tag, one, one_end, two, two_end in edit_script(tuple(keys[0]), tuple(keys[1])):
        if tag == "equal":
            yield from zip(
                range(start + one, start + one_end), range(first + two, first + two_end),
                strict=True,
            )  # fmt: skip
        elif tag == "replace":
            heads = (
                tuple(_head(line) for line in left[start + one : start + one_end]),
                tuple(_head(line) for line in right[first + two : first + two_end]),
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
        if _key(left) != _key(right):
            self.differing |= _differences(left, right)
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
        if not one.isidentifier() or _base(one) != _base(two):
            return False
        return (
            self._left_for.setdefault(two, one) == one
            and self._right_for.setdefault(one, two) == two
        )


@lru_cache(maxsize=1 << 15)
def tokens_of(line: str) -> tuple[str, ...]:
    """The words of one line without blanks and comments."""
    words = tuple(
        word
        for token_line in lex(line.strip(), "tvmscript")
        for word, kind in zip(token_line.words, token_line.kinds, strict=True)
        if kind not in ("blank", "comment")
    )
    return words[1:-1] if words[:4] == ("with", "T", ".", "attr") else words


def _token_lines(text: str) -> list[tuple[str, ...]]:
    return [tokens_of(line) for line in text.split("\n")]


def _names(text: str) -> set[str]:
    return {word for tokens in _token_lines(text) for word in tokens if word.isidentifier()}


def _here(line: str, allowed: Allowance) -> tuple[str, ...]:
    """A right line's tokens in the left side's names."""
    tokens = tokens_of(line)
    if not allowed.names:
        return tokens
    return tuple(_translated(token, allowed.names) for token in tokens)


def _translated(token: str, names: Mapping[str, str]) -> str:
    """A name, or one that a pass made of it (``X_desc`` of ``X``), in the left side's words."""
    if token in names:
        return names[token]
    if token[:1] in "\"'":
        return _WORD.sub(lambda word: _translated(word[0], names), token)
    if not token.isidentifier():
        return token
    whole = f"_{token}_"
    for theirs, mine in names.items():
        if f"_{theirs}_" in whole:
            return whole.replace(f"_{theirs}_", f"_{mine}_")[1:-1]
    return token


@lru_cache(maxsize=1 << 15)
def _key(tokens: tuple[str, ...]) -> str:
    """What kind of line it is: its tokens without numbers and the printer's numbering."""
    return "\0".join(_blanked(token) for token in tokens)


@lru_cache(maxsize=1 << 15)
def _head(tokens: tuple[str, ...]) -> str:
    """What a line begins with, up to its first call: what is assigned, what is called."""
    end = tokens.index("(") if "(" in tokens else len(tokens)
    return "\0".join(_blanked(token) for token in tokens[:end])


def _blanked(token: str) -> str:
    return "#" if token[:1].isdigit() else _base(token)


@lru_cache(maxsize=1 << 15)
def _base(name: str) -> str:
    """A name without the number that the printer puts behind equal names."""
    found = _NUMBERED.match(name) if name.isidentifier() else None
    return found[1] if found else name


def _shape(token: str) -> str:
    if token.isidentifier():
        return "$"
    return "#" if token[:1].isdigit() else token
