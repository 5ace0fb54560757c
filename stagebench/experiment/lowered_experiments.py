"""What does the compiler make of every variant of some experiments?

All of them are lowered in one go, each variant once by each compiler that has to do with it (a
worker starts once for each), through the cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stagebench.errors import MachineError
from stagebench.experiment.compared_with import Compared, baselines_of_file
from stagebench.experiment.compilers_of_cases import CompilersOfCases, compilers_of_cases
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.experiment_policies import experiment_policies
from stagebench.experiment.planned_variants import Planned, is_meant, plan_variants
from stagebench.experiment.sweep import DEFAULT_ASSEMBLER, SweepOptions, lowerer
from stagebench.experiment.sweep_watcher import SweepWatcher, Unwatched
from stagebench.lowering.cache import Cache
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.choose_compilers import Chosen, NoCompiler, untested_notes
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.lowering.lower import Limits, Lowering, Part, lower_parts
from stagebench.model import Compiler


@dataclass(frozen=True)
class Seen:
    """A planned variant with what the compiler made of it.

    ``judged``: it is to be judged, rather than lowered for expectations that look at it.
    ``itself``: its compiler is the one that it is compared with.
    """

    planned: Planned
    lowering: Lowering
    judged: bool = True
    itself: bool = False


@dataclass(frozen=True)
class LoweredExperiments:
    """Experiments with what the compiler made of their variants, experiment by experiment."""

    files: tuple[ExperimentFile, ...]
    seen: tuple[tuple[Seen, ...], ...]
    compiler: Compiler
    """That lowers the cases which name none themselves."""
    other: tuple[tuple[Seen, ...], ...] | None = None
    """What the compiler made of them that they are compared with; only of what it was asked for."""
    other_compiler: Compiler | None = None
    not_asked: tuple[str, ...] = ()
    """The cases that it was not asked for, in words."""


def lower_experiments(
    files: Sequence[ExperimentFile],
    compared: Compared,
    options: SweepOptions,
    watcher: SweepWatcher | None = None,
) -> tuple[LoweredExperiments, ...]:
    """Lower every variant of all experiments, by each compiler that is asked for.

    Raises as `run_check` does.
    """
    cases = [case for file in files for case in file.experiment.cases]
    by = compilers_of_cases(cases, compared, options)
    for file in files:  # a bad rule or a damaged baseline is found before minutes are spent
        experiment_policies(file)
        if compared.revision is None and by.other is None:
            baselines_of_file(file, compared, Path())
    plans = [plan_variants(file, by.given[0].compiler, compared) for file in files]
    lowered = lower_planned(_jobs(plans, by), options, watcher)
    _tell_untested(lowered, options)
    done = []
    for number, given in enumerate(by.given):
        seen = tuple(
            tuple(_seen(at, plan, by, number, lowered, compared)) for at, plan in enumerate(plans)
        )
        done.append(LoweredExperiments(tuple(files), seen, given.compiler))
    if by.other is None:
        return tuple(done)
    _check_imported(lowered, by.other)
    there = tuple(
        tuple(Seen(one, lowered[_key(at, one, by.other)]) for one in plan if by.is_asked(one.case))
        for at, plan in enumerate(plans)
    )
    meant = [case for case in cases if is_meant(case, compared)]
    return tuple(
        replace(one, other=there, other_compiler=by.other.compiler, not_asked=by.not_asked(meant))
        for one in done
    )


_Key = tuple[int, str, str]
"""An experiment's position, a variant's name, and a compiler's identity."""


def _key(experiment: int, planned: Planned, compiler: Chosen) -> _Key:
    return experiment, planned.name, _identity(compiler)


def _identity(compiler: Chosen) -> str:
    return compiler.error.message if isinstance(compiler, NoCompiler) else compiler.identity


def _jobs(
    plans: Sequence[Sequence[Planned]], by: CompilersOfCases
) -> dict[_Key, tuple[Planned, Chosen]]:
    """Everything that is to be lowered, once, in the order of the turns."""
    found: dict[_Key, tuple[Planned, Chosen]] = {}
    variants = [(at, one) for at, plan in enumerate(plans) for one in plan]
    for number in range(len(by.given)):
        for at, one in variants:
            compiler = by.turn(one.case, number).compiler
            found.setdefault(_key(at, one, compiler), (one, compiler))
    for at, one in variants:
        if by.other is not None and by.is_asked(one.case):
            found.setdefault(_key(at, one, by.other), (one, by.other))
    return found


def _seen(
    experiment: int,
    plan: Sequence[Planned],
    by: CompilersOfCases,
    number: int,
    lowered: dict[_Key, Lowering],
    compared: Compared,
) -> Iterator[Seen]:
    """One experiment's variants in the turn of one compiler."""
    for one in plan:
        turn = by.turn(one.case, number)
        yield Seen(
            one,
            lowered[_key(experiment, one, turn.compiler)],
            judged=turn.judged and is_meant(one.case, compared) and by.is_asked(one.case),
            itself=by.other is not None and _identity(turn.compiler) == by.other.identity,
        )


def lower_planned(
    jobs: dict[_Key, tuple[Planned, Chosen]],
    options: SweepOptions,
    watcher: SweepWatcher | None,
) -> dict[_Key, Lowering]:
    """Lower variants, each by the compiler beside it, those of one compiler together."""
    requests = [planned.request for planned, _ in jobs.values()]
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
    parts = _parts(list(jobs.values()), options, limits)
    return dict(zip(jobs, lower_parts(requests, parts, limits, cache, told), strict=True))


def _parts(
    jobs: Sequence[tuple[Planned, Chosen]], options: SweepOptions, limits: Limits
) -> list[Part]:
    """The requests of each compiler: one worker each, however it was named."""
    if any(planned.case.machine for planned, _ in jobs):
        options = replace(options, assembler=options.assembler or DEFAULT_ASSEMBLER)
    together: dict[str, list[int]] = {}
    for index, (_, compiler) in enumerate(jobs):
        together.setdefault(_identity(compiler), []).append(index)
    parts = []
    for indices in together.values():
        assembled = [jobs[index][0].case.machine for index in indices]
        wanted = replace(options, assembler=options.assembler if any(assembled) else None)
        parts.append(Part(jobs[indices[0]][1], indices, lowerer(wanted, limits, assembled)))
    return parts


def _check_imported(lowered: dict[_Key, Lowering], other: CompilerEnvironment) -> None:
    """Raise `MachineError` where the compiler that is compared with can't be imported."""
    failures = [
        one.result.failure
        for (_, _, identity), one in lowered.items()
        if identity == other.identity
    ]
    lost = [one for one in failures if one is not None and one.kind == "no_compiler"]
    if lost and len(lost) == len(failures):
        raise MachineError(lost[0].message, hint=lost[0].detail)


def _tell_untested(lowered: dict[_Key, Lowering], options: SweepOptions) -> None:
    there = (
        one.result.variant.compiler
        for one in lowered.values()
        if one.result.failure is None or one.result.failure.kind != "no_compiler"
    )
    for note in untested_notes(there):
        options.warn(note)
