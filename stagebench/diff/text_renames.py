"""What is each local name of the left called on the right?

One mapping per function, chosen by what most aligned lines agree on, and then applied to the left:
the comparison is of the *renamed left* with the right, word by word.  So nothing depends on the
choice being right; a bad one only shows more lines.  What makes hiding safe is that the mapping is
an alpha-renaming:

- only names that both functions declare themselves are mapped, and never members, intrinsics,
  macros or what a directive mentions;
- it is one to one over the whole function, and no name is mapped to one that the left function
  uses without declaring it; a left name in the way of another's new name gets one of its own;
- a parameter (a kernel) that is called the same on both sides keeps its name: parameters are bound
  by name, so that swapped parameters are a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from stagebench.diff.text_alignment import Pair
from stagebench.diff.text_functions import Words
from stagebench.diff.text_matching import fill_gaps, match_lines, moved_blocks, shape
from stagebench.diff.text_pair import Side, TextPair
from stagebench.diff.text_tokens import Language

KERNEL_NAME, RENAMES = "kernel-name", "renames"

Names = tuple[str, str]
"""A name on the left and one on the right."""

_BEFORE_MEMBER = frozenset((".", "->", "::"))
_OWN_NAME = "′"
"""Ends a left name whose name is taken: no identifier holds this character."""


def places_of(words: Words, names: AbstractSet[str], language: Language) -> list[int]:
    """Where the names stand for themselves: not as a member, a qualifier or a keyword argument."""
    if names.isdisjoint(words):
        return []
    found = []
    last = len(words) - 1
    for index, word in enumerate(words):
        if word not in names:
            continue
        before = words[index - 1] if index else ""
        after = words[index + 1] if index < last else ""
        if before in _BEFORE_MEMBER or after == "::":
            continue
        if language == "tvmscript" and after == "=" and before in ("(", ","):
            continue
        found.append(index)
    return found


def rename_locals(pair: TextPair) -> None:
    """Give the left's local names those that they have on the right."""
    _Renaming(pair, RENAMES).locals()


def rename_kernels(pair: TextPair) -> None:
    """Give the left's kernels the names that they have on the right."""
    _Renaming(pair, KERNEL_NAME).kernels()


@dataclass
class _Abstract:
    """One side's lines that take part, with every local name replaced by its place in line."""

    numbers: list[int]
    keys: list[Words]
    names: list[tuple[str, ...]]
    nesting: list[int]


