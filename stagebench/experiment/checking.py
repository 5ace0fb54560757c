"""Is what the compiler makes of every experiment what was accepted?

All variants of all experiments are lowered in one go (a worker starts once), through the cache,
then held against their baselines.  Nothing is written but the cache.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from stagebench.dump.folder_name import variant_folder
from stagebench.errors import DumpError, UsageError
from stagebench.experiment.check_against_compiler import baselines_of
from stagebench.experiment.definition import Case
from stagebench.experiment.experiment_file import ExperimentFile, shown
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.project import Project
from stagebench.experiment.sweep import (
    DEFAULT_ASSEMBLER,
    SweepOptions,
    SweepPlan,
    SweepWatcher,
    Unwatched,
    expand,
    lowerer,
)
from stagebench.gate.baseline_line import forget_documents
from stagebench.gate.baselines import Baseline, BaselineSet, baseline_folders, read_baselines
from stagebench.gate.expectation import Member, evaluate
from stagebench.gate.judge import judge
from stagebench.gate.matching import match_baselines
from stagebench.gate.policy import Policy, make_policy
from stagebench.gate.revision import unpack_baselines
from stagebench.gate.summary import summarize, worse
from stagebench.lowering.cache import Cache, default_cache_folder
from stagebench.lowering.choose_compilers import NoCompiler, choose_compilers, choose_or_not
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.lowering.compiler_environment import CompilerEnvironment, this_environment
from stagebench.lowering.failure import unresolved_variant
from stagebench.lowering.lower import Limits, Lowering, Part, lower_parts
from stagebench.lowering.overlays import Overlays
from stagebench.model import Compiler, ParamValue, Scalar
from stagebench.model.verdict import (
    CaseVerdict,
    ExpectationResult,
    ExperimentVerdict,
    Place,
    VariantVerdict,
    Verdict,
)
from stagebench.worker.protocol import LowerRequest


@dataclass(frozen=True)
class Compared:
    """With what to compare, and what to let pass.

    One of ``revision`` (baselines of a git revision), ``run`` (a dump directory),
    ``against_compiler`` (what that compiler makes of the same variants) or none of them (the
    working tree's).  ``dumps`` is the folder of baselines instead of the project's, ``compiler``
    lowers instead of this environment's.
    """

    revision: str | None = None
    run: Path | None = None
    against_compiler: str | None = None
    compiler: str | None = None
    dumps: Path | None = None
    only: tuple[str, ...] = ()
    allow_missing: bool = False
    any_compiler: bool = False
    pass_configs: Mapping[str, Scalar] = field(default_factory=dict)
    whole: Project | None = None
    """Its every experiment is checked: baselines that belong to none of them are unused."""


@dataclass(frozen=True)
class Planned:
    """One variant of an experiment that is to be lowered.

    ``name`` is its folder below the experiment's baselines.
    """

    case: Case
    name: str
    request: LowerRequest
    axes: Mapping[str, ParamValue]


@dataclass(frozen=True)
class Seen:
    """A planned variant with what the compiler made of it."""

    planned: Planned
    lowering: Lowering


@dataclass(frozen=True)
class LoweredExperiments:
    """Experiments with what the compiler made of their variants, experiment by experiment."""

    files: tuple[ExperimentFile, ...]
    seen: tuple[tuple[Seen, ...], ...]
    compiler: Compiler
    other: tuple[tuple[Seen, ...], ...] | None = None
    """What the compiler made of them that they are compared with."""
    other_compiler: Compiler | None = None


@dataclass(frozen=True)
class CheckResult:
    """A verdict with what it was made from."""

    verdict: Verdict
    lowered: LoweredExperiments

    @property
    def from_cache(self) -> int:
        """How many variants were not lowered now."""
        return sum(one.lowering.cached for several in self.lowered.seen for one in several)


def run_check(
    files: Sequence[ExperimentFile],
    compared: Compared,
    options: SweepOptions,
    watcher: SweepWatcher | None = None,
) -> CheckResult:
    """Lower, compare and judge.

    Raises `UsageError` for what is wrong with an experiment or the request, `DumpError` for a
    baseline that can't be trusted, before anything is lowered.
    """
    return judge_experiments(lower_experiments(files, compared, options, watcher), compared)


def lower_experiments(
    files: Sequence[ExperimentFile],
    compared: Compared,
    options: SweepOptions,
    watcher: SweepWatcher | None = None,
) -> LoweredExperiments:
    """Lower every variant of all experiments; raises as `run_check` does."""
    environment, other = _compilers(compared, options)
    plans = [plan_variants(file, environment.compiler, compared) for file in files]
    for file in files:  # a bad rule or a damaged baseline is found before minutes are spent
        _policies(file)
        if compared.revision is None and other is None:
            _baselines(file, compared, Path())
    seen = tuple(lower_planned(plans, environment, options, watcher))
    if other is None:
        return LoweredExperiments(tuple(files), seen, environment.compiler)
    then = tuple(lower_planned(plans, other, options, watcher))
    return LoweredExperiments(tuple(files), seen, environment.compiler, then, other.compiler)


def _compilers(
    compared: Compared, options: SweepOptions
) -> tuple[CompilerEnvironment, CompilerEnvironment | None]:
    """With which compiler to lower, and which one's results to compare with."""
    texts = [text for text in (compared.compiler or "tilelang", compared.against_compiler) if text]
    cache_dir = options.cache_dir or default_cache_folder()
    if len(texts) == 1 and compared.compiler is None:
        return this_environment(), None
    found = []
    for one in choose_compilers(texts, cache_dir, options.warn):
        if isinstance(one, NoCompiler):
            raise one.error
        found.append(one)
    return found[0], found[1] if len(found) > 1 else None


def judge_experiments(lowered: LoweredExperiments, compared: Compared) -> CheckResult:
    """Hold what was lowered against the baselines as they are now."""
    forget_documents()
    with tempfile.TemporaryDirectory(prefix="stagebench-") as temporary:
        verdict = _judge_all(lowered, compared, Path(temporary))
    return CheckResult(verdict, lowered)


def _judge_all(lowered: LoweredExperiments, compared: Compared, temporary: Path) -> Verdict:
    if lowered.other is None or lowered.other_compiler is None:
        sets = [_baselines(file, compared, temporary) for file in lowered.files]
    else:
        sets = [
            baselines_of(
                [(one.planned.name, one.lowering) for one in then],
                lowered.other_compiler,
                temporary / str(number),
            )
            for number, then in enumerate(lowered.other)
        ]
    taken: set[str] = set()
    verdicts = [
        judge_experiment(file, variants, _policies(file), known, compared, taken)
        for file, variants, known in zip(lowered.files, lowered.seen, sets, strict=True)
    ]
    if not compared.only:
        spare = [_unused(known, taken) for known in _once(sets)]
        for index, unused in zip(_firsts(sets), spare, strict=True):
            verdicts[index] = _with_unused(verdicts[index], unused, sets[index])
        verdicts += _ownerless(lowered.files, compared)
    return summarize(
        verdicts,
        against=_against(compared, sets),
        compiler=lowered.compiler,
        allow_missing=compared.allow_missing,
        acceptable=not (
            compared.revision
            or compared.run
            or compared.against_compiler
            or compared.compiler
            or compared.pass_configs
        ),
    )


def plan_variants(
    file: ExperimentFile, compiler: Compiler, compared: Compared
) -> tuple[Planned, ...]:
    """Every variant of an experiment; `UsageError` names the experiment.

    With ``only``, the others are lowered too: expectations may look at them.
    """
    cases = file.experiment.cases
    try:
        planned = [one for case in cases for one in _plan(file, case, compiler, compared)]
    except UsageError as exc:
        raise UsageError(f"{file.shown}: {exc.message}", hint=exc.hint) from exc
    names = [one.name for one in planned]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"{file.shown}: two variants have the place {twice} among the baselines",
            hint="give one of their cases a name=",
        )
    return tuple(planned)


