"""What happens to a kernel over every combination of depth, arch and parameters?

The Python API behind ``stagebench sweep``; the records are those of ``--json``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.dump.directory import DumpDirectory
from stagebench.errors import UsageError
from stagebench.experiment.argument_names import speaking_of_arguments
from stagebench.experiment.default_axes import DEFAULT_ARCHS
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.sweep_dumps import Dumping, finish_dumps
from stagebench.experiment.sweep_plan import (
    SweepPlan,
    expand,
)
from stagebench.experiment.sweep_watcher import SweepWatcher, Unwatched
from stagebench.lowering.cache import Cache
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.choose_compilers import choose_compilers, untested_notes
from stagebench.lowering.kept_worker import KeptWorker
from stagebench.lowering.lower import (
    Limits,
    LowerFunction,
    NoDepthParameterError,
    lower_all,
    lower_with_each,
)
from stagebench.model import ParamValue, Run, Scalar
from stagebench.worker.protocol import TIR_PIPELINE

DEFAULT_TIMEOUT_SECONDS = 300.0
DEFAULT_ASSEMBLER = "nvrtc"


def _ignore(message: str) -> None:
    del message


@dataclass(frozen=True)
class SweepOptions:
    """How to sweep: what may be used, and where results are kept.

    ``dump_dir`` is ``None`` for no dumps; ``cache_dir`` is where results of earlier runs lie,
    ``use_cache=False`` neither reads nor writes them.  ``jobs`` is the number of variants that are
    lowered at the same time (``None``: one per usable core).  ``assembler`` is ``None`` where no
    machine code is wanted, else with what it is made (`stagebench.assemble.toolchain`).  ``worker``
    stays for the next sweep with these options; ``None``: each has a worker of its own.
    """

    dump_dir: Path | None = None
    use_cache: bool = True
    cache_dir: Path | None = None
    jobs: int | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    memory_limit_bytes: int | None = None
    assembler: str | None = None
    warn: Callable[[str], None] = _ignore
    worker: KeptWorker | None = None


@dataclass(frozen=True)
class SweepResult:
    """A run with what is not part of its identity.

    ``kernel_cus``, ``dump_folders`` and ``seconds`` (of lowering) run along ``run.variants``
    (``None``: failed, or no dumps).
    """

    run: Run
    kernel_cus: tuple[str | None, ...]
    dump_folders: tuple[str | None, ...]
    seconds: tuple[float | None, ...]
    from_cache: int
    notes: tuple[str, ...]


def run_sweep(
    plan: SweepPlan, options: SweepOptions, watcher: SweepWatcher | None = None
) -> SweepResult:
    """Lower every combination of the plan's axes.

    Raises `UsageError` for what is wrong with the plan and `MachineError` for what is missing on
    the machine; what goes wrong in a variant is in its result.
    """
    kernel = parse_kernel(plan.kernel)
    cache_dir = options.cache_dir or default_cache_folder()
    compilers = choose_compilers(plan.compilers, cache_dir, options.warn)
    if TIR_PIPELINE in plan.pass_configs and all(c.compiler.name != "tvm" for c in compilers):
        raise UsageError(
            "--pipeline chooses Apache TVM's passes, and no compiler here is Apache TVM",
            hint="add --compiler tvm",
        )
    chosen = tuple(sorted(plan.params))
    directory = None
    if options.dump_dir is not None:
        directory = DumpDirectory(options.dump_dir, by_compiler=len(compilers) > 1)
        directory.check_writable()
    cache = None
    if options.use_cache:
        cache = Cache(cache_dir, options.warn)
    limits = Limits(
        jobs=_jobs(options.jobs),
        timeout_seconds=options.timeout_seconds,
        memory_bytes=options.memory_limit_bytes,
        worker=options.worker,
    )
    folders: dict[int, str] = {}
    dumping = Dumping(watcher or Unwatched(), directory, chosen, folders)
    notes: tuple[str, ...] = ()
    depths = plan.default_num_stages if plan.num_stages is None else plan.num_stages
    requests = expand(plan, kernel, depths)
    dumping.planned(requests * len(compilers))
    lower = lowerer(options, limits)
    try:
        lowerings = lower_with_each(requests, compilers, limits, cache, dumping, lower)
    except NoDepthParameterError as exc:
        if plan.num_stages is not None:
            raise
        notes = (f"{exc.message}: lowered as written",)
        lowerings = []  # none of them saw a kernel
    if plan.num_stages is None and all(one.kernel_unseen for one in lowerings):
        requests = expand(plan, kernel, (None,))  # a depth that nobody asked for is not invented
        dumping.planned(requests * len(compilers))
        lowerings = lower_with_each(requests, compilers, limits, cache, dumping, lower)
    if directory is not None:
        finish_dumps(directory, lowerings, folders)
    results = [lowering.result for lowering in lowerings]
    there = (
        one.variant.compiler
        for one in results
        if one.failure is None or one.failure.kind != "no_compiler"
    )
    for note in untested_notes(there):
        options.warn(note)
    return SweepResult(
        run=Run(variants=tuple(results)),
        kernel_cus=tuple(lowering.kernel_cu for lowering in lowerings),
        dump_folders=tuple(folders.get(index) for index in range(len(lowerings))),
        seconds=tuple(lowering.times.lower if lowering.times else None for lowering in lowerings),
        from_cache=sum(lowering.cached for lowering in lowerings),
        notes=notes,
    )


def lowerer(
    options: SweepOptions, limits: Limits, wanted: Sequence[bool] | None = None
) -> LowerFunction:
    """How to lower: alone, or with the assembly of each variant beside it.

    ``wanted`` says for each request whether it is to be assembled (``None``: all are).  Raises
    `MachineError` where what the assembly needs is missing.
    """
    if options.assembler is None:
        return lower_all
    from stagebench.machine.lower import MachineOptions, machine_lowerer

    return machine_lowerer(
        MachineOptions(
            assembler=options.assembler,
            jobs=limits.jobs,
            timeout_seconds=options.timeout_seconds,
            cache_folder=(options.cache_dir or default_cache_folder())
            if options.use_cache
            else None,
            warn=options.warn,
        ),
        wanted,
    )


def with_seconds(result: SweepResult) -> Run:
    """The run with the time that each variant's lowering took, which differs from run to run."""
    variants = []
    for variant, seconds in zip(result.run.variants, result.seconds, strict=True):
        if variant.facts is not None:
            cost = msgspec.structs.replace(variant.facts.lowering, seconds=seconds)
            facts = msgspec.structs.replace(variant.facts, lowering=cost)
            variant = msgspec.structs.replace(variant, facts=facts)  # noqa: PLW2901 - a copy
        variants.append(variant)
    return Run(variants=tuple(variants))


