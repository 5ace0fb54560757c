"""Which of several equal lines went away?  Of ``} } }`` the one that leaves the others unchanged.

Lines are equal under rules, so an alignment may drop any of a run of closing braces; where it drops
another one than the plain diff would, lines that did not change look indented.  A gap on one side
is moved up or down over equal lines to where most of its neighbours are equal as written.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from stagebench.diff.text_alignment import Pair, gaps

MOST_STEPS = 64
"""A gap is moved over at most so many lines each way: time stays linear."""


def slide(
    pairs: Sequence[Pair],
    left: tuple[Sequence[Hashable], Sequence[str]],
    right: tuple[Sequence[Hashable], Sequence[str]],
) -> list[Pair]:
    """The pairs with every one-sided gap where it is best; a side is its keys and its texts."""
    partner = dict(pairs)
    back = {other: one for one, other in pairs}
    for left_from, left_to, right_from, right_to in gaps(pairs, 0, len(left[0]), 0, len(right[0])):
        if right_from == right_to:
            _slide(partner, back, (left_from, left_to), left, right[1])
        elif left_from == left_to:
            _slide(back, partner, (right_from, right_to), right, left[1])
    return sorted(partner.items())


def _slide(
    partner: dict[int, int],
    back: dict[int, int],
    gap: tuple[int, int],
    side: tuple[Sequence[Hashable], Sequence[str]],
    others: Sequence[str],
) -> None:
    """Move the half-open ``gap`` of lines of ``side`` without a partner."""
    keys, texts = side
    best = most = 0
    for step in (1, -1):
        gained = 0
        for moved in range(MOST_STEPS):
            into, out = _step(gap, moved, step)
            if out not in partner or keys[into] != keys[out]:
                break
            written = others[partner[out]]
            gained += (texts[into] == written) - (texts[out] == written)
            if gained > most:
                most, best = gained, step * (moved + 1)
    for moved in range(abs(best)):
        into, out = _step(gap, moved, best)
        other = partner.pop(out)
        partner[into] = other
        back[other] = into


def _step(gap: tuple[int, int], moved: int, direction: int) -> tuple[int, int]:
    """The line that gets a partner, and the one that loses it, after ``moved`` steps."""
    start, end = gap
    return (start + moved, end + moved) if direction > 0 else (end - 1 - moved, start - 1 - moved)
