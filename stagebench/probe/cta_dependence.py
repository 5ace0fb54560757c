"""Can two CTAs of a grid execute different numbers of waits?  Which registers depend on the CTA.

Flow-insensitive and by name, so that it errs towards yes.  Values that go through memory are not
followed: a branch on one is not known to the walk either.
"""

from __future__ import annotations

from collections.abc import Iterator

from stagebench.ptx.records import (
    Address,
    Arguments,
    Function,
    Instruction,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Vector,
)

_SPECIAL = ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank")
_DECIDES = ("bra", "brx", "ret", "exit", "trap")


def depends_on_cta(function: Function, sites: frozenset[int]) -> bool:
    """Whether a branch, or the guard of one of the sites, may differ between CTAs."""
    tainted: set[str] = set()
    changed = True
    while changed:
        changed = False
        for instruction in function.instructions:
            written, read = _names(instruction)
            if not tainted.issuperset(written) and any(_differs(one, tainted) for one in read):
                tainted.update(written)
                changed = True
    for index, instruction in enumerate(function.instructions):
        if instruction.head not in _DECIDES and index not in sites:
            continue
        guard = instruction.guard
        deciding = [guard.register] if guard is not None else []
        if instruction.head == "brx":
            deciding += list(_registers(instruction.operands[0]))
        if any(_differs(one, tainted) for one in deciding):
            return True
    return False


def _differs(name: str, tainted: set[str]) -> bool:
    return name in tainted or name.startswith(_SPECIAL)


def _names(instruction: Instruction) -> tuple[set[str], set[str]]:
    """Names written (the first operand's) and read."""
    operands = instruction.operands
    written: set[str] = set()
    if operands and not isinstance(operands[0], Address):
        written = set(_registers(operands[0]))
    read = {name for operand in operands[1:] for name in _registers(operand)}
    if instruction.guard is not None:
        read.add(instruction.guard.register)
    return written, read


def _registers(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Name):
        yield operand.text
    elif isinstance(operand, Negated | Offset):
        yield operand.name.text
    elif isinstance(operand, Pair):
        yield from _registers(operand.first)
        yield from _registers(operand.second)
    elif isinstance(operand, Address):
        yield from _registers(operand.base)
        for item in operand.items:
            yield from _registers(item)
    elif isinstance(operand, Vector | Arguments):
        for item in operand.items:
            yield from _registers(item)