class _Renaming:
    def __init__(self, pair: TextPair, rule: str) -> None:
        self._pair = pair
        self._rule = rule
        self._kernels = (_kernel_names(pair.left), _kernel_names(pair.right))
        self._lines = _lines_of(pair.left)

    def locals(self) -> None:
        left, right = self._pair.left, self._pair.right
        if left.words == right.words:
            return
        one = self._abstract(left, _parameter_names(right))
        other = self._abstract(right, _parameter_names(left))
        theirs = [right.words[number] for number in other.numbers]
        chosen = self._choose(one, other, match_lines(one.keys, other.keys, *_nestings(one, other)))
        matched = match_lines(self._ours(one, chosen), theirs, *_nestings(one, other))
        # Once more: lines are aligned better now that most names are known.
        again = self._choose(one, other, fill_gaps(matched, one.keys, other.keys))
        if again != chosen:
            better = match_lines(self._ours(one, again), theirs, *_nestings(one, other))
            chosen = again if len(better) > len(matched) else chosen
        for (of_left, of_right), mapping in chosen.items():
            for number in self._lines[of_left]:
                left.rewrite(self._rule, number, self._renamed(left.words[number], mapping))
            self._note(right.functions[of_right].name, mapping)

    def _ours(self, one: _Abstract, chosen: Mapping[Pair, Mapping[str, str]]) -> list[Words]:
        """The left's lines that take part, renamed."""
        left = self._pair.left
        words = list(left.words)
        for (of_left, _), mapping in chosen.items():
            for number in self._lines[of_left]:
                words[number] = self._renamed(words[number], mapping)
        return [words[number] for number in one.numbers]

    def _choose(
        self, one: _Abstract, other: _Abstract, pairs: list[Pair]
    ) -> dict[Pair, dict[str, str]]:
        """For each pair of functions what its left names become, by the votes of its lines."""
        votes, lines = self._votes(one, other, pairs)
        return {
            functions: mapping
            for functions in _partners(self._pair.left, self._pair.right, lines)
            if (mapping := self._mapping(*functions, votes.get(functions, Counter())))
        }

    def kernels(self) -> None:
        left, right = self._pair.left, self._pair.right
        left_names, right_names = self._kernels
        gone = [name for name in left_names if name not in right_names]
        new = [name for name in right_names if name not in left_names]
        if not gone or len(gone) != len(new) or len(left_names) != len(right_names):
            return
        if not (_free(left, gone, new) and _free(right, new, gone)):
            return
        mapping = dict(zip(gone, new, strict=True))
        for number, words in enumerate(left.words):
            left.rewrite(self._rule, number, self._renamed(words, mapping))
        for function in left.functions:
            function.name = mapping.get(function.name, function.name)
        for old, name in mapping.items():
            self._pair.renames.append((name, old, name))

    def _votes(
        self, one: _Abstract, other: _Abstract, exact: list[Pair]
    ) -> tuple[dict[Pair, Counter[Names]], Counter[Pair]]:
        """How many lines say that a name is another's, and which functions share lines."""
        pair = self._pair
        definitions = _definitions(pair.left), _definitions(pair.right)
        moved = [
            (left + offset, right + offset)
            for left, right, size in moved_blocks(exact, one.keys, other.keys)
            for offset in range(size)
        ]
        rough = fill_gaps(exact, list(map(shape, one.keys)), list(map(shape, other.keys)))
        often = Counter(one.keys)
        votes: dict[Pair, Counter[Names]] = {}
        lines: Counter[Pair] = Counter()
        known = set(exact)
        for pairs, weight in ((exact, 4), (moved, 2), (set(rough) - known, 1)):
            for left, right in pairs:
                left_number, right_number = one.numbers[left], other.numbers[right]
                of_left = pair.left.function_of[left_number]
                of_right = pair.right.function_of[right_number]
                if of_left < 0 or of_right < 0:
                    continue
                functions = definitions[0][of_left], definitions[1][of_right]
                lines[functions] += weight
                counted = weight * (4 if often[one.keys[left]] == 1 else 1)
                signature = left_number == pair.left.functions[functions[0]].first
                of = votes.setdefault(functions, Counter())
                for names in zip(one.names[left], other.names[right], strict=False):
                    of[names] += 1 if signature else counted * _trust(*names)
        return votes, lines

    def _abstract(self, side: Side, others: Mapping[str, set[str]]) -> _Abstract:
        language = self._pair.language
        found = _Abstract([], [], [], [])
        local = [
            function.local
            - ({parameter.name for parameter in function.parameters} & others[function.name])
            if function.name in others
            else function.local
            for function in side.functions
        ]
        cache: dict[tuple[int, Words], tuple[Words, tuple[str, ...]]] = {}
        for number, words in enumerate(side.words):
            if not words or number in side.dropped:
                continue
            function = side.function_of[number]
            key: Words = words
            names: tuple[str, ...] = ()
            if function >= 0:
                known = cache.get((function, words))
                if known is None:
                    known = _abstracted(words, local[function], language)
                    cache[function, words] = known
                key, names = known
            found.numbers.append(number)
            found.keys.append(key)
            found.names.append(names)
            found.nesting.append(side.nesting[number])
        return found

    def _mapping(self, one: int, other: int, votes: Counter[Names]) -> dict[str, str]:
        left, right = self._pair.left, self._pair.right
        of_left, of_right = left.functions[one], right.functions[other]
        left_parameters = {parameter.name for parameter in of_left.parameters}
        pinned = left_parameters & {parameter.name for parameter in of_right.parameters}
        undeclared = self._undeclared(one)
        mapping = {name: name for name in pinned}
        taken = set(pinned)
        ranked = sorted(votes.items(), key=lambda item: (-item[1], item[0][0] != item[0][1]))
        for (old, new), _ in ranked:
            if old in mapping or new in taken or new in undeclared:
                continue
            if old in of_left.local and new in of_right.local:
                mapping[old] = new
                taken.add(new)
        for name in of_left.local:
            if name not in mapping and name in taken:
                mapping[name] = name + _OWN_NAME
        return {old: new for old, new in mapping.items() if old != new}

    def _undeclared(self, function: int) -> set[str]:
        side = self._pair.left
        found: set[str] = set()
        for number in self._lines[function]:
            found.update(side.words[number])
        return found - side.functions[function].local

    def _renamed(self, words: Words, mapping: Mapping[str, str]) -> Words:
        places = places_of(words, mapping.keys(), self._pair.language)
        if not places:
            return words
        renamed = list(words)
        for place in places:
            renamed[place] = mapping[renamed[place]]
        return tuple(renamed)

    def _note(self, function: str, mapping: Mapping[str, str]) -> None:
        self._pair.renames += [
            (function, old, new) for old, new in mapping.items() if not new.endswith(_OWN_NAME)
        ]


