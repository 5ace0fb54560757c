"""How is a comparison of two texts put in words?  The verdict, what was put aside, the renames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stagebench.diff.comparison import Comparison, failure_of
from stagebench.diff.text_input import Input
from stagebench.diff.text_records import Hunk, Row, RowKind, TextDiff
from stagebench.report import identity
from stagebench.report.failure_words import failure_words

_MOST_RENAMES = 8
_KINDS: tuple[RowKind, ...] = ("changed", "removed", "added", "moved")


def side_name(side: Input) -> str:
    """A file by its name, a dump by its variant."""
    if side.dump is None:
        return side.name
    variant = side.dump.result.variant
    depth = identity.depth(variant)
    words = (
        variant.kernel,
        variant.arch,
        *(() if depth is None else (f"num_stages={depth}",)),
        *identity.parameters(variant),
        identity.compiler(variant),
    )
    return " · ".join(words)


def side_failure(side: Input) -> str | None:
    """Why a side was not lowered, in the compiler's own words; ``None``: it was."""
    failure = failure_of(side)
    return None if failure is None else failure_words(failure)


def not_compared(compared: Comparison) -> str | None:
    """What is said where both sides fail; ``None``: they do not."""
    alike = compared.fails_alike
    if alike is None:
        return None
    how = "with the same message" if alike else "each for a reason of its own"
    return f"both fail, {how}: no fact and no text was compared"


def verdict(diff: TextDiff) -> str:
    """One line: equal, equal up to rules, or how many lines are different."""
    if diff.identical:
        return "equal"
    if diff.equal and not diff.hidden:
        return "equal, apart from the line feed at the end"
    if diff.equal:
        return f"equal, apart from {_lines(diff.hidden)} put aside"
    kinds = Counter(row.kind for row in diff.rows)
    parts = [f"{kinds[kind]} {kind}" for kind in _KINDS if kinds[kind]]
    return "different: " + ", ".join(parts)


def put_aside(diff: TextDiff) -> list[str]:
    """Lines that say what the rules hid and what is marked, with counts."""
    found = []
    of = f"of {_differing(diff.differing)}"
    for rule in diff.rules:
        if rule.lines:
            are = "is" if rule.lines == 1 else "are"
            found.append(f"{rule.lines} {of} {are} {rule.name}: {rule.summary}")
    found += [
        f"{mark.lines} {of} {'is' if mark.lines == 1 else 'are'} shown, marked {mark.name}: "
        f"{mark.summary}"
        for mark in diff.marks
        if mark.lines
    ]
    names = renames(diff)
    if names:
        found.append("renamed " + names)
    return found


def renames(diff: TextDiff) -> str:
    """The names that are called otherwise, numbers that a compiler appends last."""
    pairs = list(dict.fromkeys((rename.left, rename.right) for rename in diff.renames))
    pairs.sort(key=lambda pair: _stem(pair[0]) == _stem(pair[1]))
    shown = [f"{left} → {right}" for left, right in pairs[:_MOST_RENAMES]]
    if len(pairs) > len(shown):
        shown.append(f"… +{len(pairs) - len(shown)} more")
    return ", ".join(shown)


def _stem(name: str) -> str:
    return name.rstrip("0123456789").rstrip("_")


def hunk_title(hunk: Hunk) -> str:
    """``@@ left 21-25, right 21-34 @@``."""
    left = _range(row.left for row in hunk.rows)
    right = _range(row.right for row in hunk.rows)
    return f"@@ left {left}, right {right} @@"


def note(row: Row) -> str:
    """What stands beside a row: its marks, or where it moved."""
    if row.moved is not None:
        return f"moved from line {row.moved}" if row.left is None else f"moved to line {row.moved}"
    return ", ".join(row.marks)


def _range(numbers: Iterable[int | None]) -> str:
    known = [number for number in numbers if number is not None]
    return f"{known[0]}-{known[-1]}" if known else "–"


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _differing(count: int) -> str:
    return f"{count} line that differs" if count == 1 else f"{count} lines that differ"
