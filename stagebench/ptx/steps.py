"""What does one instruction do to the registers of a class of threads?  Compiled once.

Integers, predicates and moves between them are computed; what comes from memory, from floating
point, from time or from another warp is not known (``None``).  `Step.run` is ``None`` where an
instruction makes its destinations unknown.  A wait on an mbarrier succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stagebench.ptx import warp_ops
from stagebench.ptx.integer_ops import Value, arithmetic, comparison, conversion, mask
from stagebench.ptx.opcodes import BRANCHES, ENDS
from stagebench.ptx.records import (
    Address,
    Arguments,
    Instruction,
    Integer,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Vector,
)
from stagebench.ptx.registers import Getter, Registers
from stagebench.ptx.thread_class import ThreadClass

Run = Callable[[ThreadClass], None]
_TYPE = re.compile(r"([usbf])(8|16|32|64)\Z|pred\Z")
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
    run = _Compiler(instruction, registers, params).compile()
    guard = instruction.guard
    read = registers.slots_in(instruction.operands[1:], instruction.scope)
    sources = tuple(read) if run is not None else ()
    if guard is not None:
        slot = registers.slot(guard.register, instruction.scope)
        # where the guard is false the old value stays
        sources = (*sources, *destinations, *(() if slot is None else (slot,)))
        inner = run if run is not None else _forget(destinations)
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


def _forget(destinations: Sequence[int]) -> Run:
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


def choose(flag: Value, yes: Value | None, no: Value | None) -> Value | None:
    """Select by a known predicate, for each thread where it differs."""
    if not isinstance(flag, np.ndarray):
        return yes if flag else no
    if yes is None or no is None:
        return None
    kind = np.bool_ if is_flag(yes) and is_flag(no) else np.uint64
    return np.where(flag, np.asarray(yes, dtype=kind), np.asarray(no, dtype=kind))


def is_flag(value: Value | None) -> bool:
    """Whether a value is a predicate's."""
    return isinstance(value, bool) or (isinstance(value, np.ndarray) and value.dtype == np.bool_)


