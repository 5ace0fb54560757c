"""Where does control go?  Basic blocks of a PTX function, dominators, natural loops.

An inline-asm block is one unit: branches between its own labels are its own matter, so a spin
inside it is no loop here and a probe can stand before or behind it.  ``units=False`` looks inside.
Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001); natural loops as
in Aho, Sethi and Ullman, "Compilers", 9.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.ptx.opcodes import BRANCHES, ENDS
from stagebench.ptx.records import Function, Name


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions ``first`` up to, not with, ``end``; ``successors`` in the order: taken, next.

    ``leaves`` is true where a path ends here (``ret``, ``exit``, ``trap``).
    """

    index: int
    first: int
    end: int
    successors: tuple[int, ...]
    leaves: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: all blocks from which its header is reached again without leaving."""

    header: int
    blocks: frozenset[int]
    back_edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ControlFlow:
    """The graph of one function.

    ``idom`` holds immediate dominators, ``post_idom`` immediate post-dominators (``None``: the
    entry, the way out, or never reached).  ``loops`` are outermost first.
    """

    function: Function
    blocks: tuple[Block, ...]
    block_of: tuple[int, ...]
    idom: tuple[int | None, ...]
    post_idom: tuple[int | None, ...]
    loops: tuple[Loop, ...]

    def loops_of(self, instruction: int) -> tuple[Loop, ...]:
        """Loops around an instruction, outermost first."""
        block = self.block_of[instruction]
        return tuple(loop for loop in self.loops if block in loop.blocks)

    def lines(self, block: int) -> tuple[int, int]:
        """First and last line of a block's instructions."""
        found = self.blocks[block]
        instructions = self.function.instructions
        return instructions[found.first].span.line, instructions[found.end - 1].span.last_line


def control_flow(function: Function, *, units: bool = True) -> ControlFlow:
    """Return the graph of a body; raises `UsageError` where a label is not in scope."""
    count = len(function.instructions)
    exits = [_exits(function, index, units=units) for index in range(count)]
    blocks, block_of = _blocks(function, exits, units=units)
    successors = [block.successors for block in blocks]
    idom = dominators(successors, 0) if blocks else []
    reverse = _reversed(blocks)
    post = dominators(reverse, len(blocks)) if blocks else []
    return ControlFlow(
        function=function,
        blocks=tuple(blocks),
        block_of=tuple(block_of),
        idom=tuple(idom),
        post_idom=tuple(None if one == len(blocks) else one for one in post[: len(blocks)]),
        loops=tuple(_loops(blocks, idom)),
    )


def targets_of(function: Function, index: int) -> tuple[int, ...]:
    """Instructions that a branch may go to (its own fall-through is not among them)."""
    instruction = function.instructions[index]
    names: tuple[str, ...] = ()
    if instruction.head == "bra":
        names = tuple(one.text for one in instruction.operands if isinstance(one, Name))
    elif instruction.head == "brx":
        last = instruction.operands[-1]
        shown = last.text if isinstance(last, Name) else ""
        names = function.find_targets(shown, instruction.scope) or ("",)
    found = []
    for name in names:
        target = function.find_label(name, instruction.scope)
        if target is None:
            raise UsageError(
                f"PTX line {instruction.span.line}: {instruction.opcode} goes to a label that is "
                f"not in scope: {name or 'an unknown list of targets'}",
                hint="Assemble the text with ptxas to see whether it is valid.",
            )
        found.append(target)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Exits:
    """Where control goes from an instruction that ends a block, or may leave from within it."""

    targets: tuple[int, ...]
    falls: bool
    leaves: bool


def _exits(function: Function, index: int, *, units: bool) -> _Exits | None:
    """Return the ways out of an instruction; ``None``: straight on."""
    instruction = function.instructions[index]
    guarded = instruction.guard is not None
    asm = None if instruction.asm is None else function.asm_blocks[instruction.asm]
    if instruction.head in ENDS:
        return _Exits((), guarded or (units and asm is not None), True)
    if instruction.head not in BRANCHES:
        return None
    targets = targets_of(function, index)
    if units and asm is not None and all(asm.first <= one <= asm.end for one in targets):
        return None
    return _Exits(targets, guarded and instruction.head == "bra", False)