def _is_meant(case: Case, compared: Compared) -> bool:
    return not compared.only or case.label in compared.only


def _plan(
    file: ExperimentFile, case: Case, compiler: Compiler, compared: Compared
) -> list[Planned]:
    kernel = parse_kernel(_kernel(case.kernel, file.path.parent))
    plan = SweepPlan(
        kernel=case.kernel,
        num_stages=None,
        archs=case.archs,
        params=case.axes,
        stage_param=case.stage_param,
        pass_configs=case.pass_configs,
    )
    chosen = tuple(sorted(case.params))
    found = []
    for request in expand(plan, kernel, case.depths):
        folder = variant_folder(unresolved_variant(request, compiler), chosen)
        asked = compared.pass_configs if _is_meant(case, compared) else {}
        configs = {**request.pass_configs, **asked}
        axes: dict[str, ParamValue] = {
            "case": case.label,
            "arch": request.arch,
            "num_stages": request.num_stages,
            **request.params,
        }
        found.append(
            Planned(
                case=case,
                name=f"{case.name}/{folder}" if case.name else folder,
                request=msgspec.structs.replace(request, pass_configs=configs),
                axes=axes,
            )
        )
    return found


def _kernel(text: str, folder: Path) -> str:
    """A kernel reference with its path made absolute from the experiment's folder."""
    path, colon, function = text.rpartition(":")
    return f"{folder / Path(path).expanduser()}:{function}" if colon else text


