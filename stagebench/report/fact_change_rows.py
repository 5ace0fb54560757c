"""Which rows does a table of changed facts have?  Changes in, text out.

Changes that say the same of several things share a row (``A_shared, B_shared versions 2 → 3``), and
so do the two counts of one op.  What only follows from another change, a name or a moved line is
folded into a count, unless there is nothing else to say; what two compilers only spell otherwise
into one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stagebench.diff.fact_change import FactChange
from stagebench.model import Evidence, Record
from stagebench.report.spelled_words import SPELLED_OTHERWISE, most_of, spelled_pairs

REQUESTED = "as requested"
_LINES = 3


class ChangeRow(Record, frozen=True, kw_only=True):
    """One row: the change, since which pass, and the lines of both CUDA texts that show it.

    ``left`` and ``right`` quote the IR after that pass: what one reads there, and where.
    """

    text: str
    since: str
    cuda: str
    left: str | None = None
    right: str | None = None


class ChangeTable(Record, frozen=True, kw_only=True):
    """The rows to show, and a line for each kind of change that is not."""

    rows: tuple[ChangeRow, ...]
    folded: tuple[str, ...]


def change_table(
    changes: Sequence[FactChange], *, show_all: bool = False, no_since: str | None = None
) -> ChangeTable:
    """The table of changed facts; ``no_since``: why none says since which pass."""
    unknown = None if no_since is None else no_since.partition(":")[0]
    facts = [change for change in changes if change.kind == "fact"]
    primary = [change for change in facts if not change.follows] or facts
    renames = [change for change in changes if change.kind == "rename" and not change.follows]
    if show_all:
        return ChangeTable(
            rows=tuple(_row([change], unknown) for change in changes),
            folded=_why(no_since) if changes else (),
        )
    hidden = len(facts) - len(primary)
    moved = sum(change.kind == "position" for change in changes)
    folded = []
    if hidden:
        folded.append(f"{hidden} more that follow from these")
    folded += _spelled(changes)
    if renames:
        folded.append(
            "only renamed: " + ", ".join(dict.fromkeys(change.text for change in renames))
        )
    if moved:
        folded.append(f"{moved} line number{'' if moved == 1 else 's'} moved")
    if primary:
        folded += _why(no_since)
    return ChangeTable(
        rows=tuple(_row(group, unknown) for group in _groups(primary)), folded=tuple(folded)
    )


def _spelled(changes: Iterable[FactChange]) -> Iterator[str]:
    """The line of what is only spelled otherwise; none where nothing is."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.kind == "spelling":
            for pair, name in spelled_pairs(change.path, change.left, change.right):
                found.setdefault(pair, []).append(name)
    if found:
        most_first = sorted(found.items(), key=lambda item: -len(item[1]))
        said = most_of(pair + _counted(names) for pair, names in most_first)
        yield f"{SPELLED_OTHERWISE}, and no difference: {said}"


def _counted(names: Sequence[str]) -> str:
    distinct = len(set(names))
    if distinct > 1:
        return f" ({distinct} names)"
    return f" ({len(names)} times)" if len(names) > 1 else ""


def _why(no_since: str | None) -> tuple[str, ...]:
    return () if no_since is None else (f"since which pass: {no_since}",)


def _groups(changes: Iterable[FactChange]) -> list[list[FactChange]]:
    """Changes that share a row: the same said of several subjects, or all counts of one op."""
    groups: dict[tuple[object, ...], list[FactChange]] = {}
    for change in changes:
        since = None if change.since is None else (change.since.pass_name,)
        if change.path.startswith("sync_totals["):
            key: tuple[object, ...] = ("total", change.subject, since)
        else:
            key = ("said", change.group, _said(change), since)
        groups.setdefault(key, []).append(change)
    return list(groups.values())


def _said(change: FactChange) -> str:
    return change.text[len(change.subject) :]


def _row(group: Sequence[FactChange], no_since: str | None) -> ChangeRow:
    one = group[0]
    if one.path.startswith("sync_totals[") and len(group) > 1:
        text = one.subject + ",".join(_said(change) for change in group)
    else:
        subjects = dict.fromkeys(change.subject for change in group)
        text = ", ".join(subjects) + _said(one)
    return ChangeRow(
        text=text,
        since=since_words(one) if no_since is None else no_since,
        cuda=_cuda(one),
        left=_quote(one.since.left_evidence if one.since else None),
        right=_quote(one.since.right_evidence if one.since else None),
    )


def since_words(change: FactChange) -> str:
    """The pass since which the two differ; where no text shows it, the pass the facts name."""
    if change.since is not None:
        return change.since.pass_name or REQUESTED
    return "–"


def _cuda(change: FactChange) -> str:
    sides = [_lines(side) for side in (change.left_evidence, change.right_evidence)]
    return "" if not any(sides) else " | ".join(side or "–" for side in sides)


def _lines(evidence: Sequence[Evidence]) -> str:
    lines = [str(item.line) for item in evidence if item.artifact == "kernel.cu" and item.line]
    shown = list(dict.fromkeys(lines))
    more = f" +{len(shown) - _LINES}" if len(shown) > _LINES else ""
    return " ".join(shown[:_LINES]) + more


def _quote(evidence: Evidence | None) -> str | None:
    if evidence is None or evidence.line is None:
        return None
    return f"{evidence.line}: {evidence.text or ''}"
