"""Which facts of machine code are compared, and under which paths?

Counts, resources and verdicts; not where in the text something stands (`MachineSite`, windows of
`OverlapWindow`), which moves with every edit.
"""

from __future__ import annotations

from collections.abc import Iterator

from stagebench.model import MachineCode, ParamValue

FOLLOWING = ("machine.histogram", "machine.resources", "machine.levels", "machine.walk")
"""Paths that only say in detail what another path of the same change says."""

MACHINE_TEMPLATES = (
    "machine",
    "machine.registers",
    "machine.spill_bytes",
    "machine.barriers",
    "machine.stack_bytes",
    "machine.resources.*",
    "machine.role_registers[*].*",
    "machine.occupancy",
    "machine.occupancy.*",
    "machine.frontier[*].*",
    "machine.sync_ptx[*].*",
    "machine.sync_sass[*].*",
    "machine.walk.*",
    "machine.levels[*].agreed",
    "machine.arithmetic.*",
    "machine.arithmetic.mma[*].executed",
    "machine.overlap[*].*",
    "machine.histogram[*]",
    "machine.unknown_opcodes",
    "machine.diagnostics[*]",
    "machine.toolchain.*",
)
"""The form of every path, with ``*`` for what a kernel names."""


def machine_facts(machine: MachineCode) -> dict[str, ParamValue]:
    """Every compared fact by its path, in reading order."""
    return dict(_facts(machine))


def _facts(machine: MachineCode) -> Iterator[tuple[str, ParamValue]]:
    resources = machine.resources
    yield "machine.registers", machine.registers
    yield "machine.spill_bytes", machine.spill_bytes
    yield "machine.barriers", machine.barriers
    yield "machine.stack_bytes", resources.stack_bytes
    yield "machine.resources.static_smem_bytes", resources.static_smem_bytes
    yield "machine.resources.code_bytes", resources.code_bytes
    for role in resources.role_registers:
        yield f"machine.role_registers[{role.role}].budget", role.budget
        yield f"machine.role_registers[{role.role}].used", role.used
    if machine.occupancy is not None:
        yield "machine.occupancy.ctas_per_sm", machine.occupancy.ctas_per_sm
        yield "machine.occupancy.warps_per_sm", machine.occupancy.warps_per_sm
        yield "machine.occupancy.limiters", tuple(machine.occupancy.limiters)
    for point in machine.frontier:
        yield f"machine.frontier[{point.arch}].max_num_stages", point.max_num_stages
        yield f"machine.frontier[{point.arch}].two_ctas", point.max_num_stages_two_ctas
    yield from _counts(machine)
    yield from _work(machine)
    yield from _windows(machine)
    for opcode, count in machine.histogram.items():
        yield f"machine.histogram[{opcode}]", count
    yield "machine.unknown_opcodes", tuple(machine.unknown_opcodes)
    for diagnostic in machine.diagnostics:
        yield f"machine.diagnostics[{diagnostic.code}]", diagnostic.message
    yield "machine.toolchain.ptx_compiler", machine.toolchain.ptx_compiler
    yield "machine.toolchain.ptx_assembler", machine.toolchain.ptx_assembler


def _counts(machine: MachineCode) -> Iterator[tuple[str, ParamValue]]:
    for name, counts in (("sync_ptx", machine.sync_ptx), ("sync_sass", machine.sync_sass)):
        for op, count in counts.items():
            yield f"machine.{name}[{op}].static", count.static
            if count.executed is not None:
                yield f"machine.{name}[{op}].executed", count.executed
    if machine.walk is not None:
        yield "machine.walk.complete", machine.walk.complete
        yield "machine.walk.bytes_loaded", machine.walk.bytes_loaded
        yield "machine.walk.bytes_stored", machine.walk.bytes_stored
    for row in machine.levels:
        yield f"machine.levels[{row.op}].agreed", row.agreed


def _work(machine: MachineCode) -> Iterator[tuple[str, ParamValue]]:
    work = machine.arithmetic
    if work is None:
        return
    for shape in work.mma or ():
        yield f"machine.arithmetic.mma[{shape.instruction}].executed", shape.executed
    yield "machine.arithmetic.flops", work.flops
    yield "machine.arithmetic.moved_bytes", work.moved_bytes
    yield "machine.arithmetic.compulsory_bytes", work.compulsory_bytes


def _windows(machine: MachineCode) -> Iterator[tuple[str, ParamValue]]:
    """Of each section: how many waits, and what stands between them in all."""
    for section in ("prologue", "body", "epilogue"):
        windows = [window for window in machine.overlap if window.section == section]
        if windows:
            path = f"machine.overlap[{section}]"
            yield f"{path}.waits", len(windows)
            yield f"{path}.mma", sum(window.mma for window in windows)
            yield f"{path}.async_copies", sum(window.async_copies for window in windows)
            yield f"{path}.loads", sum(window.loads for window in windows)
