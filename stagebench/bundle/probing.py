"""How does a candidate get its control and probed builds?  What can't be probed travels without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import NotAssembled
from stagebench.bundle.build import Candidate
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.given_sites import told_without_ir
from stagebench.errors import StagebenchError
from stagebench.machine.flags import flags, not_applied
from stagebench.model.codec import encode_pretty
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.audit_records import Audit
from stagebench.probe.build import ProbedBuild, build_probed
from stagebench.probe.layout import DEFAULT_MAX_CTAS


def with_probes(
    candidate: Candidate,
    arch: str,
    assembler: Assembler,
    warn: Callable[[str], None],
    *,
    max_ctas: int = DEFAULT_MAX_CTAS,
    ops: frozenset[str] | None = None,
) -> Candidate:
    """The candidate with three builds for ``arch``; as it was, with a warning, where that fails."""
    if isinstance(candidate.result, GivenKernel):
        return _given(candidate, candidate.result, arch, assembler, warn, max_ctas, ops)
    facts = candidate.result.facts
    if facts is None or candidate.kernel_cu is None:
        return candidate
    variant = candidate.result.variant
    name = f"{variant.kernel} {variant.arch} num_stages={variant.num_stages}"
    nvcc = assembler.toolchain.nvcc is not None
    own = flags(candidate.result, nvcc=nvcc)
    note = not_applied(own, nvcc=nvcc)
    if note is not None:
        warn(f"{name}: {note.message}")
    try:
        ptx = candidate.ptx
        if ptx is None:
            compiled = assembler.submit(
                candidate.kernel_cu, variant.arch, facts.launch.function,
                cuda_flags=own.cuda, ptxas_flags=own.ptxas,
            ).result()  # fmt: skip
            if isinstance(compiled, NotAssembled):
                return candidate  # the bundle says so itself
            ptx = compiled.ptx
        built = build_probed(
            ptx, arch, facts.launch, facts, assembler=assembler, max_ctas=max_ctas, ops=ops,
            ptxas_flags=own.ptxas,
        )  # fmt: skip
    except StagebenchError as exc:
        warn(f"{name}: no probes: {exc.message}")
        return candidate
    for said in _findings(built.audit):
        warn(f"{name}: {said}")
    return _with(candidate, ptx, arch, built, built.metadata)


def _given(
    candidate: Candidate,
    given: GivenKernel,
    arch: str,
    assembler: Assembler,
    warn: Callable[[str], None],
    max_ctas: int,
    ops: frozenset[str] | None,
) -> Candidate:
    """The same without facts; the walk knows the scalar arguments of the launch plan."""
    if candidate.ptx is None or given.problem is not None:
        return candidate  # the bundle says so itself
    variant = given.variant
    name = f"{variant.kernel} {variant.arch} num_stages={variant.num_stages}"
    try:
        built = build_probed(
            candidate.ptx, arch, given.launch, assembler=assembler, scalars=given.integers,
            max_ctas=max_ctas, ops=ops,
        )  # fmt: skip
    except StagebenchError as exc:
        warn(f"{name}: no probes: {exc.message}")
        return candidate
    for said in _findings(built.audit):
        warn(f"{name}: {said}")
    return _with(candidate, candidate.ptx, arch, built, told_without_ir(built.metadata, given))


def _with(
    candidate: Candidate, ptx: str, arch: str, built: ProbedBuild, metadata: ProbeMetadata
) -> Candidate:
    own = arch == candidate.result.variant.arch
    return replace(
        candidate,
        ptx=ptx,
        cubin=built.base.cubin if own else None,
        extra_cubins={"control": built.control.cubin, "probed": built.probed.cubin},
        probe=encode_pretty(metadata),
        audit=built.audit,
    )


def _findings(audit: Audit) -> list[str]:
    return [f"audit: {finding.message}" for finding in audit.findings if not finding.note]
