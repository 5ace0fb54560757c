"""What does the compiler make of every variant of some experiments?

All of them are lowered in one go for each compiler (a worker starts once), through the cache.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stagebench.experiment.compared_with import Compared, baselines_of_file
from stagebench.experiment.definition import Case
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.experiment_policies import experiment_policies
from stagebench.experiment.planned_variants import Planned, plan_variants
from stagebench.experiment.sweep import DEFAULT_ASSEMBLER, SweepOptions, lowerer
from stagebench.experiment.sweep_watcher import SweepWatcher, Unwatched
from stagebench.lowering.cache import Cache
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.choose_compilers import NoCompiler, choose_compilers, choose_or_not
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.lowering.compiler_environment import CompilerEnvironment, this_environment
from stagebench.lowering.lower import Limits, Lowering, Part, lower_parts
from stagebench.lowering.overlays import Overlays
from stagebench.model import Compiler


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
    """That lowers the cases which name none themselves."""
    other: tuple[tuple[Seen, ...], ...] | None = None
    """What the compiler made of them that they are compared with."""
    other_compiler: Compiler | None = None
    alike: frozenset[str] = frozenset()
    """Compilers that cases name and that are the other one: the same on both sides."""


def lower_experiments(
    files: Sequence[ExperimentFile],
    compared: Compared,
    options: SweepOptions,
    watcher: SweepWatcher | None = None,
) -> tuple[LoweredExperiments, ...]:
    """Lower every variant of all experiments, by each compiler that is asked for.

    Raises as `run_check` does.
    """
    environments, other = _compilers(files, compared, options)
    for file in files:  # a bad rule or a damaged baseline is found before minutes are spent
        experiment_policies(file)
        if compared.revision is None and other is None:
            baselines_of_file(file, compared, Path())
    plans = [plan_variants(file, environments[0].compiler, compared) for file in files]
    by_each = [tuple(lower_planned(plans, one, options, watcher)) for one in environments]
    done = [
        LoweredExperiments(tuple(files), seen, one.compiler)
        for one, seen in zip(environments, by_each, strict=True)
    ]
    if other is None:
        return tuple(done)
    then = tuple(lower_planned(plans, other, options, watcher, whatever_cases_name=True))
    alike = _alike(files, other, options)
    return tuple(
        replace(one, other=then, other_compiler=other.compiler, alike=alike) for one in done
    )


def _alike(
    files: Sequence[ExperimentFile], other: CompilerEnvironment, options: SweepOptions
) -> frozenset[str]:
    """Which compilers that cases name are the one that they are compared with."""
    overlays = Overlays(options.cache_dir or default_cache_folder(), options.warn)
    named = {case.compiler for file in files for case in file.experiment.cases}
    return frozenset(
        name for name in named
        if name is not None
        and isinstance(own := choose_or_not(parse_choice(name), overlays), CompilerEnvironment)
        and own.identity == other.identity
    )  # fmt: skip


def _compilers(
    files: Sequence[ExperimentFile], compared: Compared, options: SweepOptions
) -> tuple[list[CompilerEnvironment], CompilerEnvironment | None]:
    """With which compilers to lower, and which one's results to compare with.

    Where every case names its compiler, this environment need not have a TileLang.
    """
    asked = list(compared.compilers)
    named = [case.compiler for file in files for case in file.experiment.cases]
    if not asked and named and named[0] is not None and None not in named:
        asked = [named[0]]
    if not asked and compared.against_compiler is None:
        return [this_environment()], None
    own = asked or ["tilelang"]
    texts = [*own, *([compared.against_compiler] if compared.against_compiler else [])]
    found = []
    for one in choose_compilers(texts, options.cache_dir or default_cache_folder(), options.warn):
        if isinstance(one, NoCompiler):
            raise one.error
        found.append(one)
    return found[: len(own)], found[len(own)] if len(found) > len(own) else None


def lower_planned(
    plans: Sequence[Sequence[Planned]],
    environment: CompilerEnvironment,
    options: SweepOptions,
    watcher: SweepWatcher | None,
    *,
    whatever_cases_name: bool = False,
) -> list[tuple[Seen, ...]]:
    """Lower the variants of all experiments together; results as they were planned.

    ``environment`` lowers the cases that name no compiler, or ``whatever_cases_name``.
    """
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
    own = [None if whatever_cases_name else case.compiler for case in cases]
    parts = _parts(cases, own, environment, options, limits)
    lowerings = iter(lower_parts(requests, parts, limits, cache, told))
    return [tuple(Seen(one, next(lowerings)) for one in plan) for plan in plans]


def _parts(
    cases: Sequence[Case],
    own: Sequence[str | None],
    environment: CompilerEnvironment,
    options: SweepOptions,
    limits: Limits,
) -> list[Part]:
    """The requests of each compiler, by the case of every one of them and the compiler's name."""
    if any(case.machine for case in cases):
        options = replace(options, assembler=options.assembler or DEFAULT_ASSEMBLER)
    overlays = Overlays(options.cache_dir or default_cache_folder(), options.warn)
    parts = []
    for name in dict.fromkeys(own):
        indices = [index for index, one in enumerate(own) if one == name]
        compiler = environment if name is None else choose_or_not(parse_choice(name), overlays)
        assembled = [cases[index].machine for index in indices]
        wanted = replace(options, assembler=options.assembler if any(assembled) else None)
        parts.append(Part(compiler, indices, lowerer(wanted, limits, assembled)))
    return parts
