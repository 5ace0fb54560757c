"""In which formats can a whole check be written for other programs to read?

Each is a pure function of the verdict.  ``rich``, ``plain`` and ``json`` are the command's own: the
first two are made for a terminal, the last is the verdict itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagebench.model.verdict import Verdict
from stagebench.report.check_github import check_github
from stagebench.report.check_junit import check_junit
from stagebench.report.check_markdown import check_markdown
from stagebench.report.check_sarif import check_sarif

FORMATS: Mapping[str, Callable[[Verdict], str]] = {
    "markdown": check_markdown,
    "github": check_github,
    "junit": check_junit,
    "sarif": check_sarif,
}


def render(verdict: Verdict, format_name: str) -> str:
    """The verdict in one of `FORMATS`; ends in a line feed."""
    return FORMATS[format_name](verdict)