class _Compiler:
    """Compiles one instruction that has destinations."""

    def __init__(
        self, instruction: Instruction, registers: Registers, params: Mapping[str, int | None]
    ) -> None:
        self.instruction = instruction
        self.registers = registers
        self.params = params
        self.parts = instruction.parts
        self.operands = instruction.operands
        types = [part for part in self.parts[1:] if _TYPE.match(part)]
        self.type = types[-1] if types else ""
        self.types = types
        digits = self.type[1:]
        self.width = 1 if self.type == "pred" else int(digits) if digits.isdigit() else 0

    def compile(self) -> Run | None:
        """Return the computation; ``None``: the result is not known."""
        special = _SPECIAL.get(self.parts[0])
        if special is not None:
            return special(self)
        if not self.type or self.type[0] == "f":
            return None
        compute = arithmetic(self.parts, self.width, self.type[0] == "s")
        if compute is None:
            return None
        widths = [self.width] * (len(self.operands) - 1)
        if self.parts[0] in ("shl", "shr"):
            widths[1] = 32
        elif self.parts[0] == "mad" and "wide" in self.parts:
            widths[2] = 64
        elif self.parts[0] in ("bfe", "bfi", "shf", "lop3", "prmt"):
            widths = [max(self.width, 32)] * len(widths)
        return self._computed(compute, self.operands[1:], widths)

    def get(self, operand: Operand, width: int | None = None) -> Getter:
        """Return an operand's getter; integers are masked to the width."""
        getter = self.registers.getter(operand, self.instruction.scope)
        if self.type == "pred" and isinstance(operand, Integer):
            return self.registers.constant(bool(operand.value))  # mov.pred %p1, -1
        if width is None or self.type == "pred":
            return getter
        limit = (1 << width) - 1

        def masked(state: ThreadClass) -> Value | None:
            value = getter(state)
            return value & limit if isinstance(value, int) else value

        return masked

    def slot(self, operand: Operand) -> int | None:
        """Slot of a destination; ``None``: ``_``."""
        if isinstance(operand, Name):
            return self.registers.slot(operand.text, self.instruction.scope)
        return None

    def _computed(
        self, compute: Callable[..., Value | None], sources: Sequence[Operand], widths: list[int]
    ) -> Run | None:
        slot = self.slot(self.operands[0])
        if slot is None or len(sources) != len(widths):
            return None
        getters = [self.get(one, width) for one, width in zip(sources, widths, strict=True)]
        absorbing = _ABSORBING.get(self.parts[0])
        at = slot

        def run(state: ThreadClass) -> None:
            values = [getter(state) for getter in getters]
            for value in values:
                if value is None:
                    known = [one for one in values if isinstance(one, int)]
                    hit = absorbing is not None and any(absorbing(one) for one in known)
                    state.registers[at] = next(one for one in known) if hit else None
                    return
            state.registers[at] = compute(*values)

        return run

    def mov(self) -> Run | None:
        """``mov``, ``cvta``: a copy; ``mov.b64 {a, b}, c`` and back."""
        target, source = self.operands[0], self.operands[-1]
        if self.type[:1] == "f":
            return None
        if isinstance(target, Vector):
            return self._unpack(target, source)
        if isinstance(source, Vector):
            return self._pack(source)
        return self._computed(lambda a: a, [source], [self.width or 64])

    def _unpack(self, target: Vector, source: Operand) -> Run | None:
        getter = self.get(source, self.width)
        width = self.width // len(target.items)
        slots = [self.slot(one) for one in target.items]

        def run(state: ThreadClass) -> None:
            value = getter(state)
            for position, slot in enumerate(slots):
                if slot is not None:
                    piece = None if value is None else mask(value >> position * width, width)
                    state.registers[slot] = piece

        return run

    def _pack(self, source: Vector) -> Run | None:
        width = self.width // len(source.items)

        def join(*values: Value) -> Value:
            found: Value = 0
            for position, value in enumerate(values):
                found = found | (value << position * width)
            return found

        return self._computed(join, source.items, [width] * len(source.items))

    def cvt(self) -> Run | None:
        """``cvt`` between integers."""
        floats = ("e2", "e3", "e4", "e5", "bf", "tf", "ue")
        if len(self.types) < 2 or any(part.startswith(floats) for part in self.parts):
            return None
        target, source = self.types[0], self.types[1]
        compute = conversion(target, source, saturate="sat" in self.parts)
        if compute is None:
            return None
        return self._computed(compute, self.operands[1:2], [int(source[1:])])

    def setp(self) -> Run | None:
        """``setp``, with a second destination and a combination with a predicate."""
        if self.type[:1] not in ("u", "s", "b"):
            return None
        compare = comparison(self.parts[1], self.width, self.type[0] == "s")
        if compare is None:
            return None
        combine = next((part for part in self.parts[2:] if part in ("and", "or", "xor")), None)
        left, right = (self.get(one, self.width) for one in self.operands[1:3])
        third = (
            self.registers.getter(self.operands[3], self.instruction.scope)
            if combine is not None
            else None
        )
        target = self.operands[0]
        outputs = (target.first, target.second) if isinstance(target, Pair) else (target, None)
        first = self.slot(outputs[0])
        second = None if outputs[1] is None else self.slot(outputs[1])
        known = compare

        def run(state: ThreadClass) -> None:
            a, b = left(state), right(state)
            found = None if a is None or b is None else known(a, b)
            other = None if third is None else third(state)
            for slot, value in ((first, found), (second, _opposite(found))):
                if slot is not None:
                    if combine is not None:
                        value = combined(combine, value, other)  # noqa: PLW2901
                    state.registers[slot] = value

        return run

    def selp(self) -> Run | None:
        """``selp``: the operand that a predicate selects."""
        slot = self.slot(self.operands[0])
        if slot is None or self.type[:1] == "f":
            return None
        yes, no = (self.get(one, self.width) for one in self.operands[1:3])
        flag = self.registers.getter(self.operands[3], self.instruction.scope)
        at = slot

        def run(state: ThreadClass) -> None:
            chosen = flag(state)
            state.registers[at] = None if chosen is None else choose(chosen, yes(state), no(state))

        return run

    def load(self) -> Run | None:
        """``ld.param`` of a kernel's parameter whose value was given."""
        slot = self.slot(self.operands[0])
        source = self.operands[1]
        if slot is None or not isinstance(source, Address) or self.parts[1] != "param":
            return None
        name = source.base.text if isinstance(source.base, Name) else None
        if isinstance(source.base, Offset):
            name = f"{source.base.name.text}+{source.base.value}"
        value = None if name is None else self.params.get(name.removesuffix("+0"))
        if value is None or self.type[:1] == "f":
            return None
        at, known = slot, value & ((1 << self.width) - 1)

        def run(state: ThreadClass) -> None:
            state.registers[at] = known

        return run

    def elect(self) -> Run | None:
        """``elect.sync``: one lane of each warp."""
        target = self.operands[0]
        if not isinstance(target, Pair):
            return None
        lane, leader = self.slot(target.first), self.slot(target.second)
        members = self.get(self.operands[1], 32)

        def run(state: ThreadClass) -> None:
            for slot, value in zip(
                (lane, leader), warp_ops.elect(state, members(state)), strict=True
            ):
                if slot is not None:
                    state.registers[slot] = value

        return run

    def shuffle(self) -> Run | None:
        """``shfl.sync``."""
        target = self.operands[0]
        outputs = (target.first, target.second) if isinstance(target, Pair) else (target, None)
        first = self.slot(outputs[0])
        second = None if outputs[1] is None else self.slot(outputs[1])
        mode = next((one for one in self.parts if one in ("idx", "up", "down", "bfly")), "idx")
        value, lane, clamp = (self.get(one, 32) for one in self.operands[1:4])

        def run(state: ThreadClass) -> None:
            found = warp_ops.shuffle(state, mode, value(state), lane(state), clamp(state))
            for slot, result in zip((first, second), found, strict=True):
                if slot is not None:
                    state.registers[slot] = result

        return run

    def vote(self) -> Run | None:
        """``vote.sync``."""
        slot = self.slot(self.operands[0])
        mode = next((one for one in self.parts if one in ("all", "any", "uni", "ballot")), None)
        if slot is None or mode is None:
            return None
        flag = self.registers.getter(self.operands[1], self.instruction.scope)
        members = self.registers.getter(self.operands[-1], self.instruction.scope)
        at, chosen = slot, mode

        def run(state: ThreadClass) -> None:
            state.registers[at] = warp_ops.vote(state, chosen, flag(state), members(state))

        return run

    def active_mask(self) -> Run | None:
        """``activemask``."""
        slot = self.slot(self.operands[0])
        if slot is None:
            return None
        at = slot

        def run(state: ThreadClass) -> None:
            state.registers[at] = warp_ops.active_mask(state)

        return run

    def barrier_poll(self) -> Run | None:
        """``mbarrier.try_wait``, ``.test_wait``: what is waited for arrives."""
        slot = self.slot(self.operands[0])
        if slot is None or self.parts[1] not in ("try_wait", "test_wait"):
            return None
        at = slot

        def run(state: ThreadClass) -> None:
            state.registers[at] = True

        return run


