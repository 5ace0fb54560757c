"""What is said of the passes of one variant, of two, or of a run?  Records in, text out.

The first pass that diverges comes first, then what differs since it, then its own lines; passes
that did the same to both are one line with a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.diff.fact_change import FactChange
from stagebench.diff.pass_compare import (
    Cell,
    MatrixRow,
    PassDifference,
    PassesDiff,
    PassMatrix,
    PassTimeline,
    TimelineEntry,
)
from stagebench.diff.text_records import SHOWN, Hunk, Row
from stagebench.model import ParamValue, Record, Variant
from stagebench.report import identity, quantities
from stagebench.report.fact_change_rows import change_table

NO_DIVERGENCE = "no pass diverges"
_ACCESS = ("T.reads(", "T.writes(")

STATES = {
    "no_op": "changed nothing",
    "same": "same on both",
    "request": "as requested",
    "follows": "follows",
    "diverges": "DIVERGES",
    "unknown": "not comparable",
}
"""A pass's state in words; ``stagebench passes --help`` explains them."""

CELLS: dict[Cell, str] = {
    "absent": "",
    "no_op": "·",
    "changed": "changed",
    "follows": "follows",
    "diverges": "DIVERGES",
}
"""What a cell of the matrix says."""


class PassRow(Record, frozen=True, kw_only=True):
    """A line of the table of passes: name, where it ran on both sides, state, what is new."""

    name: str
    place: str
    state: str
    new: str
    facts: str


class HunkLine(Record, frozen=True, kw_only=True):
    """One line of a hunk: ``-`` left, ``+`` right, blank context; line numbers are 1-based.

    ``text`` is without the hunk's common indentation; ``focus`` is the first character in which
    it differs from its partner, so that a view that cuts lines can keep it in sight.
    """

    sign: str
    line: str
    text: str
    focus: int = 0


class Folded(Record, frozen=True, kw_only=True):
    """How many differing lines a view leaves out: access regions, and what was inherited."""

    access: int
    inherited: int


def titles(diff: PassesDiff) -> tuple[str, str, str]:
    """What is compared: what both variants share, then what tells each from the other."""
    both = (diff.left, diff.right)
    return shared_title(both), distinct(diff.left, both), distinct(diff.right, both)


def shared_title(variants: Sequence[Variant]) -> str:
    """What several variants have in common, in one line."""
    one = variants[0]
    parts = [
        text
        for read in (_kernel, _arch, _compiler)
        if len({read(variant) for variant in variants}) == 1
        for text in (read(one),)
    ]
    return " · ".join(parts)


def distinct(variant: Variant, variants: Sequence[Variant]) -> str:
    """What tells one variant from the others: its values that are not the same everywhere."""
    parts = [
        text(variant)
        for text in (_kernel, _arch, _compiler)
        if len({text(other) for other in variants}) > 1
    ]
    for name in dict.fromkeys(name for other in variants for name in _values(other)):
        said = _said(variant, name)
        if any(_said(other, name) != said for other in variants):
            parts.append(said)
    return ", ".join(parts) or "the same variant"


def _values(variant: Variant) -> dict[str, ParamValue]:
    return {**variant.params, **variant.pass_configs}


def _said(variant: Variant, name: str) -> str:
    values = _values(variant)
    return f"{name}={identity.value_text(values[name])}" if name in values else f"{name} not set"


def matrix_title(matrix: PassMatrix, among: Sequence[PassMatrix]) -> str:
    """What the variants of a matrix share, and what tells it from others of a run."""
    shown = [each for each in among if each.variants]
    one = matrix.variants[0]
    names = dict.fromkeys(name for each in shown for name in _values(each.variants[0]))
    parts = [
        _said(one, name)
        for name in names
        if len({_said(variant, name) for variant in matrix.variants}) == 1
        and any(_said(other, name) != _said(one, name) for m in shown for other in m.variants)
    ]
    return " · ".join((shared_title(matrix.variants), *([", ".join(parts)] if parts else [])))


def _kernel(variant: Variant) -> str:
    return variant.kernel


def _arch(variant: Variant) -> str:
    return variant.arch


def _compiler(variant: Variant) -> str:
    return identity.compiler(variant)


# two variants


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
    return tuple(lines)


