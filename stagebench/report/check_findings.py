"""Which things does a verdict hold against the code, each told once, wherever it is shown?

The same change in several variants is one finding; so is the same failed expectation.  Every
machine-readable format is made of these.  A missing or unused baseline is an error where it decides
the exit code (4), else a warning; so is a change that is shown and not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from stagebench.model import Record
from stagebench.model.verdict import (
    ChangeGroup,
    ExpectationResult,
    ExperimentVerdict,
    Level,
    Place,
    Status,
    VariantVerdict,
    Verdict,
)
from stagebench.report import quantities
from stagebench.report.check_blocks import said_once
from stagebench.report.check_one_sided import one_sided_variants, one_sided_words
from stagebench.report.check_rows import cuda_change, cuda_only, cuda_words, not_asked_words
from stagebench.report.check_spelling import spelled_variants, spelled_words

FindingKind = Literal[
    "drift",
    "expectation",
    "failed_now",
    "lowers_now",
    "not_comparable",
    "fails_on_both",
    "missing_baseline",
    "unused_baseline",
    "nothing_compared",
    "cuda_text",
    "one_sided",
    "spelled",
    "not_asked",
]
RULES: dict[FindingKind, str] = {
    "drift": "A fact of the generated code is not what the baseline says, and no rule allows it.",
    "expectation": "An expectation of the experiment does not hold.",
    "failed_now": "A variant that lowered before, or that the other compiler lowers, fails.",
    "lowers_now": "A variant that failed before, or with the other compiler, lowers.",
    "not_comparable": "The baseline was recorded with another compiler version, or the other "
    "compiler's kernel has other parameters.",
    "fails_on_both": "A variant fails with both compilers alike, so that nothing was compared.",
    "missing_baseline": "A variant has no baseline.",
    "unused_baseline": "A baseline belongs to no variant.",
    "nothing_compared": "No variant was held against a baseline.",
    "cuda_text": "The CUDA text alone is another one, which no rule judges.",
    "one_sided": "Facts that only one of the two compilers says are not compared.",
    "spelled": "What two compilers only spell otherwise is not judged.",
    "not_asked": "Cases of one compiler are not compared with a release of another one.",
}
"""What each kind means, in a sentence."""
_TITLES: dict[FindingKind, str] = {
    "drift": "generated code changed",
    "expectation": "expectation failed",
    "failed_now": "fails to lower now",
    "lowers_now": "lowers now, failed before",
    "not_comparable": "not comparable",
    "fails_on_both": "not comparable",
    "missing_baseline": "no baseline",
    "unused_baseline": "unused baseline",
    "nothing_compared": "nothing was compared",
    "cuda_text": "CUDA text changed",
    "one_sided": "not compared",
    "spelled": "spelled otherwise",
    "not_asked": "not asked",
}
_HERE: dict[FindingKind, str] = {
    "failed_now": "fails to lower here",
    "lowers_now": "lowers here alone",
}
"""Titles against what another compiler makes."""
_BY_STATUS: dict[Status, FindingKind] = {
    "failed_now": "failed_now",
    "lowers_now": "lowers_now",
    "not_comparable": "not_comparable",
    "fails_on_both": "fails_on_both",
    "missing_baseline": "missing_baseline",
    "unused_baseline": "unused_baseline",
}
_APART: tuple[Status, ...] = (
    "not_comparable", "fails_on_both", "missing_baseline", "unused_baseline",
)  # fmt: skip
_LEVELS: tuple[Level, ...] = ("error", "warning", "note")
_MOST_SEEN = 8


class Finding(Record, frozen=True, kw_only=True):
    """One thing to decide about.

    ``path`` is the fact's (``None``: it is about no single fact), ``variants`` are
    ``experiment:name``; ``text`` may be empty where the title says it all; ``details`` say more, a
    line each.
    """

    kind: FindingKind
    level: Level
    title: str
    text: str
    path: str | None
    variants: tuple[str, ...]
    details: tuple[str, ...]
    place: Place | None

    @property
    def sentence(self) -> str:
        """What is the matter, in one line that needs no title."""
        if self.kind in ("drift", "cuda_text", "one_sided", "spelled", "not_asked"):
            return self.text
        return f"{self.title}: {self.text}" if self.text else self.title


def check_findings(verdict: Verdict) -> tuple[Finding, ...]:
    """Errors first; among them what lost or gained a variant, then changes, the widest first."""
    found = [
        *_statuses(verdict, ("failed_now", "lowers_now")),
        *_drifts(verdict),
        *_expectations(verdict),
        *_statuses(verdict, _APART),
        *_cuda_text(verdict),
        *_in_passing(verdict),
    ]
    if verdict.exit_code == 4 and not any(finding.level == "error" for finding in found):
        file = verdict.experiments[0].file if verdict.experiments else None
        found.append(
            _finding(
                "nothing_compared",
                f"nothing was compared with {verdict.against}",
                place=Place(file=file, line=None) if file else None,
            )
        )
    return tuple(sorted(found, key=lambda finding: _LEVELS.index(finding.level)))


def variant_verdicts(
    verdict: Verdict,
) -> Iterator[tuple[ExperimentVerdict, str, VariantVerdict]]:
    """Every variant with its experiment and its case's name."""
    for experiment in verdict.experiments:
        for case in experiment.cases:
            for variant in case.variants:
                yield experiment, case.name, variant


