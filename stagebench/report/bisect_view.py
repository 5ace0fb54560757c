"""How is a bisection shown?  The points in a row, where it changed, what else is different."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_words import from_to
from stagebench.model import Record
from stagebench.model.bisection import Bisection
from stagebench.report import identity, lines, quantities
from stagebench.report.fact_change_view import fact_change_lines
from stagebench.report.quantities import UNKNOWN

_NAMED = 3
_NAME = re.compile(r"\[[^\]]*\]")


class Sides(Record, frozen=True, kw_only=True):
    """All that differs between the two neighbours; ``no_since``: why no pass is named.

    ``first_pass`` is the first that treats the two differently, ``None`` where there is none or
    nobody can tell.
    """

    changes: tuple[FactChange, ...]
    no_since: str | None = None
    first_pass: str | None = None


def print_bisection(
    found: Bisection, console: Console, *, sides: Sides | None = None, show_all: bool = False
) -> None:
    """Print it; ``sides`` is ``None`` where nothing differs."""
    lines.show(console, bisection_lines(found, console.width))
    if sides is None:
        return
    for text, style in pass_lines(found, sides):
        lines.show(console, lines.hanging([], (text, style), console.width))
    changes = _as_watched(sides.changes, found.changed)
    lines.show(
        console,
        fact_change_lines(changes, console.width, show_all=show_all, no_since=sides.no_since),
    )


def _as_watched(changes: Sequence[FactChange], watched: Sequence[str]) -> tuple[FactChange, ...]:
    """The changes; another spelling that was asked for by name is a fact of its own."""
    return tuple(
        msgspec.structs.replace(change, kind="fact", follows=False)
        if change.kind == "spelling" and change.path in watched
        else change
        for change in changes
    )


def pass_lines(found: Bisection, sides: Sides) -> list[tuple[str, str]]:
    """The passes since which what is watched differs, then the first that diverges at all."""
    since = dict.fromkeys(
        change.since.pass_name
        for change in sides.changes
        if change.path in found.changed and change.since and change.since.pass_name
    )
    said: list[tuple[str, str]] = []
    if since:
        named = list(since)
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        said.append((f"it differs since {', '.join(map(str, named[:_NAMED]))}{more}", "bold"))
    if sides.first_pass is not None:
        style = "" if since else "bold"
        said.append((f"first diverging pass: {sides.first_pass}", style))
    return said


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
        what = from_to(str(left.value), str(right.value))
        several = len(found.changed) > 1 or (_is_count(left.value) and _is_count(right.value))
        if left.value == right.value or several:
            what = ", ".join(found.changed)
            if len(found.changed) > _NAMED:
                what = f"{quantities.count(len(found.changed), 'fact')} ({_kinds(found.changed)})"
        text = f"changed in {right.name}: {what}"
        if found.between:
            text += f" (or in {', '.join(found.between)}, which has no answer)"
        if found.again:
            text += f"; and again in {', '.join(found.points[at].name for at in found.again)}"
    said = lines.hanging([], (text, "bold"), width)
    if not found.machine_code:
        said += lines.hanging([], ("machine code was not looked at: --machine", "dim"), width)
    return said


def _is_count(value: str | None) -> bool:
    """Whether of several facts no value is told, but how many they are."""
    return value is not None and value.endswith(" facts")


def _kinds(paths: Sequence[str]) -> str:
    """Paths counted by the pattern that each of a kind fits: ``12 of sync_ops[*].guards``."""
    counts = Counter(_NAME.sub("[*]", path, count=1) for path in paths)
    shown = [f"{count} of {pattern}" for pattern, count in counts.most_common(_NAMED)]
    return ", ".join(shown) + (" …" if len(counts) > _NAMED else "")


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
