"""Which instructions must a walk execute, and which only count?  A function compiled for the walk.

Only what the control flow, a guard of a counted instruction or an argument of a site depends on is
executed (a backward slice over registers); everything else cannot change a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stagebench.ptx.control_flow import ControlFlow, control_flow, targets_of
from stagebench.ptx.families import family
from stagebench.ptx.opcodes import BRANCHES, ENDS
from stagebench.ptx.predicates import is_flag
from stagebench.ptx.records import Address, Function, Instruction, Module, Name, Operand
from stagebench.ptx.registers import Getter, Registers
from stagebench.ptx.sites import PtxSite, sync_sites
from stagebench.ptx.steps import Step, compile_step, forget, guard_getter
from stagebench.ptx.sync_ops import read_ops
from stagebench.ptx.thread_class import ThreadClass
from stagebench.ptx.typed_instruction import Run

SUMMED = ("bytes", "source_bytes")
"""Values of sites whose sum over executions is kept."""


@dataclass(frozen=True)
class Ending:
    """How a block ends: a guard (``None``: always), where to, and what is next otherwise.

    A target is a block or ``None``: out of the function.  ``selector`` chooses among several.
    """

    guard: Getter | None
    targets: tuple[int | None, ...]
    selector: Getter | None
    following: int | None
    instruction: int


@dataclass(frozen=True)
class Program:
    """A function ready to be walked.

    ``flow`` looks into inline asm.  ``counted`` are instructions whose executions are wanted:
    those of ``sites`` and of ``families``.
    """

    function: Function
    flow: ControlFlow
    sites: tuple[PtxSite, ...]
    families: dict[int, str]
    counted: tuple[int, ...]
    steps: tuple[tuple[Run, ...], ...]
    endings: tuple[Ending, ...]
    registers: Registers
    obstacles: dict[int, str]
    """Blocks that the walk cannot go through, with the reason."""
    writes: tuple[tuple[int, ...], ...]
    """Slots that each block may write."""


def compile_program(
    module: Module, function: Function, params: Mapping[str, int | None]
) -> Program:
    """Compile a function of a module; ``params`` are values of the kernel's parameters by name."""
    flow = control_flow(function, units=False)
    registers = Registers(function)
    sites = sync_sites(function)
    families = {
        index: name
        for index, instruction in enumerate(function.instructions)
        if (name := family(instruction)) is not None
    }
    counted = sorted({site.index for site in sites} | set(families))
    compiled = [compile_step(one, registers, params) for one in function.instructions]
    relevant = _slice(function, registers, compiled, sites, counted)
    observers = _observers(function, registers, sites)
    wanted = set(counted)
    steps = []
    writes = []
    for block in flow.blocks:
        runs: list[Run] = []
        written: set[int] = set()
        for index in range(block.first, block.end):
            instruction = function.instructions[index]
            step = compiled[index]
            if index in wanted and instruction.guard is not None:
                runs.append(_count(index, guard_getter(instruction, registers)))
            runs.extend(observers.get(index, ()))
            if relevant & set(step.destinations):
                written |= set(step.destinations)
                runs.append(step.run if step.run is not None else forget(step.destinations))
        steps.append(tuple(runs))
        writes.append(tuple(written))
    return Program(
        function=function,
        flow=flow,
        sites=sites,
        families=families,
        counted=tuple(counted),
        steps=tuple(steps),
        endings=tuple(_ending(function, flow, registers, block) for block in range(len(steps))),
        registers=registers,
        obstacles=_obstacles(module, function, flow),
        writes=tuple(writes),
    )