def minded(status: Status, verdict: Verdict) -> bool:
    """Whether this status is held against the code: absent baselines only where they decide.

    So is a failure on both sides, which decides only where it leaves nothing to compare.
    """
    if status == "fails_on_both":
        return verdict.compared == 0
    if status in ("missing_baseline", "unused_baseline"):
        return verdict.exit_code == 4
    return status != "clean"


def answer_lines(answer: ExpectationResult) -> tuple[str, ...]:
    """What an expectation raised, and the values that it saw."""
    seen = [f"{value.expression} = {value.value}" for value in answer.seen[:_MOST_SEEN]]
    if len(answer.seen) > _MOST_SEEN:
        seen.append(f"… {quantities.count(len(answer.seen) - _MOST_SEEN, 'more value')}")
    return (*([answer.error] if answer.error else []), *seen)


def _finding(
    kind: FindingKind,
    text: str,
    *,
    level: Level = "error",
    path: str | None = None,
    variants: tuple[str, ...] = (),
    details: tuple[str, ...] = (),
    place: Place | None = None,
    title: str | None = None,
) -> Finding:
    return Finding(
        kind=kind,
        level=level,
        title=title or _TITLES[kind],
        text=text,
        path=path,
        variants=variants,
        details=details,
        place=place,
    )


def _drifts(verdict: Verdict) -> Iterator[Finding]:
    judged = {
        f"{experiment.name}:{variant.name}"
        for experiment, _, variant in variant_verdicts(verdict)
        if variant.status != "not_comparable"
    }
    for group in said_once(verdict.groups):
        yield _drift(group, held=not judged.isdisjoint(group.variants))


def _drift(group: ChangeGroup, *, held: bool) -> Finding:
    change = group.change
    rule = change.rule
    ours = rule.source == "default" and rule.action == "exact"
    said = f"{change.why}: rule {rule.pattern} = {rule.action} ({rule.source})"
    return _finding(
        "drift",
        change.text,
        level="error" if held else "warning",
        path=change.path,
        variants=group.variants,
        details=() if ours else (said,),
        place=change.place,
    )


def _cuda_text(verdict: Verdict) -> Iterator[Finding]:
    names = cuda_only(verdict)
    if not names:
        return
    changes = (cuda_change(variant) for _, _, variant in variant_verdicts(verdict))
    place = next(change.place for change in changes if change is not None)
    yield _finding("cuda_text", cuda_words(names), level="note", variants=names, place=place)


def _in_passing(verdict: Verdict) -> Iterator[Finding]:
    """What was put aside between two compilers, one note for each kind."""
    notes: tuple[tuple[FindingKind, str | None, tuple[str, ...]], ...] = (
        ("spelled", spelled_words(verdict), spelled_variants(verdict)),
        ("one_sided", one_sided_words(verdict), one_sided_variants(verdict)),
        ("not_asked", not_asked_words(verdict), ()),
    )
    for kind, words, names in notes:
        if words is not None:
            place = Place(file=verdict.experiments[0].file, line=None)
            yield _finding(kind, words, level="note", variants=names, place=place)


def _expectations(verdict: Verdict) -> Iterator[Finding]:
    together: dict[tuple[str, ExpectationResult], list[str]] = {}
    for experiment in verdict.experiments:
        for answer in experiment.expectations:
            together[experiment.name, answer] = []
    for experiment, _, variant in variant_verdicts(verdict):
        for answer in variant.expectations:
            if answer.outcome != "held":
                names = together.setdefault((experiment.name, answer), [])
                names.append(f"{experiment.name}:{variant.name}")
    for (_, answer), names in together.items():
        yield _finding(
            "expectation",
            answer.words,
            variants=tuple(names),
            details=answer_lines(answer),
            place=answer.place,
        )


def _statuses(verdict: Verdict, statuses: Iterable[Status]) -> Iterator[Finding]:
    """One finding for each status, experiment and note: a hundred missing baselines are one."""
    for status in statuses:
        together: dict[tuple[str, str | None], list[tuple[str, VariantVerdict]]] = {}
        files: dict[str, str] = {}
        for experiment, _, variant in variant_verdicts(verdict):
            if variant.status == status:
                files[experiment.name] = experiment.file
                name = f"{experiment.name}:{variant.name}"
                together.setdefault((experiment.name, variant.note), []).append((name, variant))
        for (experiment_name, note), members in together.items():
            kind = _BY_STATUS[status]
            first = members[0][1]
            names = tuple(name for name, _ in members)
            yield _finding(
                kind,
                note or "",
                title=None if verdict.against_compiler is None else _HERE.get(kind),
                level="error" if minded(status, verdict) else "warning",
                variants=names,
                place=first.place or Place(file=files[experiment_name], line=None),
            )
