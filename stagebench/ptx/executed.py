"""How often does each thread of one CTA execute each instruction?  A walk on the CPU.

All threads start together; integers and predicates are computed, one value for all threads or one
for each.  Where a predicate differs between threads the class splits and each part goes on alone.
What is not known is never guessed: a branch on an unknown predicate is stepped over if nothing
between it and the point where both ways meet synchronises (registers written there are then
unknown, loads and stores there are not counted), and otherwise it ends that path.
Assumptions: waits succeed; warps are runs of 32 linear thread indices; made-up addresses are not
zero and are aligned.
Not handled: calls of functions that synchronise; values that go through memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stagebench.ptx.integer_ops import Value
from stagebench.ptx.program import Program, compile_program
from stagebench.ptx.records import Function, Module
from stagebench.ptx.thread_class import Placement, ThreadClass

MAX_STEPS = 5_000_000


@dataclass(frozen=True)
class ThreadGroup:
    """Threads that execute the same number of each counted instruction.

    ``threads`` are linear indices, ascending; ``counts`` is by index into
    `Function.instructions`, ``sums`` by index and name of a value (bytes of a copy).
    """

    threads: tuple[int, ...]
    counts: dict[int, int]
    sums: dict[tuple[int, str], int]

    @property
    def warps(self) -> tuple[int, ...]:
        """Warps that the threads are of."""
        return tuple(sorted({thread // 32 for thread in self.threads}))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last thread of each run of neighbours."""
        found: list[tuple[int, int]] = []
        for thread in self.threads:
            if found and found[-1][1] == thread - 1:
                found[-1] = (found[-1][0], thread)
            else:
                found.append((thread, thread))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a path ended because nothing known says how it goes on."""

    reason: str
    ptx_line: int
    instruction: int
    threads: int


@dataclass(frozen=True)
class Execution:
    """The result of a walk.

    ``uncounted`` are counted instructions whose guard, or whether they are reached at all, was not
    known somewhere; their counts are lower bounds.  ``values`` are the values seen for operands of
    sites (``None`` among them: not known once).
    """

    program: Program
    placement: Placement
    groups: tuple[ThreadGroup, ...]
    stops: tuple[Stop, ...]
    uncounted: frozenset[int]
    values: dict[tuple[int, str], frozenset[int | None]]
    steps: int

    @property
    def complete(self) -> bool:
        """Whether every thread reached the end and every site was counted."""
        sites = {site.index for site in self.program.sites}
        return not self.stops and not self.uncounted & sites


def walk(
    module: Module,
    function: Function,
    placement: Placement,
    params: Mapping[str, int | None] | None = None,
    *,
    max_steps: int = MAX_STEPS,
) -> Execution:
    """Walk one CTA; ``params`` gives values of the kernel's PTX parameters by name.

    A parameter that is not given is not known; `stagebench.ptx.walk_facts.parameter_values` makes
    addresses for pointers.
    ``max_steps`` bounds the basic blocks that are executed.
    """
    program = compile_program(module, function, params or {})
    return walk_program(program, placement, max_steps=max_steps)


def walk_program(
    program: Program, placement: Placement, *, max_steps: int = MAX_STEPS
) -> Execution:
    """Walk another CTA of a function that is compiled already."""
    return _Walk(program, placement, max_steps).run()


@dataclass
class _Walk:
    """The state of a walk."""

    program: Program
    placement: Placement
    max_steps: int
    finished: list[ThreadClass] = field(default_factory=list)
    work: list[ThreadClass] = field(default_factory=list)
    stops: dict[tuple[int, str], int] = field(default_factory=dict)
    steps: int = 0

    def run(self) -> Execution:
        self.jumps = [self._jump(block) for block in range(len(self.program.endings))]
        start = ThreadClass(
            self.placement, len(self.program.registers.slots), len(self.program.steps)
        )
        self.work.append(start)
        if not self.program.steps:
            self.finished.append(self.work.pop())
        while self.work:
            self._go(self.work.pop())
        instructions = self.program.function.instructions
        return Execution(
            program=self.program,
            placement=self.placement,
            groups=_groups(self.program, self.finished),
            stops=tuple(
                Stop(reason, instructions[index].span.line, index, threads)
                for (index, reason), threads in sorted(self.stops.items())
            ),
            uncounted=frozenset(one for state in self.finished for one in state.unknown),
            values={key: frozenset(found) for key, found in start.observed.items()},
            steps=self.steps,
        )

    def _go(self, state: ThreadClass) -> None:
        """Take a class as far as it stays together."""
        program, steps = self.program, self.program.steps
        obstacles = program.obstacles
        block: int | None = state.block
        while block is not None:
            if self.steps >= self.max_steps:
                self._stop(state, block, "the bound on steps was reached")
                return
            if block in obstacles:
                self._stop(state, block, obstacles[block])
                return
            self.steps += 1
            state.visits[block] += 1
            for step in steps[block]:
                step(state)
            straight = self.jumps[block]
            if isinstance(straight, int):
                block = straight
                continue
            state.block = block
            block = self._branch(state, block)
        # finished, split or stopped: `_branch` has put the class where it belongs

    def _jump(self, block: int) -> int | None:
        """Where a block always goes; ``None``: it depends, or it is the end."""
        ending = self.program.endings[block]
        always = ending.guard is None and ending.selector is None
        return ending.targets[0] if always else None

    def _branch(self, state: ThreadClass, block: int) -> int | None:
        """Return the next block of a class that stays together."""
        ending = self.program.endings[block]
        if ending.selector is not None:
            return self._select(state, block)
        flag: Value | None = True if ending.guard is None else ending.guard(state)
        if flag is None:
            return self._unknown(state, block)
        if isinstance(flag, np.ndarray):
            if flag.all():
                flag = True
            elif not flag.any():
                flag = False
            else:
                self._continue(state.part(flag), ending.targets[0])
                self._continue(state.part(~flag), ending.following)
                return None
        return self._follow(state, ending.targets[0] if flag else ending.following)

    def _select(self, state: ThreadClass, block: int) -> int | None:
        """Take ``brx.idx``: one part for each index."""
        ending = self.program.endings[block]
        assert ending.selector is not None  # noqa: S101 - the caller looked
        value = ending.selector(state)
        if value is None or ending.guard is not None:
            return self._unknown(state, block)
        indices = np.unique(value).tolist()
        if any(one >= len(ending.targets) for one in indices):
            return self._unknown(state, block)
        if len(indices) == 1:
            return self._follow(state, ending.targets[indices[0]])
        for one in indices:
            self._continue(state.part(np.asarray(value == one)), ending.targets[one])
        return None

    def _follow(self, state: ThreadClass, target: int | None) -> int | None:
        if target is None:
            self.finished.append(state)
        return target

    def _continue(self, state: ThreadClass, target: int | None) -> None:
        if target is None:
            self.finished.append(state)
        else:
            state.block = target
            self.work.append(state)

    def _unknown(self, state: ThreadClass, block: int) -> int | None:
        """Step over a branch that cannot be decided, or end the path."""
        meeting = self.program.flow.post_idom[block]
        region = None if meeting is None else self._between(block, meeting)
        if meeting is None or region is None:
            self._stop(state, block, "a branch that depends on data")
            return None
        for one in region:
            for slot in self.program.writes[one]:
                state.registers[slot] = None
            found = self.program.flow.blocks[one]
            state.unknown.update(
                index for index in range(found.first, found.end) if index in self.program.families
            )
        return meeting

    def _between(self, block: int, meeting: int) -> set[int] | None:
        """Blocks from a branch to where its ways meet; ``None``: something there synchronises."""
        blocks = self.program.flow.blocks
        sites = {site.index for site in self.program.sites}
        region: set[int] = set()
        work = list(blocks[block].successors)
        while work:
            one = work.pop()
            if one == meeting or one in region:
                continue
            region.add(one)
            found = blocks[one]
            inside = range(found.first, found.end)
            if one in self.program.obstacles or any(index in sites for index in inside):
                return None
            work.extend(found.successors)
        return region

    def _stop(self, state: ThreadClass, block: int, reason: str) -> None:
        key = (self.program.endings[block].instruction, reason)
        self.stops[key] = self.stops.get(key, 0) + len(state.threads)
        self.finished.append(state)


def _groups(program: Program, finished: list[ThreadClass]) -> tuple[ThreadGroup, ...]:
    """Merge threads with equal counts, whatever ways they went."""
    flow = program.flow
    sums = sorted({key for state in finished for key in state.sums})
    merged: dict[bytes, tuple[Any, list[int]]] = {}
    for state in finished:
        columns = [
            state.guarded.get(index, 0)
            if program.function.instructions[index].guard is not None
            else state.visits[flow.block_of[index]]
            for index in program.counted
        ]
        columns += [state.sums.get(key, 0) for key in sums]
        size = len(state.threads)
        if any(isinstance(one, np.ndarray) for one in columns):
            table = np.stack(
                [np.broadcast_to(np.asarray(one, dtype=np.int64), (size,)) for one in columns], 1
            )
            rows, inverse = np.unique(table, axis=0, return_inverse=True)
            inverse = inverse.reshape(-1)
            parts = [(row, state.threads[inverse == place]) for place, row in enumerate(rows)]
        else:
            parts = [(np.array(columns, dtype=np.int64), state.threads)]
        for row, threads in parts:
            merged.setdefault(row.tobytes(), (row, []))[1].extend(threads.tolist())
    width = len(program.counted)
    groups = []
    for row, threads in merged.values():
        values = row.tolist()
        groups.append(
            ThreadGroup(
                threads=tuple(sorted(threads)),
                counts=dict(zip(program.counted, values[:width], strict=True)),
                sums=dict(zip(sums, values[width:], strict=True)),
            )
        )
    return tuple(sorted(groups, key=lambda group: group.threads[0]))