def place_words(each: PassDifference) -> str:
    """``, pass 18 of both`` or ``, pass 17 | 19``."""
    if each.left_sequence == each.right_sequence:
        return f", pass {each.left_sequence} on both sides"
    if each.right_sequence is None:
        return f", pass {each.left_sequence}, on the left only"
    if each.left_sequence is None:
        return f", pass {each.right_sequence}, on the right only"
    return f", pass {each.left_sequence} on the left, {each.right_sequence} on the right"


def pass_name(each: PassDifference | TimelineEntry | MatrixRow) -> str:
    """A pass by name, with its number where it is not the first run of that name."""
    return each.name if each.number == 1 else f"{each.name}#{each.number}"


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
    return ", ".join(f"{left} → {right}" for left, right in sorted(pairs, key=_by_size))


def _by_size(pair: tuple[str, str]) -> tuple[int, str, str]:
    return len(pair[0]), *pair


# lines of IR


def hunk_lines(
    hunks: Sequence[Hunk], *, show_all: bool = False, context: int = 1
) -> tuple[list[list[HunkLine]], Folded]:
    """Hunks as lines, ``-`` left and ``+`` right, and how many lines were folded.

    Access regions (``T.reads``, ``T.writes``) restate what the statements below them do, inherited
    differences what earlier passes did: they are left out unless all is asked for or nothing else
    differs.  Inherited ones that stand within ``context`` rows of a new one are shown.
    """
    rows = [row for hunk in hunks for row in hunk.rows if row.kind in SHOWN]
    every_region = show_all or all(map(_is_access, rows))
    everything = show_all or all(map(_is_inherited, rows))
    found: list[list[HunkLine]] = []
    access = inherited = 0
    for hunk in hunks:
        kept = [row for row in hunk.rows if every_region or not _is_access(row)]
        access += sum(row.kind in SHOWN for row in hunk.rows) - sum(r.kind in SHOWN for r in kept)
        for part in [kept] if everything else _near_new(kept, context):
            if any(row.kind in SHOWN for row in part):
                found.append(_lines(part))
                inherited -= sum(map(_is_inherited, part))
        inherited += sum(map(_is_inherited, kept))
    return found, Folded(access=access, inherited=inherited)


def _near_new(rows: Sequence[Row], context: int) -> list[list[Row]]:
    """The stretches of rows that are new, with the rows around them."""
    new = [at for at, row in enumerate(rows) if row.kind in SHOWN and not _is_inherited(row)]
    if len(new) == sum(row.kind in SHOWN for row in rows):
        return [list(rows)]
    found: list[list[Row]] = []
    end = 0
    for at in new:
        start = max(at - context, 0)
        if start > end or not found:
            found.append([])
            end = start
        found[-1] += rows[max(start, end) : at + context + 1]
        end = max(end, min(at + context + 1, len(rows)))
    return found


def _is_inherited(row: Row) -> bool:
    return row.kind in SHOWN and "inherited" in row.marks


def _is_access(row: Row) -> bool:
    texts = [text for text in (row.left_text, row.right_text) if text is not None]
    return all(text.lstrip().startswith(_ACCESS) for text in texts)


def _lines(rows: Sequence[Row]) -> list[HunkLine]:
    texts = [t for row in rows for t in (row.left_text, row.right_text) if t and t.strip()]
    indent = min((len(text) - len(text.lstrip()) for text in texts), default=0)
    found: list[HunkLine] = []
    for row in rows:
        left, right = (
            None if text is None else text[indent:] for text in (row.left_text, row.right_text)
        )
        if row.kind not in SHOWN:
            text = left if left is not None else right
            number = row.left if left is not None else row.right
            sign = " "
            if "inherited" in row.marks and (left is None or right is None):
                sign = "-" if right is None else "+"
            found.append(HunkLine(sign=sign, line=str(number), text=text or ""))
            continue
        focus = _first_difference(left, right) if left is not None and right is not None else 0
        if left is not None:
            found.append(HunkLine(sign="-", line=str(row.left), text=left, focus=focus))
        if right is not None:
            found.append(HunkLine(sign="+", line=str(row.right), text=right, focus=focus))
    return found


def _first_difference(left: str, right: str) -> int:
    for index, (one, two) in enumerate(zip(left, right, strict=False)):
        if one != two:
            return index
    return min(len(left), len(right))


