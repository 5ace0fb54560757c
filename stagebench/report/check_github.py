"""How does a check mark the lines of a pull request?  As GitHub's workflow commands.

``::error file=…,line=…,title=…::…`` on standard output of a step.  GitHub shows ten errors, ten
warnings and ten notices of a step (docs.github.com, "Workflow commands for GitHub Actions", limits
of annotations): more are counted in one closing notice, which also says what would approve them.

**Source** of the escaping: ``escapeData`` and ``escapeProperty`` in ``command.ts`` of
``actions/toolkit`` (``packages/core``).
"""

from __future__ import annotations

from stagebench.model.verdict import Level, Verdict
from stagebench.report.check_blocks import names_in_words
from stagebench.report.check_findings import Finding, check_findings
from stagebench.report.check_rows import summary
from stagebench.report.quantities import count
from stagebench.visible_text import visible

MOST_OF_A_LEVEL = 10
_MOST_CHARACTERS = 4000
_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def check_github(verdict: Verdict) -> str:
    """The commands, errors first; ends in a line feed."""
    findings = check_findings(verdict)
    many = len(verdict.experiments) > 1
    lines: list[str] = []
    left: dict[Level, int] = {}
    shown: dict[Level, int] = {}
    for finding in findings:
        if shown.get(finding.level, 0) < MOST_OF_A_LEVEL:
            shown[finding.level] = shown.get(finding.level, 0) + 1
            lines.append(_annotation(finding, many=many))
        else:
            left[finding.level] = left.get(finding.level, 0) + 1
    lines.append(_closing(verdict, left))
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, *, many: bool) -> str:
    properties = []
    if finding.place is not None:
        properties.append(("file", finding.place.file))
        if finding.place.line is not None:
            properties.append(("line", str(finding.place.line)))
    properties.append(("title", f"stagebench: {finding.title}"))
    said = [finding.sentence, *finding.details]
    if finding.path is not None:
        said.append(finding.path)
    if finding.variants:
        names = names_in_words(finding.variants, many=many)
        said.append(f"in {count(len(finding.variants), 'variant')}: {names}")
    return _command(_COMMANDS[finding.level], properties, "\n".join(said))


def _closing(verdict: Verdict, left: dict[Level, int]) -> str:
    said = [summary(verdict)]
    if left:
        count = ", ".join(f"{number} {level}s" for level, number in left.items())
        said.append(f"and {count} more than GitHub shows: `stagebench check` lists all")
    if verdict.accept is not None:
        said.append(f"to approve: {verdict.accept.shell}")
    title = f"stagebench: exit {verdict.exit_code}"
    return _command("notice", [("title", title)], "\n".join(said))


def _command(name: str, properties: list[tuple[str, str]], data: str) -> str:
    if len(data) > _MOST_CHARACTERS:
        data = data[: _MOST_CHARACTERS - 1] + "…"
    listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties)
    return visible(f"::{name} {listed}::{data.translate(_DATA)}")
