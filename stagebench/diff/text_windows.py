"""How are two long sequences aligned that have no unique element?  In windows, front to back.

Myers' greedy algorithm needs time for the differences, not for the lengths, so a window with few of
them costs next to nothing; one with many is cut short.  The end of each window is left to the next
one: there the algorithm had not seen what follows.

Source: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1, 1986.
"""

from __future__ import annotations

from collections.abc import Sequence

WINDOW = 256
"""Elements of each side that are looked at together."""

MAX_DIFFERENCES = 96
"""After this many insertions and deletions in a window the way that came furthest is taken."""

_KEPT = 3 / 4


def aligned_in_windows(left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
    """Index pairs of equal elements, increasing in both; time is linear in the lengths."""
    found: list[tuple[int, int]] = []
    one = other = 0
    while one < len(left) and other < len(right):
        some_left, some_right = left[one : one + WINDOW], right[other : other + WINDOW]
        pairs, reached = _furthest(some_left, some_right)
        step = reached
        if one + reached[0] < len(left) and other + reached[1] < len(right):
            limit = int(max(reached) * _KEPT)
            kept = [pair for pair in pairs if max(pair) < limit]
            if kept:
                pairs, step = kept, (kept[-1][0] + 1, kept[-1][1] + 1)
        found += [(one + left_at, other + right_at) for left_at, right_at in pairs]
        one += step[0]
        other += step[1]
    return found


def _furthest(
    left: Sequence[int], right: Sequence[int]
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Matches on the way that came furthest, and where it ends: at an end of either side."""
    rows, columns = len(left), len(right)
    middle = MAX_DIFFERENCES + 1  # the index of diagonal 0
    reach = [_NOWHERE] * (2 * middle + 1)
    reach[middle + 1] = 0
    history: list[list[int]] = []
    best = (-1, 0, 0, 0)
    for differences in range(MAX_DIFFERENCES + 1):
        history.append(reach[middle - differences - 1 : middle + differences + 2])
        for diagonal in range(-differences, differences + 1, 2):
            at = middle + diagonal
            row = max(reach[at - 1] + 1, reach[at + 1])
            column = row - diagonal
            if row < 0 or column < 0 or row > rows or column > columns:
                reach[at] = _NOWHERE
                continue
            while row < rows and column < columns and left[row] == right[column]:
                row += 1
                column += 1
            reach[at] = row
            if row + column > best[0]:
                best = (row + column, differences, diagonal, row)
            if row == rows or column == columns:
                return _way(history, differences, diagonal, row), (row, column)
    _, differences, diagonal, row = best
    return _way(history, differences, diagonal, row), (row, row - diagonal)


_NOWHERE = -(1 << 30)


def _way(
    history: Sequence[list[int]], differences: int, diagonal: int, row: int
) -> list[tuple[int, int]]:
    """The matches on the way to a point, front to back."""
    found: list[tuple[int, int]] = []
    while differences >= 0:
        reach = history[differences]
        at = diagonal + differences + 1
        across, down = reach[at - 1] + 1, reach[at + 1]
        start = max(across, down)
        found += [(where, where - diagonal) for where in range(row - 1, start - 1, -1)]
        if down >= across:
            diagonal, row = diagonal + 1, start
        else:
            diagonal, row = diagonal - 1, start - 1
        differences -= 1
    found.reverse()
    return found