def lower_planned(
    plans: Sequence[Sequence[Planned]],
    environment: CompilerEnvironment,
    options: SweepOptions,
    watcher: SweepWatcher | None,
) -> list[tuple[Seen, ...]]:
    """Lower the variants of all experiments together; results as they were planned."""
    requests = [one.request for plan in plans for one in plan]
    cache = None
    if options.use_cache:
        cache = Cache(options.cache_dir or default_cache_folder(), options.warn)
    limits = Limits(
        jobs=options.jobs or len(os.sched_getaffinity(0)),
        timeout_seconds=options.timeout_seconds,
        memory_bytes=options.memory_limit_bytes,
    )
    told = watcher or Unwatched()
    told.planned(requests)
    cases = [one.case for plan in plans for one in plan]
    parts = _parts(cases, environment, options, limits)
    lowerings = iter(lower_parts(requests, parts, limits, cache, told))
    return [tuple(Seen(one, next(lowerings)) for one in plan) for plan in plans]


def _parts(
    cases: Sequence[Case], environment: CompilerEnvironment, options: SweepOptions, limits: Limits
) -> list[Part]:
    """The requests of each compiler, by the case of every one of them."""
    if any(case.machine for case in cases):
        options = replace(options, assembler=options.assembler or DEFAULT_ASSEMBLER)
    overlays = Overlays(options.cache_dir or default_cache_folder(), options.warn)
    parts = []
    for name in dict.fromkeys(case.compiler for case in cases):
        indices = [index for index, case in enumerate(cases) if case.compiler == name]
        compiler = environment if name is None else choose_or_not(parse_choice(name), overlays)
        assembled = [cases[index].machine for index in indices]
        wanted = replace(options, assembler=options.assembler if any(assembled) else None)
        parts.append(Part(compiler, indices, lowerer(wanted, limits, assembled)))
    return parts


def _policies(file: ExperimentFile) -> dict[str, Policy]:
    """The policy of each case, by its name; every rule is checked now."""
    experiment = file.experiment
    return {
        case.label: make_policy(
            ("experiment", f"{file.shown}, case {case.label}", case.policy),
            ("experiment", file.shown, experiment.policy),
            ("pyproject", "[tool.stagebench.policy]", file.project.settings.policy),
        )
        for case in experiment.cases
    }


def baseline_folder(file: ExperimentFile, dumps: Path | None) -> Path:
    """Where an experiment's baselines are."""
    return (file.project.dumps if dumps is None else dumps) / file.name


def _baselines(file: ExperimentFile, compared: Compared, temporary: Path) -> BaselineSet:
    folder = baseline_folder(file, compared.dumps)
    place = shown(folder, file.project)
    if compared.run is not None:
        run = compared.run
        if not run.is_dir():
            raise DumpError(f"no run at {run}", hint="`stagebench sweep --dump-dir DIR` writes one")
        root = run / file.name if (run / file.name).is_dir() else run
        return read_baselines(root, shown=shown(root, file.project), said=f"run {run}")
    if compared.revision is not None:
        into = temporary / str(len(list(temporary.iterdir())))
        into.mkdir()
        unpack_baselines(file.project.root, folder, compared.revision, into)
        said = f"the baselines of {compared.revision}"
        try:
            return read_baselines(into / file.name, shown=place, said=said)
        except DumpError as exc:
            message = exc.message.replace(str(into / file.name), f"{compared.revision}:{place}")
            hint = "this is how it was committed: compare with another revision"
            raise DumpError(message, hint=hint) from exc
    return read_baselines(folder, shown=place, said=f"the baselines in {place}")


def _against(compared: Compared, sets: Sequence[BaselineSet]) -> str:
    elsewhere = (compared.revision, compared.run, compared.against_compiler)
    if len(sets) == 1 or any(place is not None for place in elsewhere):
        said = sets[0].said
    else:
        said = f"the baselines in {Path(sets[0].shown).parent.as_posix()}"
    configs = ", ".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in compared.pass_configs.items()
    )
    return f"{said}, lowered with {configs}" if configs else said


def judge_experiment(
    file: ExperimentFile,
    seen: Sequence[Seen],
    policies: Mapping[str, Policy],
    known: BaselineSet,
    compared: Compared,
    taken: set[str],
) -> ExperimentVerdict:
    """One experiment against its baselines; adds the folders of those it used to ``taken``."""
    results = [one.lowering.result for one in seen]
    found = match_baselines([one.planned.name for one in seen], results, known.baselines)
    members = [
        Member(one.lowering.result, one.lowering.kernel_cu, one.planned.axes) for one in seen
    ]
    answers, unanswered = evaluate(file.experiment.expectations, members, file.shown)
    by_case: dict[str, list[VariantVerdict]] = {}
    for one, baseline, answer in zip(seen, found, answers, strict=True):
        if not _is_meant(one.planned.case, compared):
            continue
        policy = policies[one.planned.case.label]
        verdict = _variant(one, baseline, answer, policy, known, compared)
        by_case.setdefault(one.planned.case.label, []).append(verdict)
        if baseline is not None:
            taken.add(baseline.dump.folder)
    return ExperimentVerdict(
        name=file.name,
        file=file.shown,
        question=file.experiment.question.strip(),
        baselines=known.shown,
        compared=sum(
            v.baseline is not None and v.status != "not_comparable"
            for several in by_case.values()
            for v in several
        ),
        expectations=unanswered,
        cases=tuple(
            CaseVerdict(name=name, kernel=several[0].variant.kernel, variants=tuple(several))
            for name, several in by_case.items()
        ),
    )


