"""What does one instruction do to the registers of a class of threads?  Compiled once.

Integers, predicates and moves between them are computed; what comes from memory, from floating
point, from time or from another warp is not known (``None``).  `Step.run` is ``None`` where an
instruction makes its destinations unknown.  A wait on an mbarrier succeeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stagebench.ptx.integer_ops import arithmetic
from stagebench.ptx.opcodes import BRANCHES, ENDS
from stagebench.ptx.predicates import choose
from stagebench.ptx.records import Address, Arguments, Instruction, Name, Negated
from stagebench.ptx.registers import Getter, Registers
from stagebench.ptx.special_steps import SPECIAL_STEPS
from stagebench.ptx.thread_class import ThreadClass
from stagebench.ptx.typed_instruction import Run, TypedInstruction

_NO_DESTINATION = BRANCHES | ENDS | frozenset(
    ("brkpt", "setmaxnreg", "nanosleep", "griddepcontrol",
     "pmevent", "st", "red", "prefetch", "prefetchu", "membar", "fence", "discard",
     "applypriority", "cp", "stmatrix", "multimem", "stackrestore")
)  # fmt: skip
"""Heads that write no register; for any other the first operand counts as written."""


@dataclass(frozen=True, slots=True)
class Step:
    """Slots that an instruction writes, slots that the result depends on, and the computation."""

    destinations: tuple[int, ...]
    sources: tuple[int, ...]
    run: Run | None


def compile_step(
    instruction: Instruction, registers: Registers, params: Mapping[str, int | None]
) -> Step:
    """Compile an instruction; ``params`` are the kernel's parameters by name."""
    destinations = _destinations(instruction, registers)
    if not destinations:
        return Step((), (), None)
    run = _computation(TypedInstruction(instruction, registers, params))
    guard = instruction.guard
    read = registers.slots_in(instruction.operands[1:], instruction.scope)
    sources = tuple(read) if run is not None else ()
    if guard is not None:
        slot = registers.slot(guard.register, instruction.scope)
        # where the guard is false the old value stays
        sources = (*sources, *destinations, *(() if slot is None else (slot,)))
        inner = run if run is not None else forget(destinations)
        run = _guarded(inner, guard_getter(instruction, registers), destinations)
    return Step(destinations, sources, run)


def guard_getter(instruction: Instruction, registers: Registers) -> Getter:
    """Return whether an instruction with a guard is executed, for each thread."""
    guard = instruction.guard
    assert guard is not None  # noqa: S101 - callers ask for guarded instructions only
    name = Name(guard.register)
    return registers.getter(Negated(name) if guard.negated else name, instruction.scope)


def _destinations(instruction: Instruction, registers: Registers) -> tuple[int, ...]:
    parts = instruction.parts
    if not instruction.operands or parts[0] in _NO_DESTINATION:
        return ()
    if parts[0] in ("bar", "barrier") and "red" not in parts:
        return ()
    if parts[0] == "wgmma" and "mma_async" not in parts:
        return ()
    first = instruction.operands[0]
    if isinstance(first, Address) or (parts[0] == "call" and not isinstance(first, Arguments)):
        return ()
    return tuple(registers.slots_in([first], instruction.scope))


def forget(destinations: Sequence[int]) -> Run:
    """Return what makes registers unknown."""

    def run(state: ThreadClass) -> None:
        for slot in destinations:
            state.registers[slot] = None

    return run


def _guarded(inner: Run, guard: Getter, destinations: Sequence[int]) -> Run:
    def run(state: ThreadClass) -> None:
        flag = guard(state)
        if flag is None:
            for slot in destinations:
                state.registers[slot] = None
        elif isinstance(flag, np.ndarray):
            before = [state.registers[slot] for slot in destinations]
            inner(state)
            for slot, old in zip(destinations, before, strict=True):
                state.registers[slot] = choose(flag, state.registers[slot], old)
        elif flag:
            inner(state)

    return run


def _computation(of: TypedInstruction) -> Run | None:
    """Return the computation of an instruction with destinations; ``None``: not known."""
    head = of.parts[0]
    special = SPECIAL_STEPS.get(head)
    if special is not None:
        return special(of)
    if not of.type or of.is_float:
        return None
    compute = arithmetic(of.parts, of.width, of.is_signed)
    if compute is None:
        return None
    widths = [of.width] * (len(of.operands) - 1)
    if head in ("shl", "shr"):
        widths[1] = 32
    elif head == "mad" and "wide" in of.parts:
        widths[2] = 64
    elif head in ("bfe", "bfi", "shf", "lop3", "prmt"):
        widths = [max(of.width, 32)] * len(widths)
    return of.computed(compute, of.operands[1:], widths)
