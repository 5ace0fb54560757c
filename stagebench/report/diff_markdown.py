"""How does a comparison look in a pull request?  Facts as a table, hunks as a diff, folded.

A comment holds 65,536 characters (GitHub); lines that don't fit are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.diff.comparison import Comparison
from stagebench.diff.fact_change import FactChange
from stagebench.diff.text_records import Hunk, Row
from stagebench.report.diff_words import (
    hunk_title,
    not_compared,
    note,
    put_aside,
    side_failure,
    side_name,
    verdict,
)
from stagebench.report.fact_change_rows import change_table

MAX_CHARACTERS = 60_000

_ESCAPED = str.maketrans({char: f"\\{char}" for char in "|*_<>[]`#"})


def diff_markdown(compared: Comparison, *, context: int) -> str:
    """The whole comparison; ends in a line feed."""
    left, right, text = compared.left, compared.right, compared.text
    parts = [f"**{_text(side_name(left))}** against **{_text(side_name(right))}**"]
    failures = [(side_name(side), side_failure(side)) for side in (left, right)]
    failed = [f"- {_text(name)}: {_text(why)}" for name, why in failures if why is not None]
    if failed:
        parts.append("\n".join(failed))
    nothing = not_compared(compared)
    if nothing is not None:
        parts.append(_text(nothing))
    if compared.facts is not None:
        parts.append(_facts(compared.facts, compared.no_since))
    if text is not None:
        parts.append(f"CUDA: {_text(verdict(text))}")
        aside = put_aside(text)
        if aside:
            parts.append("\n".join(f"- {_text(line)}" for line in aside))
        if not text.equal:
            parts.append(_hunks(text.hunks(context), MAX_CHARACTERS - sum(map(len, parts))))
    return "\n\n".join(parts) + "\n"


def _facts(facts: Sequence[FactChange], no_since: str | None) -> str:
    table = change_table(facts, no_since=no_since)
    lines = ["no fact changed"]
    if table.rows:
        lines = ["| changed fact | since pass |", "| --- | --- |"]
        lines += [f"| {_text(row.text)} | {_text(row.since)} |" for row in table.rows]
    return "\n".join(lines) + "".join(f"\n\n– {_text(line)} –" for line in table.folded)


def _hunks(hunks: Sequence[Hunk], room: int) -> str:
    lines: list[str] = []
    for hunk in hunks:
        lines.append(hunk_title(hunk))
        lines += [line for row in hunk.rows for line in _row(row)]
    shown: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    body = "\n".join(shown)
    fence = "```"
    while fence in body:
        fence += "`"
    more = f"\n\n… and {len(lines) - len(shown)} more lines" if len(shown) < len(lines) else ""
    count = "1 hunk" if len(hunks) == 1 else f"{len(hunks)} hunks"
    return (
        f"<details><summary>{count}</summary>\n\n{fence}diff\n{body}\n{fence}{more}\n\n</details>"
    )


def _row(row: Row) -> list[str]:
    said = f"  ({note(row)})" if note(row) else ""
    left, right = (row.left_text or "").rstrip("\r"), (row.right_text or "").rstrip("\r")
    if row.kind == "changed":
        return [f"- {left}", f"+ {right}{said}"]
    if row.kind == "removed" or (row.kind == "moved" and row.right is None):
        return [f"- {left}{said}"]
    if row.kind in ("added", "moved"):
        return [f"+ {right}{said}"]
    return [f"  {left if row.right is None else right}"]


def _text(text: str) -> str:
    return " ".join(text.translate(_ESCAPED).split())
