"""What can run while a wait is pending?  The machine code between consecutive waits.

A window ends with a wait and starts behind the wait before it, in program order; where control
can't come from there (another warp role's code), behind the last point that nothing falls through.
In a loop that holds waits the window of its first wait is that of the steady state: from the last
wait to the end and from the start on.  The first trip has its own window, from before the loop, the
prologue.  What can be reached from such a loop is the epilogue.  A role whose loops are all
unrolled has its first window in the prologue and the rest in the body.

Counts are static.  Polls out of line, in the spin of an mbarrier wait, are in no window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.model.machine import MachineSection, OverlapWindow
from stagebench.sass.control_flow import ControlFlow, Loop, is_conditional
from stagebench.sass.program import Instruction
from stagebench.sass.registers import roles_by_instruction
from stagebench.sass.sites import SassSite, spin_loops

WAITS = ("cp_async_wait", "mbarrier_wait", "tma_store_wait", "wgmma_wait")
_MMAS = ("mma_sync", "tcgen05_mma", "wgmma")
_COPIES = ("cp_async_copy", "tma_load")
_LOADS = frozenset({"LD", "LDG", "LDGMC", "LDL", "LDS", "LDSM", "LDTM"})
_LEAVES = frozenset({"BRA", "EXIT", "JMP", "RET"})


def overlap_windows(flow: ControlFlow, sites: Sequence[SassSite]) -> tuple[OverlapWindow, ...]:
    """Windows in program order; a loop's steady state stands behind its first trip's."""
    waits = [site for site in sites if site.op in WAITS]
    spins = spin_loops(flow)
    skipped = {i.index for loop in spins for b in loop.blocks for i in flow.instructions(b)}
    skipped -= {site.index for site in waits}
    loops = [loop for loop in flow.loops if loop not in spins]
    count = _Counter(flow, sites, skipped)
    around = [_innermost(flow, loops, wait) for wait in waits]
    sections = _Sections(flow, waits, [loop for loop in around if loop is not None])
    windows: list[OverlapWindow] = []
    for at, wait in enumerate(waits):
        before = waits[at - 1] if at else None
        loop = around[at]
        first = loop is not None and (at == 0 or around[at - 1] != loop)
        start = 0 if before is None else before.index + 1
        if not sections.follows(before, wait):
            start = _behind_the_last_exit(flow, start, wait.index)
        section: MachineSection = "body"
        if loop is None:
            section = sections.outside(wait, at)
        elif first:
            section = "prologue"
        windows.append(count.window(wait, range(start, wait.index), section))
        if loop is not None and first:
            same = [w for w, other in zip(waits, around, strict=True) if other == loop]
            inside = _extent(flow, loop)
            steady = [*range(inside.start, wait.index), *range(same[-1].index + 1, inside.stop)]
            windows.append(count.window(wait, steady, "body"))
    return tuple(windows)


class _Sections:
    """Where a wait is, among the loops with waits that its own threads can run through."""

    def __init__(self, flow: ControlFlow, waits: Sequence[SassSite], loops: Sequence[Loop]) -> None:
        self._flow = flow
        self._waits = waits
        self._behind = {loop.header: flow.reachable(loop.header) for loop in loops}
        self._reached = {wait.index: flow.reachable(flow.block_of(wait.index)) for wait in waits}

    def follows(self, before: SassSite | None, wait: SassSite) -> bool:
        """Whether control can come from one wait (``None``: the start) to the other."""
        reached = self._flow.reachable(0) if before is None else self._reached[before.index]
        return self._flow.block_of(wait.index) in reached

    def outside(self, wait: SassSite, at: int) -> MachineSection:
        """The section of a wait that is in no loop."""
        block = self._flow.block_of(wait.index)
        if any(block in behind for behind in self._behind.values()):
            return "epilogue"
        if any(header in self._reached[wait.index] for header in self._behind):
            return "prologue"
        earlier = any(self.follows(other, wait) for other in self._waits[:at])
        return "body" if earlier else "prologue"


class _Counter:
    """Counts what stands at given places."""

    def __init__(self, flow: ControlFlow, sites: Sequence[SassSite], skipped: set[int]) -> None:
        self._instructions = flow.function.instructions
        self._mmas = {site.index for site in sites if site.op in _MMAS}
        self._copies = {site.index for site in sites if site.op in _COPIES}
        self._skipped = skipped
        self._roles = roles_by_instruction(flow)

    def window(
        self, wait: SassSite, places: Iterable[int], section: MachineSection
    ) -> OverlapWindow:
        inside = [
            self._instructions[at]
            for at in places
            if at not in self._skipped and _executes(self._instructions[at])
        ]
        return OverlapWindow(
            section=section,
            wait=" ".join((wait.opcode, ", ".join(self._instructions[wait.index].operands))),
            cuda_line=wait.cuda_line,
            instructions=len(inside),
            mma=sum(1 for i in inside if i.index in self._mmas),
            async_copies=sum(1 for i in inside if i.index in self._copies),
            loads=sum(1 for i in inside if i.head in _LOADS),
            role=self._roles.get(wait.index),
        )


def _executes(instruction: Instruction) -> bool:
    """Whether it does anything: ptxas fills in ``NOP`` and ``@!PT LDS RZ, [RZ]``."""
    return instruction.head != "NOP" and instruction.predicate not in ("!PT", "!UPT")


def _innermost(flow: ControlFlow, loops: Sequence[Loop], wait: SassSite) -> Loop | None:
    around = [loop for loop in flow.loops_around(wait.index) if loop in loops]
    return around[-1] if around else None


def _extent(flow: ControlFlow, loop: Loop) -> range:
    """From the loop's header to the end of its last latch, as it is laid out."""
    last = flow.instructions(max(loop.latches))[-1]
    return range(flow.starts[loop.header], last.index + 1)


def _behind_the_last_exit(flow: ControlFlow, start: int, stop: int) -> int:
    """Behind the last instruction, from ``start`` on, that nothing falls through."""
    instructions = flow.function.instructions[start:stop]
    leaving = [i.index for i in instructions if i.head in _LEAVES and not is_conditional(i)]
    return leaving[-1] + 1 if leaving else start
