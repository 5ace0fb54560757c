"""How do an adapter's observation and the generated CUDA become the facts of schema 1?"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stagebench.facts import reconcile
from stagebench.facts.arch_ops import not_on_arch
from stagebench.facts.barriers import barriers
from stagebench.facts.buffers import shared_buffers
from stagebench.facts.cuda_sites import CudaKernel, read_cuda
from stagebench.facts.cuda_syntax import CudaSyntaxError
from stagebench.facts.diagnostics import diagnose
from stagebench.facts.execution_notes import execution_notes
from stagebench.facts.launch import launch
from stagebench.facts.lines import with_lines
from stagebench.facts.pipeline import pipeline_loops
from stagebench.facts.profilers import profiler_diagnostics
from stagebench.facts.roles import assign_roles
from stagebench.facts.sections import assign_sections
from stagebench.facts.shared_memory import shared_memory
from stagebench.facts.sync import sync_ops, sync_totals
from stagebench.model import Diagnostic, Facts, LoweringCost, Observation


def derive_facts(
    observation: Observation,
    kernel_cu: str,
    *,
    arch: str,
    num_stages: int | None,
    notes: Sequence[Diagnostic] = (),
) -> Facts:
    """Derive all facts; ``notes`` are diagnostics that came up before (loading the kernel)."""
    observation = with_lines(observation)
    cuda, disagreements = _read(kernel_cu, observation.kernel.function)
    observation = _without_known_functions(observation, cuda)
    kernel = observation.kernel
    if cuda is not None:
        disagreements = reconcile.reconcile(kernel, cuda)
    roles = assign_roles(kernel.sites)
    requested = frozenset(seen.loop_var for seen in observation.requests)
    sections = assign_sections(kernel, requested, roles)
    lines = reconcile.pair_lines(kernel, cuda) if cuda else (None,) * len(kernel.sites)
    buffers = shared_buffers(observation)
    loops = pipeline_loops(observation, buffers)
    smem = shared_memory(observation, buffers, arch=arch, num_stages=num_stages)
    rings = barriers(observation, roles)
    ops = sync_ops(observation, roles, sections, lines)
    return Facts(
        pipeline_loops=loops,
        shared_buffers=buffers,
        shared_memory=smem,
        barriers=rings,
        sync_ops=ops,
        sync_totals=sync_totals(ops),
        launch=launch(observation),
        machine=None,
        diagnostics=(
            *not_on_arch(ops, arch),
            *diagnose(observation, loops, buffers, smem, rings, ops),
            *profiler_diagnostics(kernel),
            *execution_notes(kernel),
            *disagreements,
            *notes,
        ),
        lowering=LoweringCost(seconds=None, passes=observation.passes),
    )


def _without_known_functions(observation: Observation, cuda: CudaKernel | None) -> Observation:
    """Drop unknown calls of functions that the CUDA text itself defines: it says what they do."""
    names = {f"unknown:{name}" for name in (cuda.device_functions if cuda else ())}
    kernel = observation.kernel
    kept = [index for index, site in enumerate(kernel.sites) if site.op not in names]
    if len(kept) == len(kernel.sites):
        return observation
    before = [sum(1 for k in kept if k < index) for index in range(len(kernel.sites) + 1)]
    loops = tuple(
        msgspec.structs.replace(loop, start=before[loop.start], end=before[loop.end])
        for loop in kernel.loops
    )
    sites = tuple(kernel.sites[index] for index in kept)
    return msgspec.structs.replace(
        observation, kernel=msgspec.structs.replace(kernel, sites=sites, loops=loops)
    )


def _read(source: str, function: str) -> tuple[CudaKernel | None, tuple[Diagnostic, ...]]:
    """The kernel of that name in the CUDA text, or a diagnostic that says why there is none."""
    try:
        kernels = read_cuda(source)
    except CudaSyntaxError as exc:
        return None, (_unreadable(exc.message),)
    for kernel in kernels:
        if kernel.function == function:
            return kernel, ()
    names = ", ".join(kernel.function for kernel in kernels) or "none"
    return None, (_unreadable(f"no kernel {function} in the generated CUDA (found: {names})"),)


def _unreadable(message: str) -> Diagnostic:
    return Diagnostic(
        severity="warning",
        code="cuda-not-read",
        message=f"counts of the device IR are not confirmed by the generated CUDA: {message}",
    )
