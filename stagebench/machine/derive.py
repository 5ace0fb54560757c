"""How do PTX, SASS and what the assembler said become the facts of machine code?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stagebench.assemble.records import Assembled, NotAssembled
from stagebench.errors import StagebenchError, UsageError
from stagebench.facts.cuda_records import CudaKernel
from stagebench.facts.cuda_sites import read_cuda
from stagebench.facts.cuda_syntax import CudaSyntaxError
from stagebench.machine.devices import sm_family
from stagebench.machine.frontier import frontier
from stagebench.machine.levels import level_rows
from stagebench.machine.machine_code import machine_code, read_made
from stagebench.machine.matrix_work import has_matrix_work
from stagebench.model import (
    Diagnostic,
    Evidence,
    Facts,
    FrontierPoint,
    MachineCode,
    Toolchain,
    VariantResult,
)


def derive_machine(
    result: VariantResult, kernel_cu: str, made: Assembled, versions: Toolchain
) -> MachineCode:
    """All facts of one assembled variant; ``result`` is lowered.

    Raises `stagebench.errors.StagebenchError` where PTX or SASS can't be read.
    """
    facts, variant = result.facts, result.variant
    if facts is None:
        raise UsageError(f"{variant.kernel} was not lowered: there is nothing to read")
    read = read_made(made, facts.launch)
    cuda = _read_cuda(kernel_cu, facts)
    return machine_code(
        variant.arch,
        facts.launch,
        made,
        versions,
        read,
        levels=level_rows(facts, cuda, read.executed, read.sites, read.walk.cta),
        frontier=_own_first(frontier(facts, variant.num_stages, variant.arch), variant.arch),
        ir=facts.sync_ops,
        notes=tuple(_no_matrix_units(facts, has_matrix_work(read.executed))),
    )


def read_machine(
    result: VariantResult, kernel_cu: str, made: Assembled, versions: Toolchain
) -> MachineCode | Diagnostic:
    """As `derive_machine`; why not, where PTX or SASS can't be read."""
    try:
        return derive_machine(result, kernel_cu, made, versions)
    except StagebenchError as exc:
        return not_read(exc.message)


def not_assembled(made: NotAssembled) -> Diagnostic:
    """Why a variant has no machine code: the compiler's own first line."""
    evidence = []
    if made.cuda_line is not None:
        evidence.append(Evidence(artifact="kernel.cu", line=made.cuda_line))
    if made.ptx_line is not None:
        evidence.append(Evidence(artifact="kernel.ptx", line=made.ptx_line))
    by = {"cuda": "CUDA to PTX", "ptx": "PTX to machine code", "disassembly": "disassembly"}
    return Diagnostic(
        severity="error",
        code="not-assembled",
        message=f"{by[made.step]}: {made.message}",
        evidence=tuple(evidence),
    )


def not_read(message: str) -> Diagnostic:
    """Why a variant that was assembled has no facts of machine code."""
    return Diagnostic(severity="error", code="machine-code-not-read", message=message)


def _read_cuda(kernel_cu: str, facts: Facts) -> CudaKernel | None:
    try:
        kernels = read_cuda(kernel_cu)
    except CudaSyntaxError:  # the facts carry that warning already
        return None
    return next((k for k in kernels if k.function == facts.launch.function), None)


def _own_first(points: Sequence[FrontierPoint], arch: str) -> tuple[FrontierPoint, ...]:
    own = sm_family(arch)
    return tuple(sorted(points, key=lambda point: point.arch != own))


# diagnostics


def _no_matrix_units(facts: Facts, found: bool) -> Iterator[Diagnostic]:
    """Matrix operations without one matrix instruction run on the ordinary cores."""
    asked = [op for op in ("mma_sync", "wgmma", "tcgen05_mma") if op in facts.sync_totals]
    if asked and not found:
        yield Diagnostic(
            severity="warning",
            code="no-matrix-instruction",
            message=f"{asked[0]} in the IR, no matrix instruction in the PTX: it runs on the "
            "ordinary cores",
        )