def _abstracted(words: Words, local: set[str], language: Language) -> tuple[Words, tuple[str, ...]]:
    places = places_of(words, local, language)
    if not places:
        return words, ()
    order: dict[str, int] = {}
    abstract = list(words)
    for place in places:
        abstract[place] = f"${order.setdefault(words[place], len(order))}"
    return tuple(abstract), tuple(order)


def _kernel_names(side: Side) -> list[str]:
    return list(dict.fromkeys(each.name for each in side.functions if each.kernel))


def _free(side: Side, names: Sequence[str], others: Sequence[str]) -> bool:
    """Are the names of kernels only, unknown to the preprocessor, and the others unused?"""
    ours, theirs = set(names), set(others)
    if any(not ours.isdisjoint(function.local) for function in side.functions):
        return False
    return not any(
        not theirs.isdisjoint(words) or (line.directive and not ours.isdisjoint(words))
        for line, words in zip(side.lines, side.words, strict=True)
    )


def _nestings(one: _Abstract, other: _Abstract) -> tuple[list[int], list[int]]:
    return one.nesting, other.nesting


def _trust(left: str, right: str) -> int:
    """A name that somebody gave and that is on both sides is likely the same thing on both."""
    return 2 if left == right and not left[-1].isdigit() else 1


def _parameter_names(side: Side) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for function in side.functions:
        names = {parameter.name for parameter in function.parameters}
        found.setdefault(function.name, set()).update(names)
    return found


def _definitions(side: Side) -> list[int]:
    """For each function itself, or for a prototype the definition that it announces."""
    last: dict[tuple[str, ...], int] = {}
    found = list(range(len(side.functions)))
    for index in reversed(found):
        function = side.functions[index]
        signature = (function.name, *(parameter.name for parameter in function.parameters))
        found[index] = last.setdefault(signature, index)
    return found


def _lines_of(side: Side) -> list[list[int]]:
    """For each function its lines and those of its prototypes."""
    definitions = _definitions(side)
    found: list[list[int]] = [[] for _ in side.functions]
    for number, function in enumerate(side.function_of):
        if function >= 0:
            found[definitions[function]].append(number)
    return found


def _partners(left: Side, right: Side, lines: Counter[Pair]) -> Sequence[Pair]:
    """Which function is which: by the number of lines that they share, equal names first."""
    found: list[Pair] = []
    used: tuple[set[int], set[int]] = (set(), set())
    ranked = sorted(
        lines.items(),
        key=lambda item: (
            left.functions[item[0][0]].name != right.functions[item[0][1]].name,
            -item[1],
        ),
    )
    for (one, other), _ in ranked:
        if one not in used[0] and other not in used[1]:
            used[0].add(one)
            used[1].add(other)
            found.append((one, other))
    return found
