"""Did a pass edit one variant otherwise than the other?  Both sides' edits, before to after.

That two texts differ after a pass says little where they differed before it.  What the pass did is
its edit of each side, and an edit needs a counterpart: of the line's partner, or, where a line has
none, of another line of its kind.  This finds what a comparison of the texts after the pass can't:
an edit that makes the two sides alike, and one of a line that differed already.

Lines that synchronise, bound a loop or guard (`guarded`) are judged strictly: the other side must
have made the same edit.  For others an edit of a line of one side alone counts as carried on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

from stagebench.diff.pass_allowance import Allowance, tokens_in
from stagebench.diff.pass_texts import TextPairing, edit_script, line_pairs
from stagebench.diff.pass_tokens import TokenPair, key_of, same_tokens, token_differences

Tokens = tuple[str, ...]
Edit = frozenset[TokenPair]

_HEADS = ("for", "if", "while")
_ORDERING = ("wait", "commit", "arrive", "sync", "barrier", "fence", "parity", "launch_thread")


@dataclass(frozen=True)
class SideEdits:
    """What a pass did to one side; lines are 0-based, ``tokens`` in the left side's names.

    ``rewritten`` maps a line before to the line after that it became (other than by names);
    ``kept`` the same for lines that stayed; ``removed`` and ``added`` have no other end.
    """

    before: Sequence[Tokens]
    after: Sequence[Tokens]
    kept: Mapping[int, int]
    rewritten: Mapping[int, int]
    removed: tuple[int, ...]
    added: tuple[int, ...]

    @property
    def nothing(self) -> bool:
        """Whether names and layout are all that the pass changed."""
        return not (self.rewritten or self.removed or self.added)

    def edit(self, line: int) -> Edit:
        """The tokens that were replaced in a rewritten line."""
        return token_differences(self.before[line], self.after[self.rewritten[line]])


@dataclass
class OneSided:
    """Edits without a counterpart: lines after the pass, and lines before it that are gone."""

    new: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    gone: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))


def side_edits(before: Sequence[str], after: Sequence[str], allowed: Allowance | None) -> SideEdits:
    """The edits from one text to another; ``allowed`` for the right side, whose names it maps."""
    tokens = tokens_in(before, allowed), tokens_in(after, allowed)
    kept: dict[int, int] = {}
    rewritten: dict[int, int] = {}
    for tag, start, end, first, last in edit_script(tokens[0], tokens[1]):
        pairs = (
            zip(range(start, end), range(first, last), strict=True)
            if tag == "equal"
            else line_pairs(tokens[0], tokens[1], (start, end), (first, last))
        )
        for old, new in pairs:
            same = tag == "equal" or same_tokens(tokens[0][old], tokens[1][new])
            (kept if same else rewritten)[old] = new
    reached = {*kept.values(), *rewritten.values()}
    return SideEdits(
        before=tokens[0],
        after=tokens[1],
        kept=kept,
        rewritten=rewritten,
        removed=tuple(
            old
            for old, line in enumerate(tokens[0])
            if line and old not in kept and old not in rewritten
        ),
        added=tuple(new for new, line in enumerate(tokens[1]) if line and new not in reached),
    )


@lru_cache(maxsize=1 << 15)
def guarded(line: Tokens) -> bool:
    """Whether a line synchronises, bounds a loop or guards: no difference there is incidental."""
    if not line or line[0] in _HEADS:
        return bool(line)
    called = (one for one, two in pairwise(line) if two == "(" or one[0] in "\"'")
    names = (name.replace("async", "") for name in called)
    return any(word in name for name in names for word in _ORDERING)


def one_sided(
    sides: tuple[SideEdits, SideEdits],
    before: TextPairing,
    after: TextPairing,
    allowed: Allowance,
    changed: tuple[bool, bool],
) -> OneSided:
    """The edits of each side that the other side has no counterpart of."""
    found = OneSided()
    if changed[0] != changed[1]:
        side = 0 if changed[0] else 1
        found.new[side].update(sides[side].added, sides[side].rewritten.values())
        found.gone[side].update(sides[side].removed)
        return found
    for side in (0, 1):
        _Judgement(side, sides, before, after, allowed).judge(found)
    return found


class _Judgement:
    """Looks for the counterparts of one side's edits on the other."""

    def __init__(
        self,
        side: int,
        sides: tuple[SideEdits, SideEdits],
        before: TextPairing,
        after: TextPairing,
        allowed: Allowance,
    ) -> None:
        self._side = side
        self._mine, self._theirs = sides[side], sides[1 - side]
        self._allowed = allowed
        self._before = _partners(before, side)
        self._after = _partners(after, side)
        self._kinds = (before.left_kinds, before.right_kinds)[side]
        self._kinds_after = (after.left_kinds, after.right_kinds)[side]
        theirs = self._theirs
        self._added = _Lines([theirs.after[line] for line in theirs.added])
        self._removed = _Lines([theirs.before[line] for line in theirs.removed])
        self._stayed = set(theirs.kept.values())
        mine = self._mine
        self._moved = {mine.after[line] for line in mine.added} & {
            mine.before[line] for line in mine.removed
        }

    @cached_property
    def _edits(self) -> set[Edit]:
        """What the other side's lines were rewritten by."""
        return {self._theirs.edit(old) for old in self._theirs.rewritten}

    @cached_property
    def _blank_edits(self) -> set[Edit]:
        return {_blank(edit) for edit in self._edits}

    @cached_property
    def _taken_out(self) -> set[int]:
        """Lines of blocks that the pass took out of both sides as a whole, a function mostly.

        Only where it did nothing else: a line that is dropped while its neighbours are rewritten
        is no block.
        """
        if any(each.added or each.rewritten for each in (self._mine, self._theirs)):
            return set()
        gone, theirs = self._mine.removed, set(self._theirs.removed)
        found: set[int] = set()
        block: list[int] = []
        for old in (*gone, -1):
            if block and old != block[-1] + 1:
                if any(self._before.get(line) in theirs for line in block):
                    found.update(block)
                block = []
            block.append(old)
        return found

    def judge(self, found: OneSided) -> None:
        new, gone = found.new[self._side], found.gone[self._side]
        mine = self._mine
        new.update(after for old, after in mine.rewritten.items() if self._rewritten_alone(old))
        gone.update(old for old in mine.removed if self._removed_alone(old))
        new.update(line for line in mine.added if self._added_alone(line))

    def _rewritten_alone(self, old: int) -> bool:
        mine, theirs = self._mine, self._theirs
        new = mine.rewritten[old]
        strict = guarded(mine.before[old]) or guarded(mine.after[new])
        mate = self._before.get(old)
        if mate is None:
            return strict and mine.edit(old) not in self._edits
        if mate not in theirs.rewritten:
            differed = self._kinds[old] == "differs"
            return (mate in theirs.kept or strict or not differed) and (
                strict or _blank(mine.edit(old)) not in self._blank_edits
            )
        if self._kinds_after[new] in ("equal", "request"):
            return False
        if not strict:
            return False  # what the texts after it show decides
        edit, other = mine.edit(old), theirs.edit(mate)
        if _blank(other) != _blank(edit):
            return self._kinds[old] == "differs"
        pairs = self._pairs(mine.after[new], theirs.after[theirs.rewritten[mate]])
        own = self._pairs(mine.before[old], theirs.before[mate])
        return any(pair not in own and not self._allowed.asked(pair) for pair in pairs)

    def _removed_alone(self, old: int) -> bool:
        line = self._mine.before[old]
        mate = self._before.get(old)
        if mate is not None and mate not in self._theirs.kept:
            return False
        strict = guarded(line) and line not in self._moved
        if mate is None:
            return strict and not self._removed.has_kind(line) and old not in self._taken_out
        return strict or self._kinds[old] != "differs" or not self._removed.has_kind(line)

    def _added_alone(self, new: int) -> bool:
        line = self._mine.after[new]
        mate = self._after.get(new)
        strict = guarded(line) and line not in self._moved
        if mate is None:
            return not (self._added.has(line) if strict else self._added.has_kind(line))
        return strict and mate in self._stayed

    def _pairs(self, mine: Tokens, theirs: Tokens) -> Edit:
        sides = (mine, theirs) if self._side == 0 else (theirs, mine)
        return token_differences(*sides)


class _Lines:
    """Lines as written, and by kind (without their numbers)."""

    def __init__(self, lines: Sequence[Tokens]) -> None:
        self._lines = set(lines)
        self._kinds = {key_of(line) for line in lines}

    def has(self, line: Tokens) -> bool:
        return line in self._lines

    def has_kind(self, line: Tokens) -> bool:
        return key_of(line) in self._kinds


def _partners(pairing: TextPairing, side: int) -> dict[int, int]:
    return {pair[side]: pair[1 - side] for pair in pairing.pairs}


def _blank(edit: Edit) -> Edit:
    return frozenset((_numberless(one), _numberless(two)) for one, two in edit)


def _numberless(tokens: str) -> str:
    return " ".join("#" if token[:1].isdigit() else token for token in tokens.split(" "))