def sweep(  # noqa: PLR0913 - keyword-only: one name for each of the command's options
    kernel: str = "gemm",
    *,
    num_stages: int | Sequence[int] | None = None,
    arch: str | Sequence[str] = DEFAULT_ARCHS,
    params: Mapping[str, ParamValue | list[ParamValue]] | None = None,
    stage_param: str | None = None,
    pass_configs: Mapping[str, Scalar] | None = None,
    compilers: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    dump_dir: str | os.PathLike[str] | None = None,
    cache: bool = True,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
    machine: bool = False,
    assembler: str = DEFAULT_ASSEMBLER,
) -> Run:
    """Lower ``kernel`` over every combination of the axes and return the facts of each variant.

    ``kernel`` is a built-in's name or ``path/to/file.py:function``.  In ``params`` a list is an
    axis, anything else (a tuple too) one value; of the other axes one value may stand alone.
    ``compilers`` are releases and places
    (``tilelang==0.1.14``, ``/path/to/venv``), none for this environment's.  ``timeout`` is in
    seconds, for each variant.  With ``machine`` each variant is assembled, by ``assembler``
    (``nvrtc``, ``nvcc`` or a path).

    Raises `stagebench.errors.UsageError` where the request is wrong.  A variant that fails is a
    result with ``outcome == "failed"``.
    """
    plan = SweepPlan(
        kernel=kernel,
        num_stages=_depths(num_stages),
        archs=(arch,) if isinstance(arch, str) else tuple(arch),
        params={
            name: tuple(value) if isinstance(value, list) else (value,)
            for name, value in (params or {}).items()
        },
        stage_param=stage_param,
        pass_configs=dict(pass_configs or {}),
        compilers=_places(compilers),
    )
    options = SweepOptions(
        dump_dir=None if dump_dir is None else Path(dump_dir),
        use_cache=cache,
        jobs=jobs,
        timeout_seconds=timeout,
        assembler=assembler if machine else None,
    )
    with speaking_of_arguments():
        return run_sweep(plan, options).run


def _depths(asked: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if asked is None:
        return None
    return (asked,) if isinstance(asked, int) else tuple(asked)


def _places(
    asked: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
) -> tuple[str, ...]:
    if isinstance(asked, str | os.PathLike):
        return (os.fspath(asked),)
    return tuple(os.fspath(one) for one in asked or ())


def _jobs(asked: int | None) -> int:
    if asked is not None:
        if asked < 1:
            raise UsageError(f"--jobs {asked}: at least one")
        return asked
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
