"""At which pass do two variants part, and which passes only carry on what was different before?

What a pass did is its own edit of its own text.  After an aligned pass, every line in which the two
texts differ is either *inherited* or *new*:

- inherited: the pass kept the line, and it differed before; or the pass made it of lines that
  differed before (or put it next to one); or it differs only in tokens that differed before
- new: everything else

Lines that a pass edited on one side and not on the other are new as well, whatever they were
before and even if they are alike now (`stagebench.diff.pass_edits`).  A pass with a new line
*diverges*.  As long as the texts before a pass are the same, nothing can be inherited, so the first
pass that treats the variants differently always diverges.  A pass that rewrites a block in which
the two differed already *follows*, unless it did otherwise to what synchronises, bounds or guards.

Where lines differ only by what was asked for (`stagebench.diff.pass_allowance`), that is said
(``request``) and is no divergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stagebench.diff.pass_alignment import AlignedPass, align_passes
from stagebench.diff.pass_allowance import Allowance, allowance, line_difference
from stagebench.diff.pass_edits import OneSided, SideEdits, one_sided, side_edits
from stagebench.diff.pass_hunk_rows import pass_rows
from stagebench.diff.pass_runs import Lowering, PassStep
from stagebench.diff.pass_texts import TextPairing, edit_script, pair_texts
from stagebench.diff.pass_tokens import TokenPair, same_head
from stagebench.diff.text_records import SHOWN, Hunk, hunks_of

State = Literal["no_op", "same", "request", "follows", "diverges", "unknown"]
"""``no_op``: it changed nothing on either side.  ``unknown``: what it was given is not recorded."""


Edits = list[tuple[str, int, int, int, int]]
"""difflib's opcodes: tag, then the half-open ranges of lines before and after."""


@dataclass(frozen=True)
class PassComparison:
    """What one pass did to both variants.

    ``new_left`` and ``new_right`` count lines that are new differences, lines that it dropped on
    that side alone among them; ``inherited`` lines of the pass that differ because what it was
    given differed; ``requested`` the pairs of tokens that differ as asked for in lines it wrote.
    ``unseen``: a comparison of the texts after the pass does not show all that is new.
    """

    aligned: AlignedPass
    state: State
    new_left: int = 0
    new_right: int = 0
    inherited: int = 0
    requested: tuple[TokenPair, ...] = ()
    unseen: bool = False


