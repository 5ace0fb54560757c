"""What does a whole check come to: the exit code, one line for each decision, what to type?"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from stagebench.model import Compiler
from stagebench.model.verdict import (
    AcceptCommand,
    AcceptStep,
    ChangeGroup,
    ExperimentVerdict,
    JudgedChange,
    Status,
    VariantVerdict,
    Verdict,
)

ExitCode = Literal[0, 1, 3, 4]
STATUSES: tuple[Status, ...] = (
    "failed_now", "lowers_now", "drift", "expectation_failed", "not_comparable", "fails_on_both",
    "missing_baseline", "unused_baseline", "clean",
)  # fmt: skip
"""The most serious first."""
_CODES: dict[Status, ExitCode] = {
    "failed_now": 3,
    "lowers_now": 3,
    "drift": 1,
    "expectation_failed": 1,
    "not_comparable": 4,
    "fails_on_both": 0,
    "missing_baseline": 4,
    "unused_baseline": 4,
    "clean": 0,
}
_BY_SEVERITY: tuple[ExitCode, ...] = (3, 1, 4)
STEPS: dict[Status, AcceptStep] = {
    "missing_baseline": "create",
    "drift": "fix",
    "failed_now": "fix",
    "lowers_now": "fix",
    "not_comparable": "fix",
    "unused_baseline": "trim",
}
"""What `accept` would do about a variant."""
_TAKE_BACK = "say why"


def worse(one: Status, two: Status) -> Status:
    """The more serious of two."""
    return min(one, two, key=STATUSES.index)


def summarize(
    experiments: Sequence[ExperimentVerdict],
    *,
    against: str,
    compiler: Compiler | None,
    allow_missing: bool,
    acceptable: bool,
    asked_compiler: str | None = None,
    against_compiler: Compiler | None = None,
    not_asked: tuple[str, ...] = (),
    typed: Mapping[str, str] | None = None,
) -> Verdict:
    """The verdict of all experiments; ``acceptable``: `accept` writes what was compared with.

    ``asked_compiler`` is the value of ``--compiler`` that `accept` needs too; ``against_compiler``
    is who made what was compared with, where that was another compiler, and ``not_asked`` are the
    cases that it was not asked for, in words.  ``typed`` says how to type an experiment's file from
    here, where that is not its ``file``.
    """
    variants = [variant for _, variant in _variants(experiments)]
    counts = {
        status: number
        for status in STATUSES
        if (number := sum(variant.status == status for variant in variants))
    }
    return Verdict(
        exit_code=_exit_code(experiments, variants, allow_missing=allow_missing),
        against=against,
        compiler=compiler,
        compared=sum(experiment.compared for experiment in experiments),
        counts=counts,
        experiments=tuple(experiments),
        groups=_groups(experiments, allowed=False),
        allowed_groups=_groups(experiments, allowed=True),
        accept=_command(experiments, asked_compiler, typed or {}) if acceptable else None,
        against_compiler=against_compiler,
        not_asked=not_asked,
    )


def _exit_code(
    experiments: Iterable[ExperimentVerdict],
    variants: Sequence[VariantVerdict],
    *,
    allow_missing: bool,
) -> ExitCode:
    forgiven = ("missing_baseline", "unused_baseline") if allow_missing else ()
    codes: set[ExitCode] = {
        _CODES[variant.status] for variant in variants if variant.status not in forgiven
    }
    failed = [e.outcome for variant in variants for e in variant.expectations]
    failed += [e.outcome for experiment in experiments for e in experiment.expectations]
    if any(outcome != "held" for outcome in failed):
        codes.add(1)
    if any(variant.drifts and variant.status != "not_comparable" for variant in variants):
        codes.add(1)
    if not any(experiment.compared for experiment in experiments):
        codes.add(4)
    return next((code for code in _BY_SEVERITY if code in codes), 0)


def _variants(
    experiments: Iterable[ExperimentVerdict],
) -> Iterable[tuple[ExperimentVerdict, VariantVerdict]]:
    for experiment in experiments:
        for case in experiment.cases:
            for variant in case.variants:
                yield experiment, variant


def _groups(experiments: Sequence[ExperimentVerdict], *, allowed: bool) -> tuple[ChangeGroup, ...]:
    """Identical changes once; what is more than a consequence first, then the most frequent."""
    found: dict[tuple[object, ...], tuple[JudgedChange, list[str]]] = {}
    for experiment, variant in _variants(experiments):
        for change in variant.allowed if allowed else variant.drifts:
            key = (change.path, change.text, change.left, change.right, change.rule)
            found.setdefault(key, (change, []))[1].append(f"{experiment.name}:{variant.name}")
    groups = [ChangeGroup(change=c, variants=tuple(names)) for c, names in found.values()]
    groups.sort(key=lambda group: (group.change.follows, -len(group.variants)))
    return tuple(groups)


def accept_step(variant: VariantVerdict) -> AcceptStep | None:
    """What `accept` would do about a variant; ``None``: nothing that a check minds."""
    if variant.baseline is None:
        return "create"
    return STEPS.get(variant.status) or ("fix" if variant.drifts else None)


def _command(
    experiments: Sequence[ExperimentVerdict], compiler: str | None, typed: Mapping[str, str]
) -> AcceptCommand | None:
    counts: dict[AcceptStep, int] = {}
    files: dict[str, None] = {}
    ownerless = False
    for experiment, variant in _variants(experiments):
        step = accept_step(variant)
        if step is not None:
            counts[step] = counts.get(step, 0) + 1
            files[typed.get(experiment.file, experiment.file)] = None
            ownerless = ownerless or experiment.file == experiment.baselines
    if ownerless:  # no experiment to name: only an accept of all finds them
        files.clear()
    if not counts:
        return None
    only = ["--only", next(iter(counts))] if len(counts) == 1 else []
    by = [] if compiler is None else ["--compiler", compiler]
    argv = ["stagebench", "accept", *files, *only, *by, "--reason", _TAKE_BACK]
    shell = " ".join(shlex.quote(word) for word in argv[:-1]) + f' "{_TAKE_BACK}"'
    return AcceptCommand(argv=tuple(argv), shell=shell, counts=counts)