def _blocks(
    function: Function, exits: Sequence[_Exits | None], *, units: bool
) -> tuple[list[Block], list[int]]:
    count = len(function.instructions)
    starts = {0} if count else set()
    for index, found in enumerate(exits):
        if found is not None:
            starts |= {one for one in (*found.targets, index + 1) if one < count}
    if units:
        for asm in function.asm_blocks:
            starts -= set(range(asm.first + 1, asm.end))
    ordered = sorted(starts)
    ends = [*ordered[1:], count]
    block_of = [0] * count
    for position, (first, end) in enumerate(zip(ordered, ends, strict=True)):
        block_of[first:end] = [position] * (end - first)
    blocks = []
    for position, (first, end) in enumerate(zip(ordered, ends, strict=True)):
        ways = [one for one in exits[first:end] if one is not None]
        targets = [target for way in ways for target in way.targets]
        reached = [block_of[one] for one in targets if one < count]
        leaves = any(way.leaves for way in ways) or any(one >= count for one in targets)
        last = exits[end - 1]
        if last is None or last.falls:
            if end < count:
                reached.append(position + 1)
            else:
                leaves = True
        blocks.append(Block(position, first, end, tuple(dict.fromkeys(reached)), leaves))
    return blocks, block_of


def _reversed(blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Edges backwards; the last node stands for the way out of the function."""
    reverse: list[list[int]] = [[] for _ in range(len(blocks) + 1)]
    for block in blocks:
        for target in block.successors:
            reverse[target].append(block.index)
        if block.leaves:
            reverse[len(blocks)].append(block.index)
    return [tuple(one) for one in reverse]


def dominators(successors: Sequence[Sequence[int]], root: int) -> list[int | None]:
    """Immediate dominators of a graph; ``None`` for the root and for what it does not reach."""
    order = _postorder(successors, root)
    rank = {node: position for position, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    idom: dict[int, int] = {root: root}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == root:
                continue
            new: int | None = None
            for one in predecessors[node]:
                if one in idom:
                    new = one if new is None else _meet(idom, rank, one, new)
            if new is not None and idom.get(node) != new:
                idom[node] = new
                changed = True
    return [idom.get(node) if node != root else None for node in range(len(successors))]


def _meet(idom: dict[int, int], rank: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = idom[one]
        while rank[other] < rank[one]:
            other = idom[other]
    return one


def _postorder(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    seen = {root}
    order: list[int] = []
    stack = [(root, iter(successors[root]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def _loops(blocks: Sequence[Block], idom: Sequence[int | None]) -> list[Loop]:
    """Natural loops; those that share a header are one."""
    back: dict[int, list[int]] = {}
    for block in blocks:
        for target in block.successors:
            if _dominates(idom, target, block.index):
                back.setdefault(target, []).append(block.index)
    found = []
    for header, tails in back.items():
        members = frozenset().union(*(repeated(blocks, tail, header) for tail in tails))
        edges = tuple((tail, header) for tail in sorted(tails))
        found.append(Loop(header, members, edges))
    return sorted(found, key=lambda loop: (-len(loop.blocks), loop.header))


def repeated(blocks: Sequence[Block], tail: int, header: int) -> frozenset[int]:
    """Blocks that one back edge repeats: those from which its tail is reached, up to its header."""
    predecessors: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for target in block.successors:
            predecessors[target].append(block.index)
    members = {header}
    work = [tail]
    while work:
        node = work.pop()
        if node not in members:
            members.add(node)
            work.extend(predecessors[node])
    return frozenset(members)


def _dominates(idom: Sequence[int | None], above: int, node: int) -> bool:
    if node != 0 and idom[node] is None:
        return False  # never reached
    current: int | None = node
    while current is not None:
        if current == above:
            return True
        current = idom[current]
    return False
