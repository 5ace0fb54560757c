"""How many registers does the code really name, in all and in each warp role?

For a kernel with ``setmaxnreg`` the assembler's count is the launch budget.  What a role uses is
read off its code: the instructions that control can reach behind its ``USETMAXREG``, up to another
one.  Code that two roles share counts for both.

An operand names the first of several registers where it is wide.  Counted are the widths that are
part of the opcode: matrix accumulators of warp-groups, tensor memory loads, 64-bit addresses.

Measured (ptxas 13.0, 100 kernels for sm_80, sm_89, sm_90a, sm_100a): without ``setmaxnreg`` ptxas
reports 2 registers more than this count, and up to 5 more where the last register is of a vector.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stagebench.model.machine import RoleRegisters
from stagebench.sass.control_flow import ControlFlow
from stagebench.sass.program import Instruction
from stagebench.sass.sync_ops import read_sync

_REGISTER = re.compile(r"(?<![\w.])R(\d+)(\.64)?(?![\d])")
_WGMMA_SHAPE = re.compile(r"64x(\d+)x\d+")
_TENSOR_LOAD = re.compile(r"x(\d+)")
_ROLES = {"dec": "producer", "inc": "consumer"}


def registers_used(instructions: Iterable[Instruction]) -> int:
    """One more than the highest general register that the instructions name; 0 for none."""
    return max((_highest(instruction) + 1 for instruction in instructions), default=0)


def role_registers(flow: ControlFlow) -> tuple[RoleRegisters, ...]:
    """Budget and use of each role, in program order; empty without ``setmaxnreg``.

    A role that gives registers away is the ``producer``, one that takes them the ``consumer``
    (numbered from the second on: ``consumer_2``).
    """
    return tuple(
        RoleRegisters(role=role.name, budget=role.budget, used=registers_used(role.code))
        for role in _roles(flow)
    )


def roles_by_instruction(flow: ControlFlow) -> dict[int, str]:
    """The role of each instruction (by its index) that only one role can reach."""
    found: dict[int, set[str]] = {}
    for role in _roles(flow):
        for instruction in role.code:
            found.setdefault(instruction.index, set()).add(role.name)
    return {index: names.pop() for index, names in found.items() if len(names) == 1}


@dataclass(frozen=True)
class _Role:
    name: str
    budget: int
    code: tuple[Instruction, ...]


def _roles(flow: ControlFlow) -> Iterator[_Role]:
    seen = Counter[str]()
    for instruction in flow.function.instructions:
        for read in read_sync(instruction):
            budget = read.args.get("registers")
            if read.op != "setmaxnreg" or not isinstance(budget, int):
                continue
            role = _ROLES[str(read.args["kind"])]
            seen[role] += 1
            name = role if seen[role] == 1 else f"{role}_{seen[role]}"
            yield _Role(name, budget, tuple(_behind(flow, instruction)))


def _behind(flow: ControlFlow, start: Instruction) -> list[Instruction]:
    """What control can reach behind ``start`` before another ``USETMAXREG``."""
    first = flow.block_of(start.index)
    found = [i for i in flow.instructions(first) if i.index > start.index]
    seen = {first}
    work = [] if _moves(found) else list(flow.successors[first])
    while work:
        block = work.pop()
        if block in seen:
            continue
        seen.add(block)
        inside = flow.instructions(block)
        found += inside
        work += [] if _moves(inside) else flow.successors[block]
    return found


def _moves(instructions: Iterable[Instruction]) -> bool:
    return any(instruction.head == "USETMAXREG" for instruction in instructions)


def _highest(instruction: Instruction) -> int:
    highest = -1
    for operand in instruction.operands:
        for match in _REGISTER.finditer(operand):
            highest = max(highest, int(match[1]) + (1 if match[2] else 0))
    first = _REGISTER.fullmatch(instruction.operands[0]) if instruction.operands else None
    if first is not None:
        highest = max(highest, int(first[1]) + _width(instruction) - 1)
    return highest


def _width(instruction: Instruction) -> int:
    """Registers of the first operand, where the opcode says so."""
    modifiers = instruction.modifiers
    shape = _WGMMA_SHAPE.fullmatch(modifiers[0]) if modifiers else None
    if shape is not None and instruction.head in ("HGMMA", "IGMMA", "QGMMA"):
        # 64 by N results over 128 threads: N/2 each, two to a register where they are halves
        return int(shape[1]) // (4 if "F16" in modifiers else 2)
    count = _TENSOR_LOAD.fullmatch(modifiers[-1]) if modifiers else None
    return int(count[1]) if count is not None and instruction.head == "LDTM" else 1