def window(text: str, focus: int, width: int) -> str:
    """At most ``width`` characters of a line, its beginning and what is in focus among them."""
    if len(text) <= width:
        return text
    if focus < width * 2 // 3:
        return text[: width - 1] + "…"
    indent = len(text) - len(text.lstrip())
    head = text[: min(indent + width // 4, focus)]
    rest = text[max(len(head), focus - width // 4) :]
    room = width - len(head) - 1
    return head + "…" + (rest if len(rest) <= room else rest[: room - 1] + "…")


# one variant


def timeline_rows(timeline: PassTimeline, *, show_all: bool = False) -> tuple[tuple[str, ...], ...]:
    """The timeline's table, its head first: passes that changed the IR, or all of them."""
    timed = any(each.seconds is not None for each in timeline.passes)
    head = ("#", "pass", *(("time",) if timed else ()), "IR after", "change", "facts")
    sizes: dict[str, int | None] = {
        each.after: each.ir_bytes for each in timeline.passes if each.after is not None
    }
    rows = [
        (
            str(each.sequence),
            "  " * each.depth + pass_name(each),
            *((quantities.seconds(each.seconds),) if timed else ()),
            quantities.size(each.ir_bytes),
            _growth(each, sizes),
            ", ".join(change.text for change in each.facts),
        )
        for each in timeline.passes
        if each.changed or show_all
    ]
    return (head, *rows)


def _growth(each: TimelineEntry, sizes: dict[str, int | None]) -> str:
    """How much longer or shorter the text got; blank where nothing changed or is not known."""
    before = sizes.get(each.before or "")
    if not each.changed or before is None or each.ir_bytes is None:
        return ""
    grown = each.ir_bytes - before
    if not grown:
        return "±0"
    return ("+" if grown > 0 else "−") + quantities.size(abs(grown))


def timeline_lines(timeline: PassTimeline, *, show_all: bool = False) -> tuple[str, ...]:
    """What the table says in sum."""
    changed = sum(each.changed for each in timeline.passes)
    took = [each.seconds for each in timeline.passes if each.depth == 0]
    known = [seconds for seconds in took if seconds is not None]
    runs = quantities.count(len(timeline.passes), "pass run")
    line = f"{runs}, {changed} changed the IR"
    if known:
        line += f", {quantities.seconds(sum(known))} in passes"
    rest = len(timeline.passes) - changed
    folded = () if show_all or not rest else (f"{rest} passes that changed nothing",)
    return (line, *folded)


# a whole run


def matrix_rows(matrix: PassMatrix, *, show_all: bool = False) -> tuple[tuple[str, ...], ...]:
    """The matrix, its head first: the passes that diverge somewhere, or all of them."""
    names = [distinct(variant, matrix.variants) for variant in matrix.variants]
    axes = {name.partition("=")[0] for name in names}
    one_axis = len(axes) == 1 and not any("," in name for name in names)
    corner = next(iter(axes)) if one_axis else "pass"
    columns = [name.partition("=")[2] if one_axis else name for name in names]
    return (
        (corner, *columns),
        *(
            ("  " * row.depth + pass_name(row), *(CELLS[cell] for cell in row.cells))
            for row in matrix.rows
            if show_all or "diverges" in row.cells
        ),
    )


def first_lines(matrix: PassMatrix) -> tuple[tuple[str, str], ...]:
    """Each variant but the first, and the first pass that diverges from its left neighbour."""
    names = [distinct(variant, matrix.variants) for variant in matrix.variants]
    return tuple(
        (f"{left} → {right}", first or NO_DIVERGENCE)
        for left, right, first in zip(names, names[1:], matrix.first, strict=False)
    )


def matrix_lines(matrix: PassMatrix, *, show_all: bool = False) -> tuple[str, ...]:
    """What the matrix leaves out."""
    lines: list[str] = []
    left_out = [row for row in matrix.rows if "diverges" not in row.cells]
    if left_out and not show_all:
        quiet = sum(set(row.cells) <= {"no_op", "absent"} for row in left_out)
        lines.append(
            f"{len(left_out)} more passes diverge nowhere, {quiet} of them changed nothing"
        )
    if matrix.failed:
        lines.append(f"{quantities.count(matrix.failed, 'variant')} failed and left out")
    return tuple(lines)
