"""How is a bisection shown?  The points in a row, where it changed, what else is different."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.diff.fact_change import FactChange
from stagebench.model.bisection import Bisection
from stagebench.report import identity, lines, quantities
from stagebench.report.fact_change_view import fact_change_lines
from stagebench.report.quantities import UNKNOWN

_NAMED = 3


def print_bisection(
    found: Bisection,
    console: Console,
    *,
    changes: Sequence[FactChange] | None = None,
    no_since: str | None = None,
    first_pass: str | None = None,
    show_all: bool = False,
) -> None:
    """Print it; ``changes`` are all that differs between the two sides, ``None`` where none is."""
    lines.show(console, bisection_lines(found, console.width))
    if changes is None:
        return
    if first_pass is not None:
        lines.show(console, [Text(f"first diverging pass: {first_pass}", style="bold")])
    lines.show(
        console, fact_change_lines(changes, console.width, show_all=show_all, no_since=no_since)
    )


def bisection_lines(found: Bisection, width: int) -> list[Text]:
    """The title, the points that were looked at, and the conclusion."""
    variant = found.variant
    depth = identity.depth(variant)
    words = [variant.kernel, variant.arch]
    if depth is not None and found.axis != "num_stages":
        words.append(f"num_stages={depth}")
    if found.axis != "compiler":
        words.append(identity.compiler(variant))
    title = f"{' · '.join(words)} · by {found.axis}"
    rows: list[list[lines.Styled]] = []
    for index, point in enumerate(found.points):
        mark = {found.left: "last as before", found.right: "first changed"}.get(index, "")
        if index in found.again:
            mark = "changed again"
        value = UNKNOWN if point.value is None else point.value
        changed = found.right is not None and index >= found.right
        if found.again:  # it may have changed back
            changed = value != found.points[0].value
        style = "dim" if point.value is None else "bold yellow" if changed else ""
        said = mark or (point.note or "") if point.value is None else mark
        rows.append([(point.name, ""), (value, style), (said, "bold" if mark else "dim")])
    return [
        Text(title, style="bold"),
        *lines.hanging([("  ", "")], (found.watched, ""), width),
        *lines.fitted(rows, width - 2, indent=2),
        *_conclusion(found, width),
    ]


def _conclusion(found: Bisection, width: int) -> list[Text]:
    if found.left is None or found.right is None:
        text = _alike(found)
    else:
        left, right = found.points[found.left], found.points[found.right]
        what = f"{left.value} → {right.value}"
        if left.value == right.value or len(found.changed) > 1:  # several facts are watched
            what = ", ".join(found.changed)
            if len(found.changed) > _NAMED:
                what = quantities.count(len(found.changed), "fact")
        text = f"changed in {right.name}: {what}"
        if found.between:
            text += f" (or in {', '.join(found.between)}, which has no answer)"
        if found.again:
            text += f"; and again in {', '.join(found.points[at].name for at in found.again)}"
    said = lines.hanging([], (text, "bold"), width)
    if not found.machine_code:
        said += lines.hanging([], ("machine code was not looked at: --machine", "dim"), width)
    return said


def _alike(found: Bisection) -> str:
    first, last = found.points[0].name, found.points[-1].name
    if found.not_looked_at:
        return (
            f"no change between the ends: {first} and {last} are alike in this; what lies between "
            "was not looked at (--all-points looks)"
        )
    if len(found.points) > 2:
        return f"no change: all points from {first} to {last} are alike in this"
    return f"no change: {first} and {last} are alike in this"
