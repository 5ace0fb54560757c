"""How does a candidate get its control and probed builds?  What can't be probed travels without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import NotAssembled
from stagebench.bundle.build import Candidate
from stagebench.errors import StagebenchError
from stagebench.machine.flags import flags, not_applied
from stagebench.model.codec import encode_pretty
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
    return _with(candidate, ptx, arch, built)


def _with(candidate: Candidate, ptx: str, arch: str, built: ProbedBuild) -> Candidate:
    own = arch == candidate.result.variant.arch
    return replace(
        candidate,
        ptx=ptx,
        cubin=built.base.cubin if own else None,
        extra_cubins={"control": built.control.cubin, "probed": built.probed.cubin},
        probe=encode_pretty(built.metadata),
    )


def _findings(audit: Audit) -> list[str]:
    return [f"audit: {finding.message}" for finding in audit.findings if not finding.note]
