"""What do PTX, SASS and the assembler's own words say of a kernel, whoever made it?

`stagebench.machine.derive` adds what an IR has to say; a kernel that came with a launch plan has
none (`derive_given`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stagebench.assemble.records import Assembled, AssemblerMessage, MachineText
from stagebench.machine.arithmetic import arithmetic
from stagebench.machine.grid_work import grid_work
from stagebench.machine.levels import ptx_and_sass_rows
from stagebench.machine.matrix_work import integer_grid, matrix_work, traffic
from stagebench.machine.occupancy import occupancy
from stagebench.machine.ptx_walk import Walked, walk_kernel
from stagebench.machine.sites import machine_sites
from stagebench.model import (
    Diagnostic,
    Evidence,
    FrontierPoint,
    Launch,
    LevelCount,
    LevelRow,
    MachineCode,
    Resources,
    RoleRegisters,
    SyncOp,
    Toolchain,
    Walk,
)
from stagebench.ptx.by_statement import Executed, executed_by_statement, op_totals
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Module
from stagebench.ptx.source_frames import by_hand
from stagebench.ptx.walk_facts import walk_facts
from stagebench.sass.control_flow import ControlFlow, control_flow
from stagebench.sass.histogram import opcode_histogram
from stagebench.sass.overlap import overlap_windows
from stagebench.sass.program import SassFunction
from stagebench.sass.read import read_sass
from stagebench.sass.registers import role_registers
from stagebench.sass.sites import SassSite, site_totals
from stagebench.sass.sites import sync_sites as sass_sites


@dataclass(frozen=True)
class ReadCode:
    """PTX and SASS of one kernel as they were read, and the walk of the PTX."""

    module: Module
    walked: Walked
    walk: Walk
    executed: Sequence[Executed]
    sass: SassFunction
    flow: ControlFlow
    sites: Sequence[SassSite]


def read_made(
    made: Assembled | MachineText,
    launch: Launch,
    scalars: Mapping[str, int] | None = None,
    *,
    written_by_hand: bool = False,
) -> ReadCode:
    """Read what was assembled; ``scalars`` are arguments whose values the launch fixes.

    Of a source that was ``written_by_hand`` lines may be those of inlined functions.

    Raises `stagebench.errors.StagebenchError` where PTX or SASS can't be read.
    """
    module = read_module(made.ptx)
    if written_by_hand:
        module = by_hand(module)
    walked = walk_kernel(module, launch, scalars or {})
    executed = executed_by_statement(walked.execution)
    sass = read_sass(made.sass, launch.function)
    flow = control_flow(sass)
    return ReadCode(
        module=module,
        walked=walked,
        walk=walk_facts(walked.execution, walked.box_bytes),
        executed=executed,
        sass=sass,
        flow=flow,
        sites=sass_sites(flow, {line: one.op for one in executed for line in one.ptx_lines}),
    )


def machine_code(
    arch: str,
    launch: Launch,
    made: Assembled | MachineText,
    versions: Toolchain,
    read: ReadCode,
    *,
    levels: Sequence[LevelRow],
    frontier: tuple[FrontierPoint, ...],
    ir: Sequence[SyncOp],
    notes: tuple[Diagnostic, ...],
) -> MachineCode:
    """The record; what follows from an IR is given (nothing, where there is none)."""
    resources = _resources(made, role_registers(read.flow))
    grid = grid_work(read.walked.execution, integer_grid(launch), read.walked.box_bytes)
    threads = _threads(launch)
    return MachineCode(
        toolchain=versions,
        registers=resources.registers,
        spill_bytes=resources.spill_store_bytes + resources.spill_load_bytes,
        barriers=resources.barriers,
        resources=resources,
        occupancy=None
        if threads is None
        else occupancy(
            arch,
            threads,
            resources.registers,
            resources.static_smem_bytes,
            launch.dynamic_smem_bytes,
            barriers=resources.barriers,
        ),
        frontier=frontier,
        sync_ptx=op_totals(read.executed),
        sync_sass=_sass_totals(read.sites),
        sites=machine_sites(read.executed, read.sites, ir),
        walk=read.walk,
        levels=tuple(levels),
        arithmetic=arithmetic(
            arch,
            matrix_work(read.walked.execution),
            grid.executed,
            traffic(launch, grid.moved_bytes),
        ),
        overlap=overlap_windows(read.flow, read.sites),
        histogram=opcode_histogram(read.sass),
        unknown_opcodes=tuple(sorted({*read.module.unknown_opcodes, *read.sass.unknown_opcodes})),
        diagnostics=(
            *map(_said, made.messages),
            *read.walked.notes,
            *_spills(resources),
            *notes,
            *_unexplained(levels),
        ),
    )


def derive_given(
    arch: str,
    launch: Launch,
    made: Assembled | MachineText,
    versions: Toolchain,
    scalars: Mapping[str, int] | None = None,
) -> MachineCode:
    """Machine code of a kernel that no compiler of ours made: PTX and SASS are all there is.

    Its levels have neither IR nor CUDA (``None``: not read), its frontier no point, since nothing
    says which bytes of shared memory grow with the depth.
    """
    read = read_made(made, launch, scalars, written_by_hand=True)
    levels = ptx_and_sass_rows(read.executed, read.sites)
    return machine_code(
        arch, launch, made, versions, read, levels=levels, frontier=(), ir=(), notes=()
    )


def _threads(launch: Launch) -> int | None:
    product = 1
    for extent in launch.block:
        if not isinstance(extent, int):
            return None
        product *= extent
    return product


def _resources(made: Assembled | MachineText, roles: Sequence[RoleRegisters]) -> Resources:
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


def _unexplained(levels: Sequence[LevelRow]) -> Iterator[Diagnostic]:
    for row in levels:
        if not row.agreed:
            yield Diagnostic(
                severity="warning",
                code="levels-disagree",
                message=f"{row.op}: {'; '.join(row.explanations)}",
            )
