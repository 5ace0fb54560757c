"""Where can control go, and which instructions repeat?  Blocks, edges and natural loops of SASS.

Branches by CUDA Binary Utilities, "Instruction Set Reference" (control instructions).  A call
falls through (it returns) and reaches its target; ``BSYNC`` falls through, since the label of its
``BSSY`` stands behind it.  Code that nothing reaches (ptxas pads a function with a branch to
itself) is in no loop.  Not handled: an indexed branch whose targets nvdisasm doesn't name is in
``indirect``, its edges are missing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from stagebench.sass.line_grammar import label_of
from stagebench.sass.program import Instruction, SassFunction

_BRANCHES = ("BRA", "JMP")
_INDIRECT = ("BRX", "BRXU", "JMX", "JMXU")
_ENDS = ("EXIT", "RET", "KILL")
_ALSO_REACHED = ("CALL", "WARPSYNC")


@dataclass(frozen=True)
class Loop:
    """A natural loop: ``header`` and ``blocks`` are block numbers, ``latches`` where it repeats."""

    header: int
    latches: tuple[int, ...]
    blocks: frozenset[int]


@dataclass(frozen=True)
class ControlFlow:
    """``starts`` holds the first instruction of each block, ``successors`` edges between blocks.

    ``loops`` are ordered by header.  ``irreducible`` counts edges back into a loop that has a
    second entry, ``indirect`` the branches whose targets are not known.
    """

    function: SassFunction
    starts: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...]
    loops: tuple[Loop, ...]
    irreducible: int
    indirect: int

    def block_of(self, index: int) -> int:
        """The block that an instruction is in."""
        return bisect_right(self.starts, index) - 1

    def instructions(self, block: int) -> tuple[Instruction, ...]:
        """The instructions of a block."""
        ends = (*self.starts[1:], len(self.function.instructions))
        return self.function.instructions[self.starts[block] : ends[block]]

    def loops_around(self, index: int) -> tuple[Loop, ...]:
        """The loops that an instruction is in, outermost (largest) first."""
        block = self.block_of(index)
        around = [loop for loop in self.loops if block in loop.blocks]
        return tuple(sorted(around, key=lambda loop: -len(loop.blocks)))

    def reachable(self, start: int) -> frozenset[int]:
        """Blocks that can be reached from block ``start``, itself included."""
        return frozenset(_order(self.successors, start))


def control_flow(function: SassFunction) -> ControlFlow:
    """Blocks, edges and loops of a function."""
    instructions = function.instructions
    starts = {0, *(at for at in function.labels.values() if at < len(instructions))}
    starts |= {
        i.index + 1 for i in instructions[:-1] if i.head in (*_BRANCHES, *_INDIRECT, *_ENDS, "CALL")
    }
    firsts = tuple(sorted(starts))
    ends = (*firsts[1:], len(instructions))
    successors = tuple(
        _successors(function, firsts, instructions[start:end])
        for start, end in zip(firsts, ends, strict=True)
    )
    loops, irreducible = _loops(successors)
    indirect = sum(1 for i in instructions if i.head in _INDIRECT)
    return ControlFlow(function, firsts, successors, loops, irreducible, indirect)


def target_of(function: SassFunction, instruction: Instruction) -> int | None:
    """The index of the instruction that a branch goes to; ``None`` outside the section."""
    labels = [label_of(operand) for operand in instruction.operands]
    named = [function.labels[label] for label in labels if label in function.labels]
    return named[-1] if named else None


def is_conditional(instruction: Instruction) -> bool:
    """Whether control can also go to the next instruction."""
    if instruction.predicate not in (None, "PT", "UPT"):
        return True
    if instruction.head in _BRANCHES:
        return len(instruction.operands) > 1 or "DIV" in instruction.modifiers
    return False


def _successors(
    function: SassFunction, starts: tuple[int, ...], block: tuple[Instruction, ...]
) -> tuple[int, ...]:
    last = block[-1]
    leaves = last.head in (*_BRANCHES, *_INDIRECT, *_ENDS) and not is_conditional(last)
    reached = [] if leaves else [last.index + 1]
    for instruction in block:
        if instruction.head in (*_BRANCHES, *_ALSO_REACHED):
            target = target_of(function, instruction)
            reached += [] if target is None else [target]
    count = len(function.instructions)
    return tuple(sorted({bisect_right(starts, at) - 1 for at in reached if at < count}))


def _order(successors: tuple[tuple[int, ...], ...], start: int) -> list[int]:
    """Blocks in reverse post-order."""
    seen = {start}
    post: list[int] = []
    stack = [(start, iter(successors[start]))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            post.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    return post[::-1]


def _loops(successors: tuple[tuple[int, ...], ...]) -> tuple[tuple[Loop, ...], int]:
    order = _order(successors, 0)
    position = {block: at for at, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for following in successors[block]:
            before[following].append(block)
    parents = _dominators(order, position, before)
    bodies: dict[int, set[int]] = {}
    latches: dict[int, list[int]] = {}
    irreducible = 0
    for block in order:
        for header in successors[block]:
            if position[header] > position[block]:
                continue
            if not _dominates(header, block, parents):
                irreducible += 1
                continue
            latches.setdefault(header, []).append(block)
            bodies.setdefault(header, {header}).update(_body(header, block, before))
    loops = (
        Loop(header, tuple(sorted(latches[header])), frozenset(bodies[header]))
        for header in sorted(bodies)
    )
    return tuple(loops), irreducible


def _body(header: int, latch: int, before: dict[int, list[int]]) -> set[int]:
    body = {header, latch}
    work = [latch] if latch != header else []
    while work:
        for block in before[work.pop()]:
            if block not in body:
                body.add(block)
                work.append(block)
    return body


def _dominators(
    order: list[int], position: dict[int, int], before: dict[int, list[int]]
) -> dict[int, int]:
    """Immediate dominators (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm)."""
    parents = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            parent = _common((b for b in before[block] if b in parents), parents, position)
            if parents.get(block) != parent:
                parents[block] = parent
                changed = True
    return parents


def _common(blocks: Iterable[int], parents: dict[int, int], position: dict[int, int]) -> int:
    found: int | None = None
    for block in blocks:
        if found is None:
            found = block
            continue
        one, other = found, block
        while one != other:
            while position[one] > position[other]:
                one = parents[one]
            while position[other] > position[one]:
                other = parents[other]
        found = one
    assert found is not None, "a block that is reached has a predecessor"  # noqa: S101
    return found


def _dominates(one: int, block: int, parents: dict[int, int]) -> bool:
    while block != one and parents[block] != block:
        block = parents[block]
    return block == one
