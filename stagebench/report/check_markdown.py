"""How does a check look as a comment on a pull request?  Changes as a table, the rest folded.

GitHub refuses comments of more than 65,536 characters: at most `MAX_BYTES` are made, and what is
left out is counted.  Whatever a name holds, it is text: neither markdown, HTML nor a mention.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from stagebench.model.verdict import VariantVerdict, Verdict
from stagebench.report.check_blocks import names_in_words, place_words
from stagebench.report.check_findings import Finding, check_findings
from stagebench.report.check_rows import (
    check_rows,
    ending,
    following_words,
    status_words,
    summary,
)
from stagebench.report.quantities import count
from stagebench.visible_text import visible

MAX_BYTES = 60_000
_TABLE_BYTES = 36_000
_ACCEPT_BYTES = 12_000
_CELL_CHARACTERS = 1200
_VARIANT_CHANGES = 40

_ESCAPED = {char: f"\\{char}" for char in "\\|*_<>[]`#~&!"}
_TEXT = str.maketrans({**_ESCAPED, "@": "@<!-- -->"})


def check_markdown(verdict: Verdict) -> str:
    """The whole comment, at most `MAX_BYTES` in UTF-8; ends in a line feed."""
    head = f"**stagebench check: {ending(verdict)}** · {_text(summary(verdict))}"
    approve = _approve(verdict)
    parts = [head]
    rows = list(_rows(verdict))
    if rows:
        parts.append(_table(rows))
    room = MAX_BYTES - sum(_bytes(part) + 2 for part in (*parts, approve)) - 200
    parts += _folded(verdict, room)
    if approve:
        parts.append(approve)
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[str]) -> str:
    lines = ["| what | variants | where |", "| --- | --- | --- |"]
    room = _TABLE_BYTES
    for number, row in enumerate(rows):
        room -= _bytes(row) + 1
        if room < 0:
            return "\n".join(lines) + f"\n\n… and {count(len(rows) - number, 'more row')} left out"
        lines.append(row)
    return "\n".join(lines)


def _rows(verdict: Verdict) -> Iterator[str]:
    """Variants that fail or lower now, then changes, those of most variants first, then the rest.

    Changes that only follow from another one are counted.
    """
    many = len(verdict.experiments) > 1
    findings = [finding for finding in check_findings(verdict) if finding.kind != "drift"]
    first = [finding for finding in findings if finding.kind in ("failed_now", "lowers_now")]
    for finding in first:
        yield _finding(finding, many=many)
    shown = check_rows(verdict)
    for block in shown.drifts:
        variants = f"{block.count}: {_text(block.variants)}"
        for row in block.rows:
            rule = f"<br>{_text(row.rule)}" if row.rule else ""
            apart = "" if block.judged else "<br>shown, not judged"
            yield f"| {_text(row.text)}{rule}{apart} | {variants} | {_text(row.place or '')} |"
        if block.hidden:
            more = count(block.hidden, "more change")
            yield f"| … and {more} of these variants | {variants} |  |"
    if shown.following:
        yield f"| {following_words(shown.following)} |  |  |"
    for finding in findings:
        if finding not in first:
            yield _finding(finding, many=many)


def _finding(finding: Finding, *, many: bool) -> str:
    said = "<br>".join(_text(line) for line in (finding.sentence, *finding.details))
    several = len(finding.variants)
    names = f"{several}: {_text(names_in_words(finding.variants, many=many))}" if several else ""
    return f"| {said} | {names} | {_text(place_words(finding.place) or '')} |"


def _folded(verdict: Verdict, room: int) -> list[str]:
    """A folded table for each experiment that is not clean, as many as there is room for."""
    parts: list[str] = []
    left = 0
    for experiment in verdict.experiments:
        variants = [v for case in experiment.cases for v in case.variants]
        rows = [_variant(one, verdict) for one in variants if one.status != "clean"]
        if not rows:
            continue
        title = html.escape(f"{experiment.name}: {len(rows)} of {count(len(variants), 'variant')}")
        start = f"<details><summary>{' '.join(title.split())}</summary>\n\n"
        start += "| variant | ends as | changes |\n| --- | --- | --- |\n"
        end = "\n\n</details>"
        shown: list[str] = []
        used = _bytes(start) + _bytes(end) + 80
        for row in rows:
            used += _bytes(row) + 1
            if used > room:
                break
            shown.append(row)
        if not shown:
            left += 1
            continue
        more = len(rows) - len(shown)
        rest = f"\n\n… and {count(more, 'more variant')} left out" if more else ""
        part = start + "\n".join(shown) + rest + end
        room -= _bytes(part) + 2
        parts.append(part)
    if left:
        parts.append(f"… and {count(left, 'more experiment')} left out")
    return parts


def _variant(variant: VariantVerdict, verdict: Verdict) -> str:
    said = [variant.note] if variant.note else []
    said += [change.text for change in variant.drifts[:_VARIANT_CHANGES]]
    if len(variant.drifts) > _VARIANT_CHANGES:
        said.append(f"… {len(variant.drifts) - _VARIANT_CHANGES} more")
    said += [
        f"expectation failed: {answer.words}"
        for answer in variant.expectations
        if answer.outcome != "held"
    ]
    cell = "<br>".join(_text(line) for line in said)
    words = status_words(variant.status, verdict)
    return f"| {_text(variant.name)} | {words} | {cell} |"


def _approve(verdict: Verdict) -> str:
    """The command in a fence that it can't close."""
    if verdict.accept is None:
        return ""
    shell = verdict.accept.shell
    if _bytes(shell) > _ACCEPT_BYTES:
        return "To approve, run the command that `stagebench check` prints: it is too long for here"
    fence = "```"
    while fence in shell:
        fence += "`"
    return f"To approve:\n\n{fence}sh\n{shell}\n{fence}"


def _text(text: str) -> str:
    plain = visible(" ".join(text.split()))
    if len(plain) > _CELL_CHARACTERS:
        plain = plain[: _CELL_CHARACTERS - 1] + "…"
    return plain.translate(_TEXT)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
