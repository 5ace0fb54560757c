"""How do two prepared texts become rows?  Equal, changed, moved, and what no rule compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stagebench.diff.text_alignment import Pair, align, gaps
from stagebench.diff.text_functions import Words
from stagebench.diff.text_matching import changed_pairs, match_lines, moved_blocks
from stagebench.diff.text_pair import Side, TextPair
from stagebench.diff.text_records import Row, RowKind, Span
from stagebench.diff.text_rules import COMMENTS, WHITESPACE, Rule, tokens_of
from stagebench.diff.text_sliding import slide
from stagebench.diff.text_spans import changed_spans
from stagebench.diff.text_tokens import Language, lex
from stagebench.diff.text_version_index import VersionIndex

_NAMES_ONLY = frozenset(("renames", "kernel-name"))


@dataclass
class _Kept:
    """The lines of one side that take part, and what they are compared by."""

    side: Side
    numbers: list[int] = field(default_factory=list)
    keys: list[Words] = field(default_factory=list)
    nesting: list[int] = field(default_factory=list)

    def texts(self) -> list[str]:
        """The lines as they are written."""
        return [self.side.lines[number].text for number in self.numbers]


def compare_pair(pair: TextPair, rules: Sequence[Rule]) -> list[Row]:
    """All lines of both texts, in order; ``rules`` have been applied to the pair."""
    names = {rule.name for rule in rules}
    left, right = _kept(pair.left, names), _kept(pair.right, names)
    pairs = match_lines(left.keys, right.keys, left.nesting, right.nesting)
    if rules and pair.language == "cuda":
        pairs = slide(pairs, (left.keys, left.texts()), (right.keys, right.texts()))
    misplaced: set[Pair] = set()
    blocks: list[tuple[int, int, int]] = []
    if rules:
        blocks = list(moved_blocks(pairs, left.keys, right.keys))
        if pair.language == "tvmscript":
            misplaced = _misplaced(pairs, left.nesting, right.nesting)
    gone = {one + step: other + step for one, other, size in blocks for step in range(size)}
    come = {other: one for one, other in gone.items()}
    changed = changed_pairs(
        pairs,
        _tokens(left, {one for one, _ in pairs}, pair.language) if not rules else left.keys,
        _tokens(right, {other for _, other in pairs}, pair.language) if not rules else right.keys,
        (set(gone), set(come)),
    )
    writer = _Writer(pair, rules, left, right, gone, come)
    writer.versions.learn((left.keys[one], right.keys[other]) for one, other in changed)
    unequal = misplaced.union(changed)
    for one, other in sorted([*pairs, *changed]):
        writer.single(one, other)
        writer.together(one, other, equal=(one, other) not in unequal)
    writer.single(len(left.keys), len(right.keys))
    return writer.rows


def _kept(side: Side, rules: set[str]) -> _Kept:
    kept = _Kept(side)
    for number, words in enumerate(side.words):
        if number in side.dropped:
            continue
        key = words
        if rules:
            line = side.lines[number]
            if COMMENTS not in rules and "comment" in line.kinds:
                key = (*key, "//", *tokens_of(side, number, "comment"))
            if WHITESPACE not in rules:
                key = (*key, " ", *tokens_of(side, number, "blank"))
            if not key:
                side.dropped[number] = COMMENTS if "comment" in line.kinds else WHITESPACE
                continue
        kept.numbers.append(number)
        kept.keys.append(key)
        kept.nesting.append(side.nesting[number])
    return kept


def _tokens(kept: _Kept, matched: set[int], language: Language) -> list[Words]:
    """The plain diff compares whole lines; those that are left are paired by their tokens."""
    return [
        key
        if index in matched
        else tuple(word for line in lex(key[0], language) for word in line.words if word.strip())
        for index, key in enumerate(kept.keys)
    ]


def _misplaced(pairs: Sequence[Pair], left: Sequence[int], right: Sequence[int]) -> set[Pair]:
    """Pairs whose nearest enclosing lines that have a partner are not each other's.

    In TVMScript nesting is indentation alone: a statement that left its loop has the same words.
    """
    partner = dict(pairs)
    back = {other: one for one, other in pairs}
    left_parent = _parents(left, partner)
    right_parent = _parents(right, back)
    found: set[Pair] = set()
    for one, other in pairs:
        ours, theirs = left_parent[one], right_parent[other]
        if (partner[ours] if ours >= 0 else -1) != theirs:
            found.add((one, other))
    return found


def _parents(nesting: Sequence[int], known: Mapping[int, int]) -> list[int]:
    """For each line the nearest enclosing one that is ``known``, or -1."""
    found: list[int] = []
    open_lines: list[tuple[int, int]] = []
    for index, depth in enumerate(nesting):
        while open_lines and open_lines[-1][0] >= depth:
            open_lines.pop()
        above = open_lines[-1][1] if open_lines else -1
        found.append(above)
        open_lines.append((depth, index if index in known else above))
    return found


@dataclass
class _Writer:
    """Writes rows in order; ``gone`` and ``come`` are moved lines and where they are now, were."""

    pair: TextPair
    rules: Sequence[Rule]
    left: _Kept
    right: _Kept
    gone: Mapping[int, int]
    come: Mapping[int, int]
    rows: list[Row] = field(default_factory=list)
    versions: VersionIndex = field(default_factory=VersionIndex)
    _at: Pair = (0, 0)
    _line: Pair = (0, 0)

    def together(self, one: int, other: int, *, equal: bool) -> None:
        """Write a pair of lines; everything before it has been written."""
        left, right = self.left.numbers[one], self.right.numbers[other]
        self._uncompared(left, right)
        left_line, right_line = self.pair.left.lines[left], self.pair.right.lines[right]
        kind: RowKind = "changed"
        rules: tuple[str, ...] = ()
        marks: tuple[str, ...] = ()
        spans: tuple[tuple[Span, ...], tuple[Span, ...]] = ((), ())
        if equal and left_line.text == right_line.text:
            kind = "equal"
        elif equal:
            rules = tuple(rule.name for rule in self.rules if rule.explains(self.pair, left, right))
            kind = "renamed" if rules and _NAMES_ONLY.issuperset(rules) else "ignored"
        else:
            ours, theirs = self.left.keys[one], self.right.keys[other]
            words = (ours, theirs) if self.rules else ((), ())  # the plain diff: all tokens
            spans = changed_spans(left_line, right_line, *words, self.pair.language)
            if not self.rules and left_line.text == right_line.text:
                marks = ("line-feed",)
            elif self.rules and left_line.text == right_line.text:
                same = left_line.directive == right_line.directive
                marks = ("other-name",) if same else ("directive",)
            elif self.rules and ours == theirs:
                marks = ("nesting",)
            elif self.rules:
                marks = self.versions.marks(ours, theirs)
        self.rows.append(
            Row(
                kind=kind,
                left=left + 1,
                right=right + 1,
                left_text=left_line.text,
                right_text=right_line.text,
                left_spans=spans[0],
                right_spans=spans[1],
                rules=rules,
                marks=marks,
            )
        )
        self._at = (one + 1, other + 1)
        self._line = (left + 1, right + 1)

    def single(self, one: int, other: int) -> None:
        """Write the lines of either side up to these, which have no partner."""
        start_left, start_right = self._at
        for index in range(start_left, one):
            self._flush(index, start_right)
            self._single(self.left.numbers[index], self.gone.get(index), left=True)
        for index in range(start_right, other):
            self._flush(one, index)
            self._single(self.right.numbers[index], self.come.get(index), left=False)
        self._at = (one, other)
        self._flush(one, other)

    def _flush(self, one: int, other: int) -> None:
        left = self.left.numbers[one] if one < len(self.left.numbers) else len(self.pair.left.lines)
        right = (
            self.right.numbers[other]
            if other < len(self.right.numbers)
            else len(self.pair.right.lines)
        )
        self._uncompared(left, right)

    def _single(self, number: int, moved: int | None, *, left: bool) -> None:
        text = (self.pair.left if left else self.pair.right).lines[number].text
        where = self.right if left else self.left
        kind: RowKind = "moved" if moved is not None else "removed" if left else "added"
        self.rows.append(
            Row(
                kind=kind,
                left=number + 1 if left else None,
                right=None if left else number + 1,
                left_text=text if left else None,
                right_text=None if left else text,
                moved=None if moved is None else where.numbers[moved] + 1,
            )
        )
        self._line = (number + 1, self._line[1]) if left else (self._line[0], number + 1)

    def _uncompared(self, left: int, right: int) -> None:
        """Write the lines before these that a rule left out; equal ones side by side."""
        ours = range(self._line[0], left)
        theirs = range(self._line[1], right)
        self._line = (left, right)
        if not ours and not theirs:
            return
        left_lines, right_lines = self.pair.left.lines, self.pair.right.lines
        pairs = align(
            [left_lines[number].text for number in ours],
            [right_lines[number].text for number in theirs],
        )
        at = (0, 0)
        for gap in [*gaps(pairs, 0, len(ours), 0, len(theirs)), None]:
            upto = (gap[0], gap[2]) if gap else (len(ours), len(theirs))
            for step in range(upto[0] - at[0]):
                self._left_out("equal", ours[at[0] + step], theirs[at[1] + step])
            if gap:
                self._unpaired(ours[gap[0] : gap[1]], theirs[gap[2] : gap[3]])
                at = (gap[1], gap[3])

    def _unpaired(self, ours: range, theirs: range) -> None:
        """Lines left out for the same reason stand beside each other."""
        index = 0
        for number in ours:
            reason = self.pair.left.dropped[number]
            beside = None
            if index < len(theirs) and self.pair.right.dropped[theirs[index]] == reason:
                beside = theirs[index]
                index += 1
            self._left_out("ignored", number, beside)
        for number in theirs[index:]:
            self._left_out("ignored", None, number)

    def _left_out(self, kind: RowKind, left: int | None, right: int | None) -> None:
        rule = None
        if left is not None:
            rule = self.pair.left.dropped[left]
        elif right is not None:
            rule = self.pair.right.dropped[right]
        self.rows.append(
            Row(
                kind=kind,
                left=None if left is None else left + 1,
                right=None if right is None else right + 1,
                left_text=None if left is None else self.pair.left.lines[left].text,
                right_text=None if right is None else self.pair.right.lines[right].text,
                rules=(rule,) if rule and kind != "equal" else (),
            )
        )
