"""How does a check look in a terminal?  The rows of `check_rows`, and what `accept` shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from stagebench.model.verdict import Status, Verdict
from stagebench.report import lines, quantities
from stagebench.report.check_blocks import ChangeBlock, names_in_words
from stagebench.report.check_rows import (
    AnswerRow,
    CheckRows,
    VariantRow,
    check_rows,
    ending,
    following_words,
)
from stagebench.report.console import open_console

if TYPE_CHECKING:
    from stagebench.model.verdict import AcceptStep

_STYLES: dict[Status, str] = {
    "clean": "green",
    "drift": "red",
    "failed_now": "bold red",
    "lowers_now": "bold yellow",
    "not_comparable": "yellow",
    "fails_on_both": "yellow",
    "missing_baseline": "yellow",
    "unused_baseline": "yellow",
    "expectation_failed": "red",
}
_SMALLEST = 40


def print_verdict(
    verdict: Verdict,
    *,
    show_all: bool = False,
    plain: bool = False,
    elapsed_seconds: float | None = None,
    from_cache: int | None = None,
) -> None:
    """Print a verdict; ``plain`` is without colour, whatever the terminal can do."""
    console = open_console()
    if plain:
        console.no_color = True
    rows = check_rows(verdict, show_all=show_all)
    found = _changes(rows, console.width) + _rest(rows, console.width)
    took = "" if elapsed_seconds is None else f" · {quantities.seconds(elapsed_seconds)}"
    cached = f", {from_cache} from the cache" if from_cache else ""
    style = "green" if verdict.exit_code == 0 else "red"
    found += lines.hanging([], (f"{rows.summary}{took}{cached}", ""), console.width)
    found.append(Text(f"exit {verdict.exit_code}: {ending(verdict)}", style=style))
    if rows.approve:
        found += lines.to_copy("to approve:", rows.approve, console.width)
    lines.show(console, found)


def _changes(rows: CheckRows, width: int) -> list[Text]:
    found: list[Text] = []
    for title, blocks, style in (
        ("drift", rows.drifts, "bold red"),
        ("allowed", rows.allowed, "bold"),
    ):
        for block in blocks:
            said = title if block.judged else "not judged,"
            found += _block(said, block, style if block.judged else "yellow", width)
    if rows.following:
        text = f"{following_words(rows.following)} (--all shows them)"
        found += [Text(text), Text()]
    if rows.cuda_text:
        found += [*lines.hanging([], (rows.cuda_text, ""), width), Text()]
    if rows.allowed_count and not rows.allowed:
        several = "change is" if rows.allowed_count == 1 else "changes are"
        found += [Text(f"{rows.allowed_count} more {several} allowed (--all shows them)"), Text()]
    return found


def _block(title: str, block: ChangeBlock, style: str, width: int) -> list[Text]:
    head = [(f"{title} in {quantities.count(block.count, 'variant')}  ", style)]
    found = lines.hanging(head, (block.variants, ""), width)
    for row in block.rows:
        found += lines.hanging([("  ", "")], (row.text, ""), width)
        under = " · ".join(text for text in (row.path, row.rule, row.place) if text)
        found += lines.hanging([("      ", "")], (under, "dim"), width)
    if block.hidden:
        found.append(Text(f"  … and {block.hidden} more (--all shows them)", style="dim"))
    return [*found, Text()]


def _rest(rows: CheckRows, width: int) -> list[Text]:
    found: list[Text] = []
    for answer in rows.answers:
        found += _answer(answer, width)
    if rows.answers:
        found.append(Text())
    if rows.variants:
        found += [*_variants(rows.variants, width), Text()]
    for told in (rows.spelled, rows.one_sided, rows.not_asked):
        if told:
            found += [*lines.hanging([], (told, ""), width), Text()]
    return found


def _answer(row: AnswerRow, width: int) -> list[Text]:
    mark, style = ("holds", "green") if row.held else ("failed expectation", "red")
    found = lines.hanging([(f"{mark}: ", style)], (row.words, ""), width)
    where = " · ".join(text for text in (row.variants, row.place) if text)
    found += lines.hanging([("  ", "")], (where, "dim"), width)
    for seen in row.seen:
        found += lines.hanging([("      ", "")], (seen, ""), width)
    return found


def _variants(rows: Iterable[VariantRow], width: int) -> list[Text]:
    found: list[Text] = []
    for row in rows:
        mark = (f"{row.words:<18} ", _STYLES[row.status])
        beside = [mark, (row.name, ""), ("  ", "")]
        if row.said and sum(len(text) for text, _ in beside) + _SMALLEST <= width + 2:
            found += lines.hanging(beside, (row.said, "dim"), width)
            continue
        found += lines.hanging([mark], (row.name, ""), width)
        if row.said:
            found += lines.hanging([(" " * 19, "")], (row.said, "dim"), width)
    return found


def print_steps(
    verdict: Verdict,
    steps: Iterable[tuple[AcceptStep, str]],
    refused: Iterable[tuple[str, str]],
) -> None:
    """Show what an `accept` is about to do: the grouped changes, then each step's variants."""
    console = open_console()
    rows = check_rows(verdict)
    found = _changes(rows, console.width)
    by_step: dict[AcceptStep, list[str]] = {}
    for step, name in steps:
        by_step.setdefault(step, []).append(name)
    many = len(verdict.experiments) > 1
    for step, names in by_step.items():
        head = [(f"{step} {len(names)}  ", "bold")]
        found += lines.hanging(head, (names_in_words(names, many=many), ""), console.width)
    for name, why in refused:
        found += lines.hanging([("not accepted  ", "red")], (f"{name}: {why}", ""), console.width)
    lines.show(console, found)


def print_outcome(text: str, *notes: str) -> None:
    """Say how an `accept` ended."""
    console = open_console()
    found: list[Text] = []
    for said in (text, *notes):
        found += lines.hanging([], (said, ""), console.width)
    lines.show(console, found)
