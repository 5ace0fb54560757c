"""How are passes shown?  The first that diverges, its own lines, then a table of the rest.

Red and ``-`` is the left variant, green and ``+`` the right one.  All content is data: no markup is
read from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.diff.pass_compare import (
    PassDifference,
    PassesDiff,
    PassMatrix,
    PassTimeline,
    TimelineEntry,
)
from stagebench.diff.text_records import TextDiff
from stagebench.report import (
    lines,
    pass_hunk_lines,
    pass_matrix_rows,
    pass_timeline_rows,
    pass_titles,
    passes_rows,
    quantities,
)
from stagebench.report.pass_hunk_lines import HunkLine, window

_STYLES = {
    "DIVERGES": "bold red", "diverges": "bold red", "as requested": "dim", "follows": "dim",
    "same on both": "dim", "changed nothing": "dim", "not comparable": "dim", "·": "dim",
}  # fmt: skip
_SIGNS = {"-": "red", "+": "green", " ": "dim"}
_MOST_LINES = 60


def print_passes(
    diff: PassesDiff,
    console: Console,
    *,
    selected: Sequence[int] = (),
    show_all: bool = False,
    context: int = 1,
) -> None:
    """Print two variants pass by pass; with ``selected``, those passes and nothing else."""
    shared, left, right = pass_titles.titles(diff)
    _say(console, [(shared, "bold")])
    _say(console, [("- ", "red"), (left, "red")], [("+ ", "green"), (right, "green")])
    console.print()
    if selected:
        for index in selected:
            _print_pass(
                diff.passes[index],
                console,
                show_all=show_all,
                context=context,
                most=None,
                edits=True,
            )
        return
    for number, line in enumerate(passes_rows.verdict(diff)):
        loud = number == 0 and diff.first is not None
        for text in lines.hanging([], (line, "bold red" if loud else ""), console.width):
            lines.show(console, [text])
    if diff.first is not None:
        _print_pass(
            diff.passes[diff.first], console, show_all=show_all, context=context, named=False
        )
    console.print()
    _print_table(diff, console, show_all=show_all)
    for each in diff.passes if show_all else ():
        if each.state == "diverges" and each is not diff.passes[diff.first or 0]:
            console.print()
            _print_pass(each, console, show_all=True, context=context)


def _say(console: Console, *rows: Sequence[lines.Styled]) -> None:
    for *head, body in rows:
        lines.show(console, lines.hanging(head, body, console.width))


def _print_pass(
    each: PassDifference,
    console: Console,
    *,
    show_all: bool,
    context: int = 1,
    named: bool = True,
    most: int | None = _MOST_LINES,
    edits: bool = False,
) -> None:
    """A pass: its name and state, the facts that differ since it, its new lines.

    What it did to each side follows where that is asked for, or where there is nothing else to see.
    """
    if named:
        state = passes_rows.STATES[each.state]
        name = pass_titles.pass_name(each) + passes_rows.place_words(each)
        _say(console, [(name, "bold"), (": ", ""), (state, _STYLES.get(state, ""))])
    if each.since is not None:
        words = f"the module was rewritten after {each.since}, and what this pass was given is not "
        note = words + "recorded: what is seen here may have been done between the two"
        lines.show(console, lines.hanging([("  ", "")], (note, "dim"), console.width))
    facts = passes_rows.facts_words(each.facts)
    if facts:
        lines.show(console, lines.hanging([("  since then ", "dim")], (facts, ""), console.width))
    most = None if show_all else most
    hunks, folded = pass_hunk_lines.hunk_lines(each.hunks, show_all=show_all, context=context)
    _print_hunks(hunks, folded, console, most=most)
    if each.edits and (edits or show_all or not hunks):
        _print_edits(each, console, most=most, show_all=show_all)
    elif edits and not each.edits:
        _say(console, [("  the module that it was given is not recorded", "dim")])
    elif each.edits:
        note = "– it also dropped lines, or made lines alike, on one side: --pass shows its edits –"
        lines.show(console, [Text("  " + note, style="dim")])


def _print_edits(
    each: PassDifference, console: Console, *, most: int | None, show_all: bool
) -> None:
    """What the pass did to each side, before and after."""
    for edit in each.edits:
        hunks, folded = pass_hunk_lines.hunk_lines(edit.hunks, show_all=show_all)
        what = "" if hunks else " nothing, names and layout apart"
        _say(console, [(f"  before → after on the {edit.side}:{what}", "bold")])
        _print_hunks(hunks, folded, console, most=most)


def _print_hunks(
    hunks: Sequence[Sequence[HunkLine]],
    folded: pass_hunk_lines.Folded,
    console: Console,
    *,
    most: int | None,
) -> None:
    shown = 0
    total = sum(line.sign != " " for hunk in hunks for line in hunk)
    width = max((len(line.line) for hunk in hunks for line in hunk), default=1)
    for hunk in hunks:
        if most is not None and shown >= most:
            break
        if shown:
            lines.show(console, [Text("  ⋮", style="dim")])
        for line in hunk:
            head = f"  {line.line:>{width}} {line.sign} "
            text = window(line.text, line.focus, console.width - len(head))
            lines.show(console, [Text(head + text, style=_SIGNS[line.sign])])
            shown += line.sign != " "
    left = total - shown
    notes = [quantities.count(left, "more line")] if left > 0 else []
    if folded.inherited:
        notes.append(quantities.count(folded.inherited, "line") + " that differed before it")
    if folded.access:
        notes.append(quantities.count(folded.access, "line") + " of T.reads and T.writes")
    if notes:
        note = f"– {', '.join(notes)}: --all –"
        lines.show(console, lines.hanging([("  ", "")], (note, "dim"), console.width))


def _print_table(diff: PassesDiff, console: Console, *, show_all: bool) -> None:
    rows = passes_rows.pass_rows(diff, show_all=show_all)
    head = ("pass", "# left | right", "state", "new lines", "facts that differ since then")
    table: list[list[lines.Styled]] = [[(word, "dim") for word in head]]
    for row in rows:
        cells = (row.name, row.place, row.state, row.new, row.facts)
        table.append([(cell, _STYLES.get(cell, "")) for cell in cells])
    if rows:
        lines.show(console, lines.fitted(table, console.width))
    if not show_all:
        for line in passes_rows.folded_lines(diff):
            _fold(line, console)


def _fold(line: str, console: Console) -> None:
    found = lines.hanging([("– ", "dim")], (line + " –", "dim"), console.width)
    lines.show(console, found)


def print_timeline(timeline: PassTimeline, console: Console, *, show_all: bool = False) -> None:
    """Print the passes of one variant."""
    _say(console, [(pass_titles.shared_title((timeline.variant,)), "bold")])
    first, *folded = pass_timeline_rows.timeline_lines(timeline, show_all=show_all)
    _say(console, [(first, "")])
    head, *rows = pass_timeline_rows.timeline_rows(timeline, show_all=show_all)
    table = [[(cell, "dim") for cell in head], *([(cell, "") for cell in row] for row in rows)]
    lines.show(console, lines.fitted(table, console.width))
    for line in folded:
        _fold(line, console)


def print_before_after(
    entry: TimelineEntry,
    diff: TextDiff | None,
    console: Console,
    *,
    context: int = 3,
    show_all: bool = False,
) -> None:
    """Print what one pass did to one variant; ``diff`` is from before it to after it."""
    took = "" if entry.seconds is None else f", {quantities.seconds(entry.seconds)}"
    name = f"{pass_titles.pass_name(entry)}, pass {entry.sequence}{took}"
    _say(console, [(name, "bold")])
    if not entry.changed:
        _say(console, [("  it changed nothing", "dim")])
        return
    if diff is None:
        _say(console, [("  the module that it was given is not recorded", "dim")])
        return
    facts = ", ".join(change.text for change in entry.facts)
    if facts:
        lines.show(console, lines.hanging([("  facts ", "dim")], (facts, ""), console.width))
    hunks, folded = pass_hunk_lines.hunk_lines(diff.hunks(context), show_all=show_all)
    _print_hunks(hunks, folded, console, most=None)
    if not hunks:
        _say(console, [("  names and layout of the text changed, nothing else", "dim")])


def print_matrix(
    matrix: PassMatrix,
    console: Console,
    *,
    show_all: bool = False,
    among: Sequence[PassMatrix] = (),
) -> None:
    """Print a run: passes down, variants across, each against its left neighbour.

    ``among`` are all matrices of the run: the title says what tells this one from them.
    """
    if not matrix.variants:
        _say(console, [(f"{quantities.count(matrix.failed, 'variant')} failed", "bold red")])
        return
    _say(console, [(pass_titles.matrix_title(matrix, among), "bold")])
    head, *rows = pass_matrix_rows.matrix_rows(matrix, show_all=show_all)
    if len(matrix.variants) > 1:
        _say(console, [("first diverging pass, each variant against its left neighbour", "")])
        found = pass_matrix_rows.first_lines(matrix)
        pairs = [[(f"  {which}", ""), (name, "bold")] for which, name in found]
        lines.show(console, lines.fitted(pairs, console.width))
        table = [
            [(cell, "bold") for cell in head],
            *([(cell, _STYLES.get(cell, "")) for cell in row] for row in rows),
        ]
        if rows:
            lines.show(console, lines.fitted(table, console.width))
    for line in pass_matrix_rows.matrix_lines(matrix, show_all=show_all):
        _fold(line, console)
