"""Where does the machine code synchronise, and which PTX and CUDA line is each place from?

What one instruction can't tell is settled here.  ``DEPBAR.LE SB0, N`` waits for groups of cp.async
or of bulk copies: what the PTX line says, else the only kind that the function commits; neither:
``unknown:DEPBAR.LE``.  The one before ``UTCATOMSWS`` belongs to the allocation of tensor memory.

ptxas 13.0 makes three polls of a spinning mbarrier wait: one in line and, out of line, a loop of a
try and, after a sleep, a retry.  The first is the ``mbarrier_wait``, the others ``mbarrier_poll``.
A poll that nobody repeats is an ``mbarrier_try_wait``.  The line of the poll in line is that of the
PTX instruction before the spin; the loop's is exact and is used for both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stagebench.sass.control_flow import ControlFlow, Loop, is_conditional
from stagebench.sass.program import Instruction, SassFunction
from stagebench.sass.sync_ops import GROUP_WAIT, SyncRead, read_sync

POLL = "mbarrier_poll"

_SPIN_HEADS = frozenset(
    {"BRA", "BSSY", "BSYNC", "IMAD", "MOV", "NANOSLEEP", "NOP", "PLOP3", "R2UR", "SHF", "SYNCS"}
    | {"UMOV", "VOTEU", "WARPSYNC", "YIELD", "LDL", "STL"}  # the last two: a spilled register
)
_ADDRESS_HEADS = frozenset(
    {"IADD3", "LEA", "LOP3", "S2R", "S2UR", "UIADD3", "ULEA", "ULOP3", "USHF", "VIADD"}
)
"""Integer arithmetic without side effects, such as an mbarrier's address is made of."""
_REGISTER = re.compile(r"(?<![\w.])U?R\d+")
_COMMITS = {"cp_async_wait": ("LDGDEPBAR", "LDGSTS"), "tma_store_wait": ("UTMACMDFLUSH",)}
_ALLOCATION_DISTANCE = 2


@dataclass(frozen=True)
class SassSite:
    """One op of one instruction; lines are 1-based, ``None`` where the assembler gives none."""

    op: str
    args: dict[str, int | str]
    opcode: str
    index: int
    pc: int
    ptx_line: int | None
    cuda_line: int | None


def sync_sites(flow: ControlFlow, ptx_ops: Mapping[int, str] | None = None) -> tuple[SassSite, ...]:
    """All sites in program order.  ``ptx_ops`` maps a PTX line to its op, where PTX was read."""
    function = flow.function
    polls, waits = _spinning_polls(flow)
    lines = {first: function.instructions[loop].ptx_line for loop, first in polls.items()}
    sites: list[SassSite] = []
    for instruction in function.instructions:
        for read in read_sync(instruction):
            op: str | None = read.op
            if op == GROUP_WAIT:
                op = _group_wait(function, instruction, ptx_ops or {})
            elif op == "mbarrier_wait" and instruction.index not in waits:
                again = _retries(instruction) or instruction.index in polls
                op = POLL if again else "mbarrier_try_wait"
            if op is not None:
                line = lines.get(instruction.index, instruction.ptx_line)
                sites.append(_site(instruction, op, read, line))
    return tuple(sites)


def site_totals(sites: Sequence[SassSite]) -> dict[str, int]:
    """How many sites each op has, sorted by op."""
    return dict(sorted(Counter(site.op for site in sites).items()))


def _site(instruction: Instruction, op: str, read: SyncRead, ptx_line: int | None) -> SassSite:
    return SassSite(
        op=op,
        args=dict(read.args),
        opcode=instruction.opcode,
        index=instruction.index,
        pc=instruction.pc,
        ptx_line=ptx_line,
        cuda_line=instruction.cuda_line,
    )


def _group_wait(
    function: SassFunction, instruction: Instruction, ptx_ops: Mapping[int, str]
) -> str | None:
    """The op of a wait for groups; ``None`` for the one of a tensor memory allocation."""
    behind = function.instructions[instruction.index + 1 :][:_ALLOCATION_DISTANCE]
    if any(following.head == "UTCATOMSWS" for following in behind):
        return None
    if instruction.operands[0] != "SB0":  # groups count on the first scoreboard
        return f"unknown:{instruction.opcode}"
    said = ptx_ops.get(instruction.ptx_line) if instruction.ptx_line is not None else None
    if said in _COMMITS:
        return said
    heads = {i.head for i in function.instructions}
    kinds = [op for op, commits in _COMMITS.items() if not heads.isdisjoint(commits)]
    return kinds[0] if len(kinds) == 1 else f"unknown:{instruction.opcode}"


