"""What is really different between two texts?  Lines compared under named rules, nothing else.

The rules rewrite both texts (`stagebench.diff.text_rules`); lines correspond by anchors first
(`stagebench.diff.text_alignment`); what is not equal word by word then is shown.  Time grows about
linearly with the texts: 20,000 lines against 20,000 take seconds at worst.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stagebench.diff.text_matching import fill_gaps
from stagebench.diff.text_pair import TextPair, as_written, read_side
from stagebench.diff.text_records import SHOWN, Rename, Row, RuleCount, TextDiff
from stagebench.diff.text_rows import compare_pair
from stagebench.diff.text_rule_names import MARKS, SUMMARIES
from stagebench.diff.text_rules import named
from stagebench.diff.text_tokens import Language

ALL_RULES = tuple(SUMMARIES)
"""The names of all rules; pass ``()`` for the plain diff."""


def compare_texts(
    left: str, right: str, language: Language, rules: Iterable[str] = ALL_RULES
) -> TextDiff:
    """Compare two texts line by line under the rules with these names.

    Without rules it is the plain diff: lines are equal if their characters are.  Raises
    `ValueError` where a rule is unknown.
    """
    chosen = named(rules)
    if chosen:
        pair = TextPair(language, read_side(left, language), read_side(right, language))
    else:
        pair = TextPair(language, as_written(left), as_written(right))
    for rule in chosen:
        rule.apply(pair)
    rows = compare_pair(pair, chosen)
    shown = sum(row.kind in SHOWN for row in rows)
    hidden = [row for row in _differing_as_written(pair, rows) if row.kind not in SHOWN]
    counts = Counter(name for row in hidden for name in row.rules)
    marks = Counter(mark for row in rows for mark in row.marks)
    return TextDiff(
        language=language,
        identical=left == right,
        equal=not shown,
        differing=shown + len(hidden),
        hidden=len(hidden),
        rules=tuple(
            RuleCount(name=rule.name, summary=rule.summary, lines=counts[rule.name])
            for rule in chosen
        ),
        marks=tuple(
            RuleCount(name=name, summary=summary, lines=marks[name])
            for name, summary in MARKS.items()
        ),
        renames=tuple(
            Rename(function=function, left=old, right=new) for function, old, new in pair.renames
        ),
        rows=tuple(rows),
    )


def _differing_as_written(pair: TextPair, rows: Sequence[Row]) -> Iterator[Row]:
    """Rows that the plain diff shows too.

    A comment that stays where it is while a statement moves past it is no difference, though its
    two lines are not beside each other in the rows.
    """
    beside = [
        (row.left - 1, row.right - 1)
        for row in rows
        if row.kind == "equal" and row.left is not None and row.right is not None
    ]
    texts = ([line.text for line in pair.left.lines], [line.text for line in pair.right.lines])
    same = fill_gaps(beside, *texts)
    ours: set[int | None] = {None, *(one + 1 for one, _ in same)}
    theirs: set[int | None] = {None, *(other + 1 for _, other in same)}
    for row in rows:
        unchanged = row.left in ours and row.right in theirs
        if row.kind != "equal" and not unchanged:
            yield row
