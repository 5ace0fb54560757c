"""What may differ between two variants' IR without being a decision of a pass?

Names of a renamed tensor, and the numbers that the two variants ask for differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stagebench.diff.pass_tokens import TokenPair, token_differences, tokens_of
from stagebench.model import Launch, Variant

_WORD = re.compile(r"[A-Za-z_]\w*")


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


def right_tokens(line: str, allowed: Allowance) -> tuple[str, ...]:
    """A right line's tokens in the left side's names."""
    tokens = tokens_of(line)
    if not allowed.names:
        return tokens
    return tuple(_translated(token, allowed.names) for token in tokens)


def tokens_in(
    lines: Sequence[str], allowed: Allowance | None = None
) -> tuple[tuple[str, ...], ...]:
    """The tokens of each line; with ``allowed`` a right text's, in the left side's names."""
    if allowed is None:
        return tuple(map(tokens_of, lines))
    return tuple(right_tokens(line, allowed) for line in lines)


def line_difference(left: str, right: str, allowed: Allowance) -> frozenset[TokenPair]:
    """The pairs of tokens in which two lines differ, renames left out; see `token_differences`."""
    return token_differences(tokens_of(left), right_tokens(right, allowed))


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


def _token_lines(text: str) -> list[tuple[str, ...]]:
    return [tokens_of(line) for line in text.split("\n")]


def _names(text: str) -> set[str]:
    return {word for tokens in _token_lines(text) for word in tokens if word.isidentifier()}


def _shape(token: str) -> str:
    if token.isidentifier():
        return "$"
    return "#" if token[:1].isdigit() else token
