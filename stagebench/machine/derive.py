"""How do PTX, SASS and what the assembler said become the facts of machine code?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stagebench.assemble.records import Assembled, AssemblerMessage, NotAssembled
from stagebench.errors import StagebenchError, UsageError
from stagebench.facts.cuda_records import CudaKernel
from stagebench.facts.cuda_sites import read_cuda
from stagebench.facts.cuda_syntax import CudaSyntaxError
from stagebench.machine.arithmetic import arithmetic
from stagebench.machine.devices import sm_family
from stagebench.machine.frontier import frontier
from stagebench.machine.grid_work import grid_work
from stagebench.machine.levels import level_rows
from stagebench.machine.matrix_work import (
    has_matrix_work,
    integer_grid,
    matrix_work,
    traffic,
)
from stagebench.machine.occupancy import occupancy
from stagebench.machine.ptx_walk import walk_kernel
from stagebench.machine.sites import machine_sites
from stagebench.model import (
    Diagnostic,
    Evidence,
    Facts,
    FrontierPoint,
    LevelCount,
    LevelRow,
    MachineCode,
    Resources,
    RoleRegisters,
    Toolchain,
    VariantResult,
)
from stagebench.ptx.by_statement import executed_by_statement, op_totals
from stagebench.ptx.read import read_module
from stagebench.ptx.walk_facts import walk_facts
from stagebench.sass.control_flow import control_flow
from stagebench.sass.histogram import opcode_histogram
from stagebench.sass.overlap import overlap_windows
from stagebench.sass.read import read_sass
from stagebench.sass.registers import role_registers
from stagebench.sass.sites import SassSite, site_totals
from stagebench.sass.sites import sync_sites as sass_sites


def derive_machine(
    result: VariantResult, kernel_cu: str, made: Assembled, versions: Toolchain
) -> MachineCode:
    """All facts of one assembled variant; ``result`` is lowered.

    Raises `stagebench.errors.StagebenchError` where PTX or SASS can't be read.
    """
    facts = result.facts
    if facts is None:
        raise UsageError(f"{result.variant.kernel} was not lowered: there is nothing to read")
    module = read_module(made.ptx)
    walked = walk_kernel(module, facts)
    walk = walk_facts(walked.execution, walked.box_bytes)
    executed = executed_by_statement(walked.execution)
    sass = read_sass(made.sass, facts.launch.function)
    flow = control_flow(sass)
    sites = sass_sites(flow, {line: one.op for one in executed for line in one.ptx_lines})
    levels = level_rows(facts, _read_cuda(kernel_cu, facts), executed, sites, walk.cta)
    resources = _resources(made, role_registers(flow))
    grid = grid_work(walked.execution, integer_grid(facts.launch), walked.box_bytes)
    threads = _threads(facts)
    return MachineCode(
        toolchain=versions,
        registers=resources.registers,
        spill_bytes=resources.spill_store_bytes + resources.spill_load_bytes,
        barriers=resources.barriers,
        resources=resources,
        occupancy=None
        if threads is None
        else occupancy(
            result.variant.arch,
            threads,
            resources.registers,
            resources.static_smem_bytes,
            facts.launch.dynamic_smem_bytes,
            barriers=resources.barriers,
        ),
        frontier=_own_first(frontier(facts, result.variant.num_stages), result.variant.arch),
        sync_ptx=op_totals(executed),
        sync_sass=_sass_totals(sites),
        sites=machine_sites(executed, sites, facts.sync_ops),
        walk=walk,
        levels=levels,
        arithmetic=arithmetic(
            result.variant.arch,
            matrix_work(walked.execution),
            grid.executed,
            traffic(facts.launch, grid.moved_bytes),
        ),
        overlap=overlap_windows(flow, sites),
        histogram=opcode_histogram(sass),
        unknown_opcodes=tuple(sorted({*module.unknown_opcodes, *sass.unknown_opcodes})),
        diagnostics=(
            *map(_said, made.messages),
            *walked.notes,
            *_spills(resources),
            *_no_matrix_units(facts, has_matrix_work(executed)),
            *_unexplained(levels),
        ),
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


def _threads(facts: Facts) -> int | None:
    product = 1
    for extent in facts.launch.block:
        if not isinstance(extent, int):
            return None
        product *= extent
    return product


def _resources(made: Assembled, roles: Sequence[RoleRegisters]) -> Resources:
    said = made.resources
    return Resources(
        registers=said.registers,
        spill_store_bytes=said.spill_store_bytes,
        spill_load_bytes=said.spill_load_bytes,
        stack_bytes=said.stack_bytes,
        static_smem_bytes=said.static_smem_bytes,
        barriers=said.barriers,
        code_bytes=said.code_bytes,
        role_registers=tuple(roles),
    )


def _own_first(points: Sequence[FrontierPoint], arch: str) -> tuple[FrontierPoint, ...]:
    own = sm_family(arch)
    return tuple(sorted(points, key=lambda point: point.arch != own))


def _sass_totals(sites: Sequence[SassSite]) -> dict[str, LevelCount]:
    """Instructions by op.  How often they are executed is not known: SASS is not walked."""
    totals = site_totals(sites)
    return {op: LevelCount(static=count, executed=None) for op, count in totals.items()}


# diagnostics


def _said(message: AssemblerMessage) -> Diagnostic:
    evidence = []
    if message.cuda_line is not None:
        evidence.append(Evidence(artifact="kernel.cu", line=message.cuda_line))
    if message.ptx_line is not None:
        evidence.append(Evidence(artifact="kernel.ptx", line=message.ptx_line))
    code = f" ({message.code})" if message.code else ""
    return Diagnostic(
        severity="warning" if message.severity == "warning" or message.code else "note",
        code=message.name,
        message=message.text + code,
        evidence=tuple(evidence),
    )


def _spills(resources: Resources) -> Iterator[Diagnostic]:
    if resources.spill_store_bytes or resources.spill_load_bytes:
        yield Diagnostic(
            severity="warning",
            code="spills",
            message=f"{resources.spill_store_bytes} bytes of spill stores and "
            f"{resources.spill_load_bytes} of spill loads for each thread",
        )


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


def _unexplained(levels: Sequence[LevelRow]) -> Iterator[Diagnostic]:
    for row in levels:
        if not row.agreed:
            yield Diagnostic(
                severity="warning",
                code="levels-disagree",
                message=f"{row.op}: {'; '.join(row.explanations)}",
            )