def _variant(
    one: Seen,
    baseline: Baseline | None,
    answers: tuple[ExpectationResult, ...],
    policy: Policy,
    known: BaselineSet,
    compared: Compared,
) -> VariantVerdict:
    result = one.lowering.result
    broken = any(answer.outcome != "held" for answer in answers)
    if baseline is None:
        failure = result.failure
        return VariantVerdict(
            name=one.planned.name,
            variant=result.variant,
            status=worse("expectation_failed", "missing_baseline") if broken
            else "missing_baseline",
            note=f"it fails to lower: {failure.message.splitlines()[0]}" if failure else None,
            baseline=None,
            place=None,
            drifts=(),
            allowed=(),
            expectations=answers,
        )  # fmt: skip
    folder = f"{known.shown}/{baseline.name}"
    judged = judge(
        result,
        one.lowering.kernel_cu,
        baseline,
        policy,
        shown=folder,
        any_compiler=compared.any_compiler or compared.against_compiler is not None,
        asked=frozenset(compared.pass_configs),
    )
    return VariantVerdict(
        name=one.planned.name,
        variant=result.variant,
        status=worse("expectation_failed", judged.status) if broken else judged.status,
        note=judged.note,
        baseline=folder,
        place=Place(file=f"{folder}/variant.json", line=1),
        drifts=judged.drifts,
        allowed=judged.allowed,
        expectations=answers,
    )


# baselines that no variant has


def _firsts(sets: Sequence[BaselineSet]) -> list[int]:
    """The first position of each folder of baselines: several experiments may share a run."""
    roots = [known.root for known in sets]
    return [index for index, root in enumerate(roots) if root not in roots[:index]]


def _once(sets: Sequence[BaselineSet]) -> list[BaselineSet]:
    return [sets[index] for index in _firsts(sets)]


def _unused(known: BaselineSet, taken: set[str]) -> list[Baseline]:
    return [one for one in known.baselines if one.dump.folder not in taken]


def _ownerless(files: Sequence[ExperimentFile], compared: Compared) -> list[ExperimentVerdict]:
    """The baselines of experiments that are not there any more, each set as if it were one."""
    project = compared.whole
    elsewhere = (compared.revision, compared.run, compared.against_compiler)
    if project is None or any(place is not None for place in elsewhere):
        return []
    dumps = project.dumps if compared.dumps is None else compared.dumps
    owned = {baseline_folder(file, compared.dumps).resolve() for file in files}
    verdicts = []
    for folder in baseline_folders(dumps):
        if folder.resolve() in owned or (dumps.parent / f"{folder.name}.py").is_file():
            continue  # the latter: a test module's, beside which its baselines lie
        place = shown(folder, project)
        known = read_baselines(folder, shown=place, said=place)
        empty = ExperimentVerdict(
            name=folder.name, file=place, question="", baselines=place, compared=0,
            expectations=(), cases=(),
        )  # fmt: skip
        if known.baselines:
            note = f"no experiment is called {folder.name}"
            verdicts.append(_with_unused(empty, known.baselines, known, note))
    return verdicts


def _with_unused(
    verdict: ExperimentVerdict,
    unused: Sequence[Baseline],
    known: BaselineSet,
    note: str = "no variant of the experiment is this one",
) -> ExperimentVerdict:
    """The verdict with its unused baselines in the cases of their kernels."""
    cases = {case.name: case for case in verdict.cases}
    for baseline in unused:
        variant = baseline.dump.result.variant
        folder = f"{known.shown}/{baseline.name}"
        lost = VariantVerdict(
            name=baseline.name,
            variant=variant,
            status="unused_baseline",
            note=note,
            baseline=folder,
            place=Place(file=f"{folder}/variant.json", line=1),
            drifts=(),
            allowed=(),
            expectations=(),
        )
        home = next((c for c in cases.values() if c.kernel == variant.kernel), None) or CaseVerdict(
            name=variant.kernel, kernel=variant.kernel, variants=()
        )
        cases[home.name] = msgspec.structs.replace(home, variants=(*home.variants, lost))
    return msgspec.structs.replace(verdict, cases=tuple(cases.values()))