def is_poll(instruction: Instruction) -> bool:
    """Whether an instruction tests an mbarrier's phase."""
    return instruction.head == "SYNCS" and instruction.modifiers[:1] == ("PHASECHK",)


def _retries(poll: Instruction) -> bool:
    """Whether a poll runs only where an earlier one, into the same predicate, failed."""
    return poll.predicate == f"!{poll.operands[0]}" if poll.operands else False


def spin_loops(flow: ControlFlow) -> tuple[Loop, ...]:
    """The innermost loops that do nothing but test an mbarrier."""
    found = []
    for loop in flow.loops:
        inside = [i for block in sorted(loop.blocks) for i in flow.instructions(block)]
        addresses = [i for i in inside if i.head in _ADDRESS_HEADS]
        spins = all(
            i.head in _SPIN_HEADS | _ADDRESS_HEADS and (i.head != "SYNCS" or is_poll(i))
            for i in inside
        )
        if spins and any(is_poll(i) for i in inside) and _only_addresses(addresses, inside):
            found.append(loop)
    return tuple(found)


def _only_addresses(made: Sequence[Instruction], inside: Sequence[Instruction]) -> bool:
    """Do these do nothing but make the operands of a poll, anew in each trip?

    Where registers are short, ptxas computes an mbarrier's address again within the loop.  What is
    carried from trip to trip (tries that are counted), or goes anywhere else, is other work.
    """
    needed = {register for i in inside if is_poll(i) for register in _registers(i.operands)}
    for instruction in reversed(inside):
        if is_poll(instruction) or not instruction.operands:
            continue
        written = set(_registers(instruction.operands[:1]))
        if instruction in made and not (written and written <= needed):
            return False
        if written & needed:
            needed |= set(_registers(instruction.operands[1:]))
    results = {register for i in made for register in _registers(i.operands[:1])}
    before: set[str] = set()
    for instruction in inside:
        sources = instruction.operands[1:] if instruction in made else ()
        if any(register in results - before for register in _registers(sources)):
            return False
        before |= set(_registers(instruction.operands[:1]))
    return True


def _registers(operands: Iterable[str]) -> list[str]:
    return [register for operand in operands for register in _REGISTER.findall(operand)]


def _spinning_polls(flow: ControlFlow) -> tuple[dict[int, int], frozenset[int]]:
    """Polls in a loop behind a first poll in line, to that first one; and all first polls."""
    found: dict[int, int] = {}
    firsts: set[int] = set()
    before: list[list[int]] = [[] for _ in flow.successors]
    for block, following in enumerate(flow.successors):
        for successor in following:
            before[successor].append(block)
    spins = spin_loops(flow)
    spinning = frozenset(block for loop in spins for block in loop.blocks)
    for loop in spins:
        first = _first_poll(flow, loop, before, spinning)
        inside = [i.index for b in sorted(loop.blocks) for i in flow.instructions(b) if is_poll(i)]
        firsts.add(inside[0] if first is None else first)
        if first is not None:
            found |= dict.fromkeys(inside, first)
    return found, frozenset(firsts)


def _first_poll(
    flow: ControlFlow, loop: Loop, before: Sequence[Sequence[int]], spinning: frozenset[int]
) -> int | None:
    """The poll, outside every spin loop, whose failure leads into this one.

    Between the two only registers are set up: its address moves from uniform registers to others.
    A spin loop before it is another wait, that has ended.
    """
    outside = [block for block in before[loop.header] if block not in loop.blocks]
    while len(outside) == 1 and outside[0] not in spinning:
        instructions = flow.instructions(outside[0])
        polls = [i for i in instructions if is_poll(i)]
        if polls:
            return polls[-1].index if is_conditional(instructions[-1]) else None
        outside = list(before[outside[0]])
    return None
