"""What is said of the passes of one variant: when each ran, and what it did to the IR?"""

from __future__ import annotations

from stagebench.diff.pass_compare import PassTimeline, TimelineEntry
from stagebench.report import quantities
from stagebench.report.pass_titles import pass_name


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
