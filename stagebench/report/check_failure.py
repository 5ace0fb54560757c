"""How does a failed check read in a test's report?  As changed facts, in words."""

from __future__ import annotations

from collections.abc import Iterator

from stagebench.model.verdict import Verdict
from stagebench.report.check_blocks import ChangeBlock
from stagebench.report.check_rows import check_rows, following_words


def check_failure(verdict: Verdict) -> str:
    """What changed, what is missing, and the command that approves it; no final line feed."""
    rows = check_rows(verdict)
    lines = [rows.summary]
    for block in rows.drifts:
        lines += _block(block)
    if rows.following:
        lines.append(following_words(rows.following))
    for answer in rows.answers:
        lines.append(f"expectation failed: {answer.words}")
        lines += [f"    {text}" for text in (answer.variants, *answer.seen, answer.place) if text]
    for row in rows.variants:
        if row.status != "drift":
            lines.append(f"{row.words}: {row.name}" + (f" ({row.said})" if row.said else ""))
    if rows.approve:
        lines.append(f"to approve: {rows.approve}")
    return "\n".join(lines)


def _block(block: ChangeBlock) -> Iterator[str]:
    yield f"{'drift' if block.judged else 'not judged,'} in {block.variants}:"
    for row in block.rows:
        rule = f" · {row.rule}" if row.rule else ""
        place = f" · {row.place}" if row.place else ""
        yield f"    {row.text}"
        yield f"        {row.path}{rule}{place}"
    if block.hidden:
        yield f"    … and {block.hidden} more"