_SPECIAL: dict[str, Callable[[_Compiler], Run | None]] = {
    "mov": _Compiler.mov,
    "cvta": _Compiler.mov,
    "cvt": _Compiler.cvt,
    "setp": _Compiler.setp,
    "selp": _Compiler.selp,
    "ld": _Compiler.load,
    "elect": _Compiler.elect,
    "shfl": _Compiler.shuffle,
    "vote": _Compiler.vote,
    "activemask": _Compiler.active_mask,
    "mbarrier": _Compiler.barrier_poll,
}
_ABSORBING: dict[str, Callable[[int], bool]] = {
    "and": lambda value: value == 0,
    "or": lambda value: value is True,
    "mul": lambda value: value == 0,
}
"""Operands that settle the result whatever the other one is; the result is that operand."""


def _opposite(value: Value | None) -> Value | None:
    if value is None:
        return None
    return ~value if isinstance(value, np.ndarray) else not value


def combined(how: str, value: Value | None, other: Value | None) -> Value | None:
    """Combine two predicates, either of which may be unknown."""
    settles = {"and": False, "or": True}.get(how)
    for one in (value, other):
        if settles is not None and isinstance(one, bool) and one is settles:
            return settles
    if value is None or other is None:
        return None
    return {"and": value & other, "or": value | other, "xor": value ^ other}[how]
