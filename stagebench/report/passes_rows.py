"""What is said of the passes of two variants?  Records in, text out.

The first pass that diverges comes first, then what differs since it, then its own lines; passes
that did the same to both are one line with a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_words import from_to
from stagebench.diff.pass_compare import PassDifference, PassesDiff
from stagebench.model import Record
from stagebench.report.fact_change_rows import change_table
from stagebench.report.pass_titles import pass_name

NO_DIVERGENCE = "no pass diverges"
_SPELT_OUT = 2

STATES = {
    "no_op": "changed nothing",
    "same": "same on both",
    "request": "as requested",
    "follows": "follows",
    "diverges": "DIVERGES",
    "unknown": "not comparable",
}
"""A pass's state in words; ``stagebench passes --help`` explains them."""


class PassRow(Record, frozen=True, kw_only=True):
    """A line of the table of passes: name, where it ran on both sides, state, what is new."""

    name: str
    place: str
    state: str
    new: str
    facts: str


def verdict(diff: PassesDiff) -> tuple[str, ...]:
    """The answer in a line or two: the first pass that diverges, or that none does."""
    lines: list[str] = []
    if diff.first is None:
        asked = sorted({pair for each in diff.passes for pair in each.requested})
        more = ""
        if asked:
            more = "; lines differ only by the requested numbers (" + _pairs(asked) + ")"
        lines.append(NO_DIVERGENCE + more)
    else:
        first = diff.passes[diff.first]
        head = "first diverging pass: " if first.since is None else "first divergence: "
        lines.append(f"{head}{where_name(first)}{place_words(first)}")
        others = [p for p in diff.passes if p.state == "diverges" and p is not first]
        if others:
            names = ", ".join(dict.fromkeys(where_name(each) for each in others))
            many = "1 more pass diverges" if len(others) == 1 else f"{len(others)} more diverge"
            lines.append(f"after it {many}: {names}")
    if diff.given_left or diff.given_right:
        lines.append(
            f"given: the two kernels differ before the first pass already, in "
            f"{diff.given_left} | {diff.given_right} lines besides the requested numbers"
        )
    if diff.renamed:
        names = ", ".join(f"{mine} is {theirs}" for theirs, mine in diff.renamed.items())
        lines.append(f"renamed on the right: {names}")
    moved = tuple(_moved(diff.passes))
    if moved:
        lines.append(f"namespaces of passes renamed on the right: {', '.join(moved)}")
    return tuple(lines)


def _moved(passes: Sequence[PassDifference]) -> Iterator[str]:
    """The passes that are in another namespace on the right, by their two namespaces."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in passes:
        if each.right_name is not None:
            left, _, name = each.name.rpartition(".")
            found.setdefault((left, each.right_name.rpartition(".")[0]), []).append(name)
    for (left, right), names in found.items():
        distinct = dict.fromkeys(names)
        if len(distinct) > _SPELT_OUT:
            yield f"{left}.X is {right}.X for {len(distinct)} passes"
        else:
            yield from (f"{left}.{name} is {right}.{name}" for name in distinct)


def place_words(each: PassDifference) -> str:
    """``, pass 18 of both`` or ``, pass 17 | 19``."""
    if each.left_sequence == each.right_sequence:
        return f", pass {each.left_sequence} on both sides"
    if each.right_sequence is None:
        return f", pass {each.left_sequence}, on the left only"
    if each.left_sequence is None:
        return f", pass {each.right_sequence}, on the right only"
    return f", pass {each.left_sequence} on the left, {each.right_sequence} on the right"


def where_name(each: PassDifference) -> str:
    """A pass by name, or between which passes what is seen after it was done."""
    name = pass_name(each)
    return name if each.since is None else f"between {each.since} and {name}"


def pass_rows(diff: PassesDiff, *, show_all: bool = False) -> tuple[PassRow, ...]:
    """The passes worth a line, in order: those that diverge, and those in which facts differ."""
    return tuple(
        _pass_row(each, said=not show_all and index == diff.first)
        for index, each in enumerate(diff.passes)
        if show_all or each.state == "diverges" or _telling(each.facts)
    )


def _telling(facts: Sequence[FactChange]) -> bool:
    return any(not change.follows for change in facts)


def _pass_row(each: PassDifference, *, said: bool) -> PassRow:
    sides = [
        "–" if sequence is None else str(sequence)
        for sequence in (each.left_sequence, each.right_sequence)
    ]
    new = ""
    if each.state == "diverges":
        one_sided = None in (each.left_sequence, each.right_sequence)
        new = "one side only" if one_sided else f"{each.new_left} | {each.new_right}"
    return PassRow(
        name="  " * each.depth
        + (where_name(each) if each.state == "diverges" else pass_name(each)),
        place=" | ".join(sides),
        state=STATES[each.state],
        new=new,
        facts="as above" if said and each.facts else facts_words(each.facts),
    )


def facts_words(facts: Sequence[FactChange]) -> str:
    """The facts that differ since a pass, in one line."""
    return "; ".join(row.text for row in change_table(facts).rows)


def folded_lines(diff: PassesDiff) -> tuple[str, ...]:
    """What the table leaves out, counted by state."""
    left_out = [
        each for each in diff.passes if each.state != "diverges" and not _telling(each.facts)
    ]
    counts = {state: sum(each.state == state for each in left_out) for state in STATES}
    asked = sorted({pair for each in diff.passes for pair in each.requested})
    words = (
        ("no_op", "changed nothing on either side"),
        ("same", "did the same to both"),
        ("request", "did the same but for the requested numbers"),
        ("follows", "differ only where what they were given differed"),
        ("unknown", "nested runs over modules that were not recorded before them"),
    )
    parts = [f"{counts[state]} {text}" for state, text in words if counts[state]]
    lines = ["; ".join(parts)] if parts else []
    if asked:
        lines.append("requested numbers: " + _pairs(asked))
    return tuple(lines)


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(from_to(left, right) for left, right in sorted(pairs, key=_by_size))


def _by_size(pair: tuple[str, str]) -> tuple[int, str, str]:
    return len(pair[0]), *pair
