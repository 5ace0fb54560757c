"""Which baselines does an `accept` change, and how are they written?

Lowers as a check does, then, alone in the folder (a lock), compares again, shows and writes.  What
fails for want of time, memory or its compiler is no property of the code and is never accepted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import stagebench
from stagebench.errors import UsageError
from stagebench.experiment.checking import CheckResult, judge_experiments
from stagebench.experiment.compared_with import Compared, baseline_folder
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.lowered_experiments import Seen, lower_experiments
from stagebench.experiment.project import Project
from stagebench.experiment.sweep import SweepOptions
from stagebench.experiment.sweep_watcher import SweepWatcher
from stagebench.gate.baselines import Accepted
from stagebench.gate.writer import Writing, baseline_files, is_current, locked, write_baselines
from stagebench.model import Compiler, Record
from stagebench.model.verdict import AcceptStep, ExperimentVerdict, VariantVerdict, Verdict

STEPS: tuple[AcceptStep, ...] = ("create", "fix", "trim")
_NOT_THE_CODE = ("timeout", "out_of_memory", "crash", "unreadable_ir", "no_compiler")


class Step(Record, frozen=True, kw_only=True):
    """One baseline that is made, replaced or removed; ``name`` is its folder."""

    experiment: str
    step: AcceptStep
    name: str


class Acceptance(Record, frozen=True, kw_only=True):
    """What an `accept` does: the steps, and the variants that it refuses with the reason."""

    verdict: Verdict
    steps: tuple[Step, ...]
    refused: tuple[tuple[str, str], ...]
    failed_expectations: int


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    steps: tuple[AcceptStep, ...] = STEPS
    reason: str = ""
    dumps: Path | None = None
    snapshots: bool = False
    dry_run: bool = False
    whole: Project | None = None
    compiler: str | None = None
    """That lowers, as after ``--compiler``, instead of this environment's TileLang."""


def run_accept(
    files: Sequence[ExperimentFile],
    request: Request,
    options: SweepOptions,
    watcher: SweepWatcher | None,
    show: Callable[[Acceptance], None],
    tell: Callable[[str], None],
) -> Acceptance:
    """Show what will change, then write it; returns what was done.

    Raises `UsageError` where a reason is missing, before anything is written, and
    `StagebenchError` where the files can't be written; then every old baseline is there as it was.
    """
    compilers = () if request.compiler is None else (request.compiler,)
    compared = Compared(dumps=request.dumps, whole=request.whole, compilers=compilers)
    (lowered,) = lower_experiments(files, compared, options, watcher)
    if request.dry_run:
        acceptance, _ = _prepare(judge_experiments(lowered, compared), request)
        show(acceptance)
        return acceptance
    with contextlib.ExitStack() as locks:  # only now: lowering may have taken minutes
        for root in sorted({baseline_folder(file, request.dumps).parent for file in files}):
            locks.enter_context(locked(root, tell))
        acceptance, writings = _prepare(judge_experiments(lowered, compared), request)
        show(acceptance)
        if any(step.step == "fix" for step in acceptance.steps) and not request.reason:
            raise UsageError(
                "a changed baseline needs a reason, and nothing was written",
                hint='--reason "why the new code is right"',
            )
        write_baselines(writings)
    return acceptance


def _prepare(result: CheckResult, request: Request) -> tuple[Acceptance, list[Writing]]:
    steps: list[Step] = []
    refused: list[tuple[str, str]] = []
    writings: list[Writing] = []
    compiler = result.verdict.compiler
    broken = 0
    verdicts = result.verdict.experiments
    for file, seen, verdict in zip(
        result.lowered.files, result.lowered.seen, verdicts, strict=False
    ):
        root = baseline_folder(file, request.dumps)
        broken += _broken(verdict)
        mine, write, remove = _experiment(root, seen, verdict, request, refused)
        steps += mine
        if mine and compiler is not None:
            accepted = _accepted(mine, request.reason, _lowered_by(seen) or compiler)
            writings.append(Writing(root, write, remove, accepted))
    for verdict in verdicts[len(result.lowered.files) :]:  # of experiments that are gone
        root = _dumps(result, request) / verdict.name
        mine, write, remove = _experiment(root, (), verdict, request, refused)
        steps += mine
        if mine and compiler is not None:
            accepted = _accepted(mine, request.reason, compiler)
            writings.append(Writing(root, write, remove, accepted, gone=True))
    acceptance = Acceptance(
        verdict=result.verdict,
        steps=tuple(steps),
        refused=tuple(refused),
        failed_expectations=broken,
    )
    return acceptance, writings


def _lowered_by(seen: Sequence[Seen]) -> Compiler | None:
    """The compiler of all variants; ``None`` where cases name several, or there is none."""
    compilers = {one.lowering.result.variant.compiler for one in seen}
    return compilers.pop() if len(compilers) == 1 else None


def _dumps(result: CheckResult, request: Request) -> Path:
    if request.dumps is None and request.whole is not None:
        return request.whole.dumps
    return baseline_folder(result.lowered.files[0], request.dumps).parent


def _accepted(steps: Sequence[Step], reason: str, compiler: Compiler) -> Accepted:
    counts = {kind: sum(step.step == kind for step in steps) for kind in STEPS}
    return Accepted(
        reason=reason or "first baselines" if counts["create"] else reason or "trimmed",
        stagebench=stagebench.__version__,
        compiler=compiler,
        created=counts["create"],
        fixed=counts["fix"],
        trimmed=counts["trim"],
    )


def _experiment(
    root: Path,
    seen: Sequence[Seen],
    verdict: ExperimentVerdict,
    request: Request,
    refused: list[tuple[str, str]],
) -> tuple[list[Step], Mapping[str, Mapping[str, bytes]], tuple[str, ...]]:
    """The steps of one experiment with the files to write and the folders to remove."""
    variants = {v.name: v for case in verdict.cases for v in case.variants}
    write: dict[str, Mapping[str, bytes]] = {}
    remove: list[str] = []
    steps: list[Step] = []
    for one in seen:
        name, result = one.planned.name, one.lowering.result
        old = _old_name(variants[name], verdict)
        snapshots = one.lowering.snapshots if request.snapshots else None
        files = baseline_files(result, one.lowering.kernel_cu, snapshots)
        if old == name and is_current(root / name, files) and not request.snapshots:
            continue
        kind: AcceptStep = "create" if old is None else "fix"
        if kind not in request.steps:
            continue
        failure = result.failure
        if failure is not None and failure.kind in _NOT_THE_CODE:
            refused.append((f"{verdict.name}:{name}", failure.message.splitlines()[0]))
            continue
        write[name] = files
        steps.append(Step(experiment=verdict.name, step=kind, name=name))
        if old is not None and old != name:  # it was recorded under another name
            remove.append(old)
    if "trim" in request.steps:
        for variant in variants.values():
            if variant.status == "unused_baseline":
                remove.append(variant.name)
                steps.append(Step(experiment=verdict.name, step="trim", name=variant.name))
    return steps, write, tuple(remove)


def _old_name(variant: VariantVerdict, verdict: ExperimentVerdict) -> str | None:
    if variant.baseline is None:
        return None
    return variant.baseline.removeprefix(f"{verdict.baselines}/")


def _broken(verdict: ExperimentVerdict) -> int:
    results = [
        each for case in verdict.cases for variant in case.variants for each in variant.expectations
    ]
    return sum(each.outcome != "held" for each in (*results, *verdict.expectations))
