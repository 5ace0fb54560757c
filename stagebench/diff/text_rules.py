"""Which differences are noise?  The named rules, what each puts aside, and why that is safe.

Each rule rewrites a pair of texts into texts that mean the same; two lines are then equal only if
they are equal word by word.  ``explains`` says whether a line that was found equal needed the rule:
that is what is counted.  `tests/diffing/text/test_near_misses.py` shows for each rule what it must
not hide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stagebench.diff.text_file_paths import FILE_PATHS, drop_folders
from stagebench.diff.text_pair import Side, TextPair
from stagebench.diff.text_parameters import PARAMETER_ORDER, order_parameters
from stagebench.diff.text_renames import KERNEL_NAME, RENAMES, rename_kernels, rename_locals
from stagebench.diff.text_rule_names import SUMMARIES

LINE_DIRECTIVES, COMMENTS, WHITESPACE = "line-directives", "comments", "whitespace"

_LINE_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?:line[ \t]+)?\d")


@dataclass(frozen=True)
class Rule:
    """One normalisation.  ``explains(pair, left line, right line)`` takes indices of lines."""

    name: str
    apply: Callable[[TextPair], None]
    explains: Callable[[TextPair, int, int], bool]

    @property
    def summary(self) -> str:
        """What the rule puts aside, in a line."""
        return SUMMARIES[self.name]


def _drop_line_directives(pair: TextPair) -> None:
    if pair.language != "cuda":
        return
    for side in (pair.left, pair.right):
        for number, line in enumerate(side.lines):
            if line.directive and _LINE_DIRECTIVE.match(line.text):
                side.dropped[number] = LINE_DIRECTIVES


def _ignoring(kind: str) -> Callable[[TextPair], None]:
    def apply(pair: TextPair) -> None:
        pair.ignored_kinds.add(kind)

    return apply


def _never(pair: TextPair, left: int, right: int) -> bool:  # noqa: ARG001 - dropped, never paired
    return False


def _different(kind: str) -> Callable[[TextPair, int, int], bool]:
    def explains(pair: TextPair, left: int, right: int) -> bool:
        if kind not in pair.left.lines[left].kinds and kind not in pair.right.lines[right].kinds:
            return False
        ours, theirs = tokens_of(pair.left, left, kind), tokens_of(pair.right, right, kind)
        if left in pair.left.rewritten.get(PARAMETER_ORDER, ()):
            return sorted(ours) != sorted(theirs)  # they moved with the parameters
        return ours != theirs

    return explains


def _rewritten(rule: str) -> Callable[[TextPair, int, int], bool]:
    def explains(pair: TextPair, left: int, right: int) -> bool:
        return left in pair.left.rewritten.get(rule, ()) or right in pair.right.rewritten.get(
            rule, ()
        )

    return explains


def tokens_of(side: Side, line: int, kind: str) -> tuple[str, ...]:
    """The blanks or the comments of a line; of blanks also where they stand."""
    this = side.lines[line]
    if kind != "blank":
        return tuple(
            word for word, each in zip(this.words, this.kinds, strict=True) if each == kind
        )
    return tuple(
        [
            word if each == "blank" else ""
            for word, each in zip(this.words, this.kinds, strict=True)
            if each != "comment"
        ]
    )


RULES = (
    Rule(LINE_DIRECTIVES, _drop_line_directives, _never),
    Rule(COMMENTS, _ignoring("comment"), _different("comment")),
    Rule(WHITESPACE, _ignoring("blank"), _different("blank")),
    Rule(FILE_PATHS, drop_folders, _rewritten(FILE_PATHS)),
    Rule(KERNEL_NAME, rename_kernels, _rewritten(KERNEL_NAME)),
    Rule(RENAMES, rename_locals, _rewritten(RENAMES)),
    Rule(PARAMETER_ORDER, order_parameters, _rewritten(PARAMETER_ORDER)),
)
"""In the order in which they apply: names are mapped before parameters are put in order."""


def named(names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules with these names, in the order in which they apply."""
    wanted = set(names)
    unknown = wanted - {rule.name for rule in RULES}
    if unknown:
        raise ValueError(f"no rule is named {', '.join(sorted(unknown))}")
    return tuple(rule for rule in RULES if rule.name in wanted)
