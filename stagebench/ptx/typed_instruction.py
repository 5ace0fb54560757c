"""Of which type is an instruction, and how does it read its operands and write its results?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from stagebench.ptx.integer_ops import Value
from stagebench.ptx.records import Instruction, Integer, Name, Operand, Pair
from stagebench.ptx.registers import Getter, Registers
from stagebench.ptx.thread_class import ThreadClass

Run = Callable[[ThreadClass], None]
"""Executes an instruction for a class of threads."""
Results = tuple["Value | None", "Value | None"]

_TYPE = re.compile(r"([usbf])(8|16|32|64)\Z|pred\Z")
_ABSORBING: dict[str, Callable[[int], bool]] = {
    "and": lambda value: value == 0,
    "or": lambda value: value is True,
    "mul": lambda value: value == 0,
}
"""Operands that settle the result whatever the other one is; the result is that operand."""


class TypedInstruction:
    """An instruction with its types, in the registers of its function.

    ``types`` are all of the opcode, ``type`` is the last one (that of the sources; empty: none),
    ``width`` its bits (1 for a predicate); ``params`` are the kernel's parameters by name.
    """

    def __init__(
        self, instruction: Instruction, registers: Registers, params: Mapping[str, int | None]
    ) -> None:
        self.params = params
        self.parts = instruction.parts
        self.operands = instruction.operands
        self.types = [part for part in self.parts[1:] if _TYPE.match(part)]
        self.type = self.types[-1] if self.types else ""
        digits = self.type[1:]
        self.width = 1 if self.type == "pred" else int(digits) if digits.isdigit() else 0
        self._registers = registers
        self._scope = instruction.scope

    @property
    def is_float(self) -> bool:
        """Whether the sources are of a floating-point type."""
        return self.type[:1] == "f"

    @property
    def is_signed(self) -> bool:
        """Whether the sources are signed integers."""
        return self.type[:1] == "s"

    # operands

    def get(self, operand: Operand, width: int) -> Getter:
        """Return an operand's getter; integers are masked to the width."""
        if self.type == "pred" and isinstance(operand, Integer):
            return self._registers.constant(bool(operand.value))  # mov.pred %p1, -1
        getter = self.flag(operand)
        if self.type == "pred":
            return getter
        limit = (1 << width) - 1

        def masked(state: ThreadClass) -> Value | None:
            value = getter(state)
            return value & limit if isinstance(value, int) else value

        return masked

    def flag(self, operand: Operand) -> Getter:
        """Return a getter of an operand as it is: of a predicate."""
        return self._registers.getter(operand, self._scope)

    # results

    def slot(self, operand: Operand) -> int | None:
        """Slot of a destination; ``None``: ``_``."""
        if isinstance(operand, Name):
            return self._registers.slot(operand.text, self._scope)
        return None

    def stored(self, result: Callable[[ThreadClass], Value | None]) -> Run | None:
        """Return the computation that writes a result; ``None`` where it goes nowhere."""
        slot = self.slot(self.operands[0])
        if slot is None:
            return None

        def run(state: ThreadClass) -> None:
            state.registers[slot] = result(state)

        return run

    def stored_pair(self, results: Callable[[ThreadClass], Results]) -> Run:
        """Return the computation that writes both results of ``a|b``, or the first to ``a``."""
        target = self.operands[0]
        outputs = (target.first, target.second) if isinstance(target, Pair) else (target,)
        slots = [self.slot(one) for one in outputs]

        def run(state: ThreadClass) -> None:
            for slot, result in zip(slots, results(state), strict=False):
                if slot is not None:
                    state.registers[slot] = result

        return run

    def computed(
        self, compute: Callable[..., Value | None], sources: Sequence[Operand], widths: list[int]
    ) -> Run | None:
        """Return the computation of the first operand from sources of these widths."""
        slot = self.slot(self.operands[0])
        if slot is None or len(sources) != len(widths):
            return None
        getters = [self.get(one, width) for one, width in zip(sources, widths, strict=True)]
        absorbing = _ABSORBING.get(self.parts[0])

        def run(state: ThreadClass) -> None:
            values = [getter(state) for getter in getters]
            for value in values:
                if value is None:
                    known = [one for one in values if isinstance(one, int)]
                    hit = absorbing is not None and any(absorbing(one) for one in known)
                    state.registers[slot] = next(one for one in known) if hit else None
                    return
            state.registers[slot] = compute(*values)

        return run
