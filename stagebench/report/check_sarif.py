"""How does a check look to a code scanner?  As SARIF 2.1.0, a result for each finding.

GitHub shows the 5,000 most severe results of a log and refuses more than 25,000 (docs.github.com,
"SARIF support for code scanning"): what is left out is counted.  Places are relative to the
project's root (``%SRCROOT%``); uploads are tracked between runs by ``partialFingerprints``.

**Source** of the format: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0
Plus Errata 01".
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import quote

import msgspec

from stagebench import __version__
from stagebench.model import Record
from stagebench.model.codec import encode_pretty
from stagebench.model.verdict import Level, Place, Verdict
from stagebench.report.check_blocks import names_in_words
from stagebench.report.check_findings import RULES, Finding, FindingKind, check_findings
from stagebench.report.quantities import count

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MOST_RESULTS = 5000
_KINDS: tuple[FindingKind, ...] = tuple(RULES)


class _Shape(Record, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """SARIF's names; what is absent is not written."""


class _Message(_Shape, frozen=True, kw_only=True):
    text: str


class _Rule(_Shape, frozen=True, kw_only=True):
    id: str
    short_description: _Message


class _Driver(_Shape, frozen=True, kw_only=True):
    name: str
    semantic_version: str
    rules: tuple[_Rule, ...]


class _Tool(_Shape, frozen=True, kw_only=True):
    driver: _Driver


class _Region(_Shape, frozen=True, kw_only=True):
    start_line: int


class _Artifact(_Shape, frozen=True, kw_only=True):
    uri: str
    uri_base_id: str


class _Physical(_Shape, frozen=True, kw_only=True):
    artifact_location: _Artifact
    region: _Region | None = None


class _Location(_Shape, frozen=True, kw_only=True):
    physical_location: _Physical


class _Details(_Shape, frozen=True, kw_only=True):
    fact: str | None
    variants: tuple[str, ...]


class _Result(_Shape, frozen=True, kw_only=True):
    rule_id: str
    rule_index: int
    level: Level
    message: _Message
    locations: tuple[_Location, ...]
    partial_fingerprints: dict[str, str]
    properties: _Details


class _Notification(_Shape, frozen=True, kw_only=True):
    level: Level
    message: _Message


class _Invocation(_Shape, frozen=True, kw_only=True):
    execution_successful: bool
    exit_code: int
    tool_execution_notifications: tuple[_Notification, ...] = ()


class _Run(_Shape, frozen=True, kw_only=True):
    tool: _Tool
    invocations: tuple[_Invocation, ...]
    results: tuple[_Result, ...]
    column_kind: str


class _Log(Record, frozen=True, kw_only=True):
    schema: str = msgspec.field(name="$schema")
    version: str
    runs: tuple[_Run, ...]


def check_sarif(verdict: Verdict) -> str:
    """The log as JSON; ends in a line feed."""
    many = len(verdict.experiments) > 1
    findings = check_findings(verdict)
    rules = tuple(
        _Rule(id=f"stagebench/{kind}", short_description=_Message(text=RULES[kind]))
        for kind in _KINDS
    )
    run = _Run(
        tool=_Tool(driver=_Driver(name="stagebench", semantic_version=__version__, rules=rules)),
        invocations=(
            _Invocation(
                execution_successful=True,
                exit_code=verdict.exit_code,
                tool_execution_notifications=tuple(_left_out(len(findings) - MOST_RESULTS)),
            ),
        ),
        results=tuple(_result(finding, many=many) for finding in findings[:MOST_RESULTS]),
        column_kind="unicodeCodePoints",
    )
    return encode_pretty(_Log(schema=SCHEMA, version="2.1.0", runs=(run,))).decode()


def _left_out(number: int) -> Iterator[_Notification]:
    if number > 0:
        text = f"{count(number, 'more result')} left out: `stagebench check` lists all"
        yield _Notification(level="warning", message=_Message(text=text))


def _result(finding: Finding, *, many: bool) -> _Result:
    said = [finding.sentence, *finding.details]
    if finding.variants:
        said.append(f"in {names_in_words(finding.variants, many=many)}")
    identity = "\n".join((finding.kind, finding.path or finding.text, *finding.variants))
    return _Result(
        rule_id=f"stagebench/{finding.kind}",
        rule_index=_KINDS.index(finding.kind),
        level=finding.level,
        message=_Message(text="\n".join(said)),
        locations=() if finding.place is None else (_location(finding.place),),
        partial_fingerprints={
            "stagebenchFinding/v1": sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
        },
        properties=_Details(fact=finding.path, variants=finding.variants),
    )


def _location(place: Place) -> _Location:
    return _Location(
        physical_location=_Physical(
            artifact_location=_Artifact(uri=quote(place.file), uri_base_id="%SRCROOT%"),
            region=None if place.line is None else _Region(start_line=place.line),
        )
    )
