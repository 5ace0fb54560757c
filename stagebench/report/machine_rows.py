"""Which rows does a table of variants have about their machine code?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from stagebench.model import Facts, MachineCode
from stagebench.report import quantities
from stagebench.report.fact_row import NONE, FactRow

_LIMITERS = {
    "shared_memory": "shared memory",
    "registers": "registers",
    "threads": "threads",
    "ctas": "CTAs",
    "barriers": "barriers",
}


def machine_rows(column_facts: Sequence[Facts | None]) -> Iterable[FactRow]:
    """The rows, none where nothing was assembled."""
    machines = [None if facts is None else facts.machine for facts in column_facts]
    if all(machine is None for machine in machines):
        return
    yield _row("registers · spilled", machines, _registers)
    yield _row("registers by role", machines, _role_registers)
    yield _row("CTAs per SM", machines, _occupancy)
    yield _row("deepest with 2 CTAs", machines, _two_ctas)
    yield _row("code size", machines, lambda m: quantities.size(m.resources.code_bytes))
    yield _row("MMAs in block 0", machines, _mma)
    yield _row("bytes of block 0", machines, _bytes)
    yield _row("MMAs per wait (body)", machines, _overlap)
    yield _row("levels that differ", machines, _disagreements)
    yield _row("machine code warns", machines, _warns)


def _row(
    label: str,
    machines: Sequence[MachineCode | None],
    read: Callable[[MachineCode], str | None],
) -> FactRow:
    values = tuple(None if machine is None else read(machine) for machine in machines)
    return FactRow(label=label, group="machine", values=values)


def _registers(machine: MachineCode) -> str:
    return f"{machine.registers} · {quantities.size(machine.spill_bytes)}"


def _role_registers(machine: MachineCode) -> str:
    roles = machine.resources.role_registers
    return ", ".join(f"{role.role} {_used(role.used)} of {role.budget}" for role in roles) or NONE


def _used(registers: int | None) -> str:
    return quantities.UNKNOWN if registers is None else str(registers)


def _occupancy(machine: MachineCode) -> str | None:
    occupancy = machine.occupancy
    if occupancy is None:
        return None
    by = ", ".join(_LIMITERS[limiter] for limiter in occupancy.limiters)
    return f"{occupancy.ctas_per_sm} ({by})"


def occupancy_words(machine: MachineCode) -> str:
    """``1 CTA, 8 of 64 warps per SM, limited by shared memory``."""
    occupancy = machine.occupancy
    if occupancy is None:
        return "occupancy not known: this arch is in no table"
    by = ", ".join(_LIMITERS[limiter] for limiter in occupancy.limiters)
    return (
        f"{quantities.count(occupancy.ctas_per_sm, 'CTA')}, {occupancy.warps_per_sm} of "
        f"{occupancy.max_warps_per_sm} warps per SM, limited by {by}"
    )


def _two_ctas(machine: MachineCode) -> str | None:
    own = [point.max_num_stages_two_ctas for point in machine.frontier[:1]]
    if not own or own[0] is None:
        return None
    occupancy = machine.occupancy
    if occupancy is not None and occupancy.ctas_per_sm == 1:
        others = [_LIMITERS[by] for by in occupancy.limiters if by != "shared_memory"]
        if others:  # shallower would not help
            return f"none ({', '.join(others)})"
    return str(own[0])


def _mma(machine: MachineCode) -> str | None:
    if machine.arithmetic is None or machine.arithmetic.mma is None:
        return None
    return (
        ", ".join(f"{shape.executed} {shape.instruction}" for shape in machine.arithmetic.mma)
        or "0"
    )


def _bytes(machine: MachineCode) -> str | None:
    walk = machine.walk
    if walk is None or walk.bytes_loaded is None or walk.bytes_stored is None:
        return None
    return f"{quantities.size(walk.bytes_loaded)} in, {quantities.size(walk.bytes_stored)} out"


def _overlap(machine: MachineCode) -> str:
    windows = [window.mma for window in machine.overlap if window.section == "body"]
    return quantities.run_lengths(windows) if windows else NONE


def _disagreements(machine: MachineCode) -> str:
    return ", ".join(row.op for row in machine.levels if not row.agreed) or NONE


def _warns(machine: MachineCode) -> str:
    codes = dict.fromkeys(d.code for d in machine.diagnostics if d.severity != "note")
    return ", ".join(codes) or NONE