def _slice(
    function: Function,
    registers: Registers,
    compiled: list[Step],
    sites: tuple[PtxSite, ...],
    counted: list[int],
) -> set[int]:
    """Slots that matter: of branches, of guards of counted instructions, of sites' arguments."""
    roots: list[int] = []
    wanted = set(counted)
    for index, instruction in enumerate(function.instructions):
        branches = instruction.head in BRANCHES | ENDS
        if instruction.guard is not None and (branches or index in wanted):
            slot = registers.slot(instruction.guard.register, instruction.scope)
            roots.extend([] if slot is None else [slot])
        if instruction.head == "brx":
            roots.extend(registers.slots_in(instruction.operands[:1], instruction.scope))
    for site in sites:
        instruction = function.instructions[site.index]
        chosen = [_valued(instruction, at) for at in site.values.values()]
        roots.extend(registers.slots_in(chosen, instruction.scope))
    writers: dict[int, list[Step]] = {}
    for step in compiled:
        for slot in step.destinations:
            writers.setdefault(slot, []).append(step)
    relevant: set[int] = set()
    work = roots
    while work:
        slot = work.pop()
        if slot not in relevant:
            relevant.add(slot)
            for step in writers.get(slot, ()):
                work.extend(step.sources)
    return relevant


def _valued(instruction: Instruction, operand: int) -> Operand:
    """Return an operand whose value is an argument: of an address its base (a descriptor)."""
    found = instruction.operands[operand]
    return found.base if isinstance(found, Address) else found


def _count(index: int, guard: Getter) -> Run:
    """Count a guarded instruction where its guard is true."""

    def run(state: ThreadClass) -> None:
        flag = guard(state)
        if flag is None:
            state.unknown.add(index)
        elif flag is not False:
            state.guarded[index] = state.guarded.get(index, 0) + (flag * 1)

    return run


def _observers(
    function: Function, registers: Registers, sites: tuple[PtxSite, ...]
) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = {}
    for site in sites:
        instruction = function.instructions[site.index]
        guard = None if instruction.guard is None else guard_getter(instruction, registers)
        for name, at in site.values.items():
            getter = registers.getter(_valued(instruction, at), instruction.scope)
            found.setdefault(site.index, []).append(_observer(site.index, name, getter, guard))
    return found


def _observer(index: int, name: str, getter: Getter, guard: Getter | None) -> Run:
    summed = name in SUMMED
    key = (index, name)

    def run(state: ThreadClass) -> None:
        flag = True if guard is None else guard(state)
        if flag is False:
            return
        value = getter(state)
        if is_flag(value):
            value = None  # `ignore-src` of cp.async is a predicate: no number of bytes
        state.observe(key, value)
        if summed and value is not None and flag is not None:
            state.sums[key] = state.sums.get(key, 0) + value * flag

    return run


def _ending(function: Function, flow: ControlFlow, registers: Registers, block: int) -> Ending:
    found = flow.blocks[block]
    index = found.end - 1
    instruction = function.instructions[index]
    following = block + 1 if block + 1 < len(flow.blocks) else None
    guard = None if instruction.guard is None else guard_getter(instruction, registers)
    if instruction.head in BRANCHES:
        targets = tuple(
            flow.block_of[one] if one < len(flow.block_of) else None
            for one in targets_of(function, index)
        )
        selector = None
        if instruction.head == "brx":
            selector = registers.getter(instruction.operands[0], instruction.scope)
        return Ending(guard, targets, selector, following, index)
    if instruction.head in ENDS:
        return Ending(guard, (None,), None, following, index)
    return Ending(None, (following,), None, following, index)


def _obstacles(module: Module, function: Function, flow: ControlFlow) -> dict[int, str]:
    """Blocks with calls that may synchronise: the walk does not enter functions."""
    bodies = {one.name: one for one in module.functions if one.body_line is not None}
    found: dict[int, str] = {}
    for index, instruction in enumerate(function.instructions):
        if instruction.head == "call":
            reason = _call_reason(instruction, bodies)
            if reason is not None:
                found[flow.block_of[index]] = reason
    return found


def _call_reason(instruction: Instruction, bodies: Mapping[str, Function]) -> str | None:
    names = [one.text for one in instruction.operands if isinstance(one, Name)]
    if not names or names[0].startswith("%"):
        return "an indirect call"
    seen: set[str] = set()
    work = [names[0]]
    while work:
        name = work.pop()
        if name in seen or name not in bodies:
            continue
        seen.add(name)
        for one in bodies[name].instructions:
            if read_ops(one):
                return f"a call of {names[0]}, which synchronises"
            if one.head == "call":
                work.extend(part.text for part in one.operands if isinstance(part, Name))
    return None
