"""How does a candidate get its control and probed builds?  What can't be probed travels without."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import NotAssembled
from stagebench.bundle.build import Candidate
from stagebench.bundle.errors import BundleError
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.given_sites import told_without_ir
from stagebench.bundle.launch_plan import resolved_launch
from stagebench.bundle.probe_cache import ProbeCache, ProbedEntry, probe_key
from stagebench.errors import StagebenchError
from stagebench.machine.flags import Flags, flags, not_applied
from stagebench.model import Facts, Launch
from stagebench.model.codec import decode, encode_pretty
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.build import build_probed
from stagebench.probe.layout import DEFAULT_MAX_CTAS


@dataclass(frozen=True)
class Probing:
    """What all candidates are probed with; ``scalars`` resolve a symbolic launch.

    ``ops`` are the waits to time (``None``: all); ``cache`` keeps builds between runs.
    """

    assembler: Assembler
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    max_ctas: int = DEFAULT_MAX_CTAS
    ops: frozenset[str] | None = None
    cache: ProbeCache | None = None


def all_with_probes(
    candidates: Sequence[tuple[Candidate, str]],
    how: Probing,
    warn: Callable[[str], None],
    progress: Callable[[int, int], None] | None = None,
) -> list[Candidate]:
    """Each candidate with three builds for its arch, several at a time; warnings in order."""
    pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="probe")
    try:
        told: list[list[str]] = [[] for _ in candidates]
        waiting = [
            pool.submit(with_probes, one, arch, how, said.append)
            for (one, arch), said in zip(candidates, told, strict=True)
        ]
        found = []
        for index, (future, said) in enumerate(zip(waiting, told, strict=True)):
            if progress is not None:
                progress(index, len(waiting))
            found.append(future.result())
            for text in said:
                warn(text)
        return found
    finally:  # interrupted, it does not wait: the assembler ends what runs
        pool.shutdown(wait=False, cancel_futures=True)


def with_probes(
    candidate: Candidate, arch: str, how: Probing, warn: Callable[[str], None]
) -> Candidate:
    """The candidate with three builds for ``arch``; as it was, with a warning, where that fails."""
    launch, given = candidate.launch, candidate.result
    if launch is None or (candidate.kernel_cu is None and candidate.ptx is None):
        return candidate
    if isinstance(given, GivenKernel) and (given.problem is not None or candidate.ptx is None):
        return candidate  # the bundle says so itself
    variant = given.variant
    depth = "" if variant.num_stages is None else f" num_stages={variant.num_stages}"
    name = f"{variant.kernel} {variant.arch}{depth}"
    nvcc = how.assembler.toolchain.nvcc is not None
    own = Flags((), (), ()) if isinstance(given, GivenKernel) else flags(given, nvcc=nvcc)
    note = not_applied(own, nvcc=nvcc)
    if note is not None:
        warn(f"{name}: {note.message}")
    try:
        entry = _entry(candidate, launch, arch, how, own)
    except BundleError:  # a size has no value: the bundle says so itself
        return candidate
    except StagebenchError as exc:
        hint = "" if exc.hint is None else f" ({exc.hint})"
        warn(f"{name}: no probes: {exc.message}{hint}")
        return candidate
    if entry is None:
        return candidate  # it does not assemble
    if how.ops is not None and not decode(entry.metadata, ProbeMetadata, "probe metadata").sites:
        warn(f"{name}: no probes: it has no {' and no '.join(sorted(how.ops))}")
        return candidate
    for finding in entry.audit.serious:
        warn(f"{name}: audit of the {finding.build} build: {finding.message}")
    return _with(candidate, arch, entry)


def _entry(
    candidate: Candidate, launch: Launch, arch: str, how: Probing, own: Flags
) -> ProbedEntry | None:
    """The builds, kept or made; ``None`` where the kernel does not assemble at all."""
    scalars = {**how.scalars, **candidate.scalars}
    ops = None if how.ops is None else sorted(how.ops)
    key = probe_key(
        candidate, arch, scalars, how.max_ctas, ops, own.cuda, own.ptxas,
        how.assembler.toolchain.identity,
    )  # fmt: skip
    entry = None if how.cache is None else how.cache.get(key)
    if entry is None:
        entry = _built(candidate, resolved_launch(launch, scalars), arch, how, own)
        if entry is not None and how.cache is not None:
            how.cache.put(key, entry)
    return entry


def _built(
    candidate: Candidate, launch: Launch, arch: str, how: Probing, own: Flags
) -> ProbedEntry | None:
    given, ptx = candidate.result, candidate.ptx
    facts: Facts | None = None if isinstance(given, GivenKernel) else given.facts
    if ptx is None:
        compiled = how.assembler.submit(
            candidate.kernel_cu or "", given.variant.arch, launch.function,
            cuda_flags=own.cuda, ptxas_flags=own.ptxas,
        ).result()  # fmt: skip
        if isinstance(compiled, NotAssembled):
            return None  # it does not assemble
        ptx = compiled.ptx
    values = {**how.scalars, **candidate.scalars}
    built = build_probed(
        ptx, arch, launch, facts, assembler=how.assembler, scalars=_integers(launch, values),
        max_ctas=how.max_ctas, ops=how.ops, ptxas_flags=own.ptxas,
    )  # fmt: skip
    metadata = built.metadata
    if isinstance(given, GivenKernel):
        metadata = told_without_ir(metadata, given, ptx)
    return ProbedEntry(
        ptx=ptx,
        cubins={
            "base": built.base.cubin,
            "control": built.control.cubin,
            "probed": built.probed.cubin,
        },
        metadata=encode_pretty(metadata),
        audit=built.audit,
    )


def _integers(launch: Launch, values: Mapping[str, int | float]) -> dict[str, int]:
    """The scalar arguments of the launch that a walk of the PTX can follow."""
    return {
        param.name: int(values[param.name])
        for param in launch.params
        if param.kind == "scalar"
        and not param.dtype.startswith(("float", "bfloat"))
        and param.name in values
    }


def _with(candidate: Candidate, arch: str, entry: ProbedEntry) -> Candidate:
    own = arch == candidate.result.variant.arch
    return replace(
        candidate,
        ptx=entry.ptx,
        cubin=entry.cubins["base"] if own else None,
        extra_cubins={kind: entry.cubins[kind] for kind in ("control", "probed")},
        probe=entry.metadata,
        audit=entry.audit,
    )
