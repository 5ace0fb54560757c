"""What would a GPU write?  Runs the leaders of a probed text, one thread at a time, for tests.

Built on the public parts of the walk: registers, steps, placement.  What the walk leaves out is
here: clocks that advance, the pointer to the buffer, and stores.  Kernels' own stores go nowhere.
"""

from __future__ import annotations

import struct

import numpy as np

from stagebench.probe.layout import SYMBOL, Layout
from stagebench.ptx.control_flow import targets_of
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Address, Name, Offset, Vector
from stagebench.ptx.registers import Registers
from stagebench.ptx.steps import compile_step, guard_getter
from stagebench.ptx.thread_class import Placement, ThreadClass

BASE = 1 << 45
WAIT_CYCLES = 100
_MAX_STEPS = 400_000


class Lane(ThreadClass):
    """One thread whose clock runs: an instruction takes 4 cycles, an mbarrier's poll 100."""

    def __init__(self, placement, thread, registers):
        super().__init__(placement, registers, 0)
        self.threads = np.array([thread], dtype=np.int64)
        self.clock = (1 << 33) + 12345

    def special(self, name):
        times = {
            "%clock": self.clock & 0xFFFFFFFF,
            "%clock64": self.clock,
            "%globaltimer": 10**15 + self.clock // 2,
            "%smid": 7,
        }
        return times[name] if name in times else super().special(name)


class Machine:
    """A probed kernel ready to run."""

    def __init__(self, text, kernel, layout: Layout, params=None):
        module = read_module(text)
        self.function = next(one for one in module.entries if one.name == kernel)
        self.layout = layout
        self.registers = Registers(self.function)
        self.steps = [
            compile_step(one, self.registers, params or {}).run
            for one in self.function.instructions
        ]
        self.guards = [
            None if one.guard is None else guard_getter(one, self.registers)
            for one in self.function.instructions
        ]
        self.buffer = bytearray(layout.buffer_bytes)

    def run(self) -> bytes:
        """Run every warp of every sampled CTA, and of one that is not; returns the buffer."""
        shape = self.layout.shape
        sampled = [place * self.layout.step for place in range(self.layout.sampled)]
        others = [cta for cta in range(shape.ctas) if cta not in sampled][:1]
        for cta in [*sampled, *others]:
            placement = Placement(block=shape.block, grid=shape.grid, cta=shape.cta(cta))
            for warp in range(shape.warps):
                self._lane(Lane(placement, 32 * warp, 4096))
        return bytes(self.buffer)

    def _lane(self, lane):
        at = steps = 0
        instructions = self.function.instructions
        while at < len(instructions):
            steps += 1
            assert steps < _MAX_STEPS, "the kernel does not end"
            instruction = instructions[at]
            lane.clock += WAIT_CYCLES if instruction.head == "mbarrier" else 4
            taken = self._taken(at, lane)
            if instruction.head in ("ret", "exit", "trap") and taken:
                return
            if instruction.head == "bra" and taken:
                (at,) = targets_of(self.function, at)
                continue
            if instruction.head == "ld" and SYMBOL in _base(instruction.operands[1]):
                lane.registers[self._slot(instruction)] = BASE
            elif instruction.head == "st" and taken:
                self._store(instruction, lane)
            elif self.steps[at] is not None:
                self.steps[at](lane)
            at += 1

    def _taken(self, at, lane):
        guard = self.guards[at]
        if guard is None:
            return True
        value = guard(lane)
        decides = self.function.instructions[at].head in ("bra", "ret", "exit", "trap")
        assert value is not None or not decides, (
            f"line {self.function.instructions[at].span.line}: not known where it goes"
        )
        return value is not None and bool(np.all(value))

    def _slot(self, instruction):
        return self.registers.slot(instruction.operands[0].text, instruction.scope)

    def _store(self, instruction, lane):
        target = instruction.operands[0]
        assert isinstance(target, Address)
        inner = target.base
        offset = inner.value if isinstance(inner, Offset) else 0
        name = inner.name if isinstance(inner, Offset) else inner
        if not isinstance(name, Name) or not name.text.startswith("%sb_probe_"):
            return
        base = self.registers.getter(name, instruction.scope)(lane)
        values = instruction.operands[1]
        items = values.items if isinstance(values, Vector) else (values,)
        wide = instruction.parts[-1] == "u64"
        for place, item in enumerate(items):
            value = self.registers.getter(item, instruction.scope)(lane)
            address = base + offset - BASE + place * (8 if wide else 4)
            assert 0 <= address < len(self.buffer), f"a store outside the buffer, at {address}"
            struct.pack_into("<Q" if wide else "<I", self.buffer, address, int(value))


def _base(operand):
    return str(operand.base) if isinstance(operand, Address) else ""
