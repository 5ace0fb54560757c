"""What became of one variant in machine code?  Sections of ``explain``.

The four levels (device IR, generated CUDA, PTX, SASS) stand side by side with what explains each
difference; then resources, the sites, who executes what, overlap, and what the arithmetic costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.model import Arithmetic, Extent, Facts, LevelCount, MachineCode, MachineSite
from stagebench.model.machine import NOT_WALKED
from stagebench.report import quantities
from stagebench.report.explain_section import Section
from stagebench.report.fact_row import NONE
from stagebench.report.machine_rows import occupancy_words
from stagebench.report.quantities import UNKNOWN, known
from stagebench.report.sync_order import sync_rank

_ALARMING = ("error", "warning")


def machine_sections(facts: Facts) -> tuple[Section, ...]:
    """Every section about the machine code; none where it was not assembled."""
    machine = facts.machine
    if machine is None:
        return ()
    return (
        _diagnostics(machine),
        _resources(machine),
        levels_section(machine),
        _sites(machine.sites),
        _paths(machine),
        _overlap(machine),
        *_arithmetic(machine.arithmetic, walked=machine.walk is not None and machine.walk.complete),
    )


def _diagnostics(machine: MachineCode) -> Section:
    rows = [(d.severity, d.code, d.message) for d in machine.diagnostics]
    if machine.unknown_opcodes:
        names = ", ".join(machine.unknown_opcodes)
        rows.append(("warning", "unknown-opcode", f"in no table of ours: {names}"))
    if not rows:
        return Section(title="Assembler")
    return Section(
        title="Assembler",
        rows=(("severity", "code", "message"), *rows),
        alarming=any(row[0] == "error" for row in rows),
    )


def _resources(machine: MachineCode) -> Section:
    resources, chain = machine.resources, machine.toolchain
    lines = [
        f"{resources.registers} registers, {quantities.size(resources.spill_store_bytes)} spill "
        f"stores, {quantities.size(resources.spill_load_bytes)} spill loads, "
        f"{quantities.size(resources.stack_bytes)} stack, "
        f"{quantities.count(resources.barriers, 'named barrier')}, "
        f"{quantities.size(resources.code_bytes)} of code",
        occupancy_words(machine),
        f"{chain.ptx_compiler}, {chain.ptx_assembler}",
    ]
    lines += [
        f"{role.role}: {'not known' if role.used is None else role.used} registers used of "
        f"{role.budget} that setmaxnreg gives"
        for role in resources.role_registers
    ]
    rows = [
        (
            point.arch,
            known(point.max_num_stages),
            known(point.max_num_stages_two_ctas),
        )
        for point in machine.frontier
    ]
    head = ("by shared memory, on", "deepest num_stages", "deepest with two CTAs per SM")
    says_something = any(cell != UNKNOWN for row in rows for cell in row[1:])
    return Section(
        title="Resources of the machine code",
        lines=tuple(lines),
        rows=(head, *rows) if says_something else (),
    )


def levels_section(machine: MachineCode) -> Section:
    """Every op at the four levels: ``static · executed``, and what explains a difference."""
    rows = [
        (
            row.op,
            *(_count(level) for level in (row.ir, row.cuda, row.ptx, row.sass)),
            "; ".join(why for why in row.explanations if why != NOT_WALKED)
            or ("" if row.agreed else "not explained"),
        )
        for row in sorted(machine.levels, key=lambda row: sync_rank(row.op))
    ]
    if not rows:
        return Section(title="Four levels", lines=("no sync op at any level",))
    differ = [row.op for row in machine.levels if not row.agreed]
    lines = [f"not explained: {', '.join(differ)}" if differ else "every difference is explained"]
    if any(NOT_WALKED in row.explanations for row in machine.levels):
        lines = [
            lines[0] if differ else "every difference of the static counts is explained",
            "the walk of the PTX did not reach the end: its executions are not known, nor compared",
        ]
    return Section(
        title="Four levels (static · executed)",
        lines=tuple(lines),
        rows=(("op", "device IR", "CUDA", "PTX", "SASS", "why they differ"), *rows),
        alarming=bool(differ),
    )


def _count(count: LevelCount | None) -> str:
    if count is None:
        return UNKNOWN
    if count.executed is None:
        return str(count.static)
    return f"{count.static} · {count.executed}"


def _sites(sites: Sequence[MachineSite]) -> Section:
    rows = [
        (
            site.op,
            site.opcode,
            _arguments(site.args),
            quantities.python_line(site.line, site.line_kind),
            known(site.cuda_line),
            _lines(site.ptx_lines),
            known(site.executed),
            str(site.sass),
        )
        for site in sites
    ]
    if not rows:
        return Section(title="Sync instructions")
    head = ("op", "PTX", "arguments", "Python", "CUDA", "PTX lines", "executed", "SASS")
    return Section(title="Sync instructions, by CUDA statement", rows=(head, *rows))


def _arguments(args: dict[str, Extent]) -> str:
    return ", ".join(f"{name}={value}" for name, value in args.items())


def _lines(lines: Sequence[int]) -> str:
    if len(lines) <= 2:
        return ", ".join(map(str, lines))
    return f"{lines[0]}…{lines[-1]} ({len(lines)})"


def _paths(machine: MachineCode) -> Section:
    walk = machine.walk
    if walk is None:
        return Section(title="Executed by one thread of each path")
    lines = [f"block {', '.join(map(str, walk.cta))}; by a walk of the PTX's control flow"]
    if not walk.complete:
        at = ", ".join(map(str, walk.unknown_branches))
        lines.append(f"not complete: a branch depends on data (kernel.cu:{at})")
    ops = sorted({op for path in walk.paths for op in path.counts}, key=sync_rank)
    head = ("op", *(f"{p.role} ({quantities.count(p.threads, 'thread')})" for p in walk.paths))
    rows = [(op, *(str(path.counts.get(op, 0)) for path in walk.paths)) for op in ops]
    return Section(
        title="Executed by one thread of each path",
        lines=tuple(lines),
        rows=(head, *rows) if rows else (),
    )


def _overlap(machine: MachineCode) -> Section:
    roles = any(window.role is not None for window in machine.overlap)
    rows = [
        (
            *((known(window.role),) if roles else ()),
            window.section,
            window.wait,
            known(window.cuda_line),
            str(window.instructions),
            str(window.mma),
            str(window.async_copies),
            str(window.loads),
        )
        for window in machine.overlap
    ]
    if not rows:
        return Section(title="Between waits")
    counts = ("instructions", "MMAs", "async copies", "loads")
    head = (*(("role",) if roles else ()), "section", "up to the wait", "CUDA", *counts)
    return Section(title="Between waits, in SASS order", rows=(head, *rows))


def _arithmetic(work: Arithmetic | None, *, walked: bool) -> Iterable[Section]:
    if work is None:
        return
    lines = [
        f"{shape.instruction}: {shape.executed} in block 0, {shape.m}×{shape.n}×{shape.k}"
        for shape in work.mma or ()
    ]
    if work.mma is None:
        why = "their shape is not in their name" if walked else "the walk did not count them all"
        lines.append(f"matrix instructions: not known, {why}")
    elif work.flops is None:
        lines.append("of the whole grid: not known, blocks differ or the grid is symbolic")
    if work.flops is not None and work.compulsory_bytes is not None:
        lines.append(
            f"{work.flops / 1e9:.2f} GFLOP, {quantities.size(work.compulsory_bytes)} at least, "
            f"{_moved(work.moved_bytes)} moved by the CTAs"
            + (f", {work.intensity:.0f} FLOP per byte" if work.intensity is not None else "")
        )
    rows = [
        (
            floor.device,
            UNKNOWN if floor.compute_us is None else f"{floor.compute_us:.1f} µs",
            f"{floor.memory_us:.1f} µs",
            f"{floor.floor_us:.1f} µs ({floor.bound_by})",
        )
        for floor in work.floors
    ]
    head = ("device", "matrix units", "memory", "no run is faster than")
    yield Section(
        title="Arithmetic",
        lines=tuple(lines) or (NONE,),
        rows=(head, *rows) if rows else (),
    )


def _moved(size: int | None) -> str:
    return "not known what is" if size is None else quantities.size(size)