class TwoLowerings:
    """Two variants, their aligned passes, and the texts of both at each."""

    def __init__(self, left: Lowering, right: Lowering) -> None:
        self.left, self.right = left, right
        self.allowed: Allowance = allowance(
            (left.dump.result.variant, right.dump.result.variant),
            (left.texts.get(left.initial or "", ""), right.texts.get(right.initial or "", "")),
            (left.facts.launch, right.facts.launch),
        )
        self.passes = align_passes(left.steps, right.steps)
        self._pairings: dict[tuple[str | None, str | None], TextPairing] = {}
        self._lines: dict[tuple[bool, str | None], list[str]] = {}
        self._scripts: dict[tuple[bool, str | None, str | None], Edits] = {}
        self._side_scripts: dict[tuple[bool, str | None, str | None], SideEdits] = {}

    def compare(self) -> tuple[PassComparison, ...]:
        """Every aligned pass with its state, in order."""
        return tuple(self._compare(aligned) for aligned in self.passes)

    def given(self) -> tuple[int, int]:
        """Lines on each side that differ before the first pass, other than as asked for."""
        pairing = self._pair(self.left.initial, self.right.initial)
        kinds = pairing.left_kinds, pairing.right_kinds
        left, right = (sum(kind in ("differs", "alone") for kind in side) for side in kinds)
        return left, right

    def hunks(self, compared: PassComparison, context: int = 1) -> tuple[Hunk, ...]:
        """The pass's own lines that differ, as rows of the texts after it (left against right).

        That is what is new, what it wrote and differs as asked for (marked ``request``), and what
        it wrote and differs because what it was given did (``inherited``).  Nothing where the pass
        ran on one side only: there is no text to compare with.
        """
        left, right = compared.aligned.left, compared.aligned.right
        if left is None or right is None:
            return ()
        after = self._after(left, right)
        lines = (
            self._text_lines(left.after, on_left=True),
            self._text_lines(right.after, on_left=False),
        )
        touched = self._touched(left, on_left=True), self._touched(right, on_left=False)
        new = self._new(left, right, after, self._one_sided(left, right, after))
        return hunks_of(pass_rows(after, lines, new, touched), context)

    def edits(self, step: PassStep, context: int = 1, *, on_left: bool) -> tuple[Hunk, ...]:
        """What a pass did to one side: rows of the text before it against the text after it."""
        from stagebench.diff.text_compare import compare_texts

        side = self.left if on_left else self.right
        if step.before is None or step.after is None:
            return ()
        found = compare_texts(side.texts[step.before], side.texts[step.after], "tvmscript")
        return found.hunks(context)

    def _compare(self, aligned: AlignedPass) -> PassComparison:
        left, right = aligned.left, aligned.right
        if left is None or right is None:
            step = aligned.either
            if not step.run.changed:
                return PassComparison(aligned, "no_op")
            if step.parent is not None:
                # nested runs alone: their parent ran over more, or other, modules; it is compared
                return PassComparison(aligned, "unknown")
            return self._compare_alone(aligned, step, on_left=left is not None)
        if not left.run.changed and not right.run.changed:
            return PassComparison(aligned, "no_op")
        if None in (left.before, left.after, right.before, right.after):
            return PassComparison(aligned, "unknown")
        after = self._after(left, right)
        alone = self._one_sided(left, right, after)
        new, gone = self._new(left, right, after, alone), alone.gone
        touched = self._touched(left, on_left=True), self._touched(right, on_left=False)
        inherited = sum(
            kind in ("differs", "alone") and line in touched[0] and line not in new[0]
            for line, kind in enumerate(after.left_kinds)
        ) + sum(
            kind == "alone" and line in touched[1] and line not in new[1]
            for line, kind in enumerate(after.right_kinds)
        )
        requested = self._requested(left, right, after, touched)
        state: State = (
            "diverges" if any((*new, *gone))
            else "follows" if inherited or left.run.changed != right.run.changed
            else "request" if requested
            else "same"
        )  # fmt: skip
        return PassComparison(
            aligned,
            state,
            len(new[0]) + len(gone[0]),
            len(new[1]) + len(gone[1]),
            inherited,
            tuple(sorted(requested)),
            unseen=any(gone)
            or any(after.left_kinds[line] == "equal" for line in new[0])
            or any(after.right_kinds[line] == "equal" for line in new[1]),
        )

    def _compare_alone(
        self, aligned: AlignedPass, step: PassStep, *, on_left: bool
    ) -> PassComparison:
        hunks = self.edits(step, 0, on_left=on_left)
        count = sum(row.kind in SHOWN for hunk in hunks for row in hunk.rows)
        return PassComparison(
            aligned,
            "diverges",
            count if on_left else 0,
            0 if on_left else count,
            unseen=True,
        )

    # texts

    def _text_lines(self, digest: str | None, *, on_left: bool) -> list[str]:
        key = on_left, digest
        if key not in self._lines:
            side = self.left if on_left else self.right
            self._lines[key] = side.texts[digest].split("\n") if digest is not None else []
        return self._lines[key]

    def _pair(self, left: str | None, right: str | None) -> TextPairing:
        """The two texts as they stand, whoever made them."""
        if (left, right) not in self._pairings:
            self._pairings[left, right] = pair_texts(
                self._text_lines(left, on_left=True),
                self._text_lines(right, on_left=False),
                self.allowed,
            )
        return self._pairings[left, right]

    def _after(self, left: PassStep, right: PassStep) -> TextPairing:
        """The texts after a pass; lines that go on on both sides stay the pairs that they were."""
        if (left.after, right.after) in self._pairings:
            return self._pairings[left.after, right.after]
        before = self._pair(left.before, right.before)
        kept = self._continued(left, on_left=True), self._continued(right, on_left=False)
        pairs = [
            (kept[0][one], kept[1][two])
            for one, two in before.pairs
            if one in kept[0] and two in kept[1]
        ]
        found = pair_texts(
            self._text_lines(left.after, on_left=True),
            self._text_lines(right.after, on_left=False),
            self.allowed,
            pairs,
        )
        self._pairings[left.after, right.after] = found
        return found

    # what the pass did on one side

    def _edits(self, step: PassStep, *, on_left: bool) -> Edits:
        key = on_left, step.before, step.after
        if key not in self._scripts:
            texts = (self._text_lines(each, on_left=on_left) for each in (step.before, step.after))
            self._scripts[key] = edit_script(*(tuple(map(str.strip, lines)) for lines in texts))
        return self._scripts[key]

    def _continued(self, step: PassStep, *, on_left: bool) -> dict[int, int]:
        """Lines that the pass kept, or rewrote one by one: index before → index after."""
        found: dict[int, int] = {}
        lines = (
            self._text_lines(step.before, on_left=on_left),
            self._text_lines(step.after, on_left=on_left),
        )
        for tag, start, end, first, last in self._edits(step, on_left=on_left):
            if end - start != last - first:
                continue
            found |= {
                old: new
                for old, new in zip(range(start, end), range(first, last), strict=True)
                if tag == "equal" or same_head(lines[0][old], lines[1][new])
            }
        return found

    def _touched(self, step: PassStep, *, on_left: bool) -> set[int]:
        """Lines after the pass that it wrote."""
        return {
            line
            for tag, _, _, first, last in self._edits(step, on_left=on_left)
            if tag != "equal"
            for line in range(first, last)
        }

    # what is new

    def _new(
        self, left: PassStep, right: PassStep, after: TextPairing, alone: OneSided
    ) -> tuple[set[int], set[int]]:
        before = self._pair(left.before, right.before)
        inherited = (
            _inherited(self._edits(left, on_left=True), before.left_kinds),
            _inherited(self._edits(right, on_left=False), before.right_kinds),
        )
        partner = dict(after.pairs)
        new: tuple[set[int], set[int]] = set(), set()
        for line, kind in enumerate(after.left_kinds):
            if kind not in ("differs", "alone") or line in inherited[0]:
                continue
            other = partner.get(line)
            if other is not None:
                texts = (
                    self._text_lines(left.after, on_left=True)[line],
                    self._text_lines(right.after, on_left=False)[other],
                )
                pairs = line_difference(*texts, self.allowed)
                if other in inherited[1] or all(
                    pair in before.differing or self.allowed.asked(pair) for pair in pairs
                ):
                    continue
                new[1].add(other)
            new[0].add(line)
        for line, kind in enumerate(after.right_kinds):
            if kind == "alone" and line not in inherited[1]:
                new[1].add(line)
        return new[0] | alone.new[0], new[1] | alone.new[1]

    def _side_edits(self, step: PassStep, *, on_left: bool) -> SideEdits:
        key = on_left, step.before, step.after
        if key not in self._side_scripts:
            self._side_scripts[key] = side_edits(
                self._text_lines(step.before, on_left=on_left),
                self._text_lines(step.after, on_left=on_left),
                None if on_left else self.allowed,
            )
        return self._side_scripts[key]

    def _one_sided(self, left: PassStep, right: PassStep, after: TextPairing) -> OneSided:
        """The edits of each side that the pass did not make on the other."""
        sides = self._side_edits(left, on_left=True), self._side_edits(right, on_left=False)
        return one_sided(
            sides,
            self._pair(left.before, right.before),
            after,
            self.allowed,
            (left.run.changed, right.run.changed),
        )

    def _requested(
        self,
        left: PassStep,
        right: PassStep,
        after: TextPairing,
        touched: tuple[set[int], set[int]],
    ) -> set[TokenPair]:
        found: set[TokenPair] = set()
        for one, two in after.pairs:
            if after.left_kinds[one] == "request" and (one in touched[0] or two in touched[1]):
                found |= line_difference(
                    self._text_lines(left.after, on_left=True)[one],
                    self._text_lines(right.after, on_left=False)[two],
                    self.allowed,
                )
        return found


def first_divergence(compared: Sequence[PassComparison]) -> PassComparison | None:
    """The first pass that diverges, in the order in which all are shown: nested or not."""
    return next((each for each in compared if each.state == "diverges"), None)


def _inherited(edits: Sequence[tuple[str, int, int, int, int]], kinds: Sequence[str]) -> set[int]:
    """Lines after a pass that differ, if they do, because what the pass was given differed."""
    found: set[int] = set()
    for tag, start, end, first, last in edits:
        if tag == "equal":
            found |= {
                first + offset
                for offset in range(end - start)
                if kinds[start + offset] in ("differs", "alone")
            }
            continue
        around = range(start, end) if end > start else range(max(0, start - 1), start + 1)
        if any(kinds[line] in ("differs", "alone") for line in around if line < len(kinds)):
            found |= set(range(first, last))
    return found
