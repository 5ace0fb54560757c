"""How are instructions compiled whose operands are not simply sources and a result?

Moves and conversions, comparisons and choices, parameters, what looks across a warp, and the poll
of an mbarrier.  Each function returns the computation, or ``None``: the results are not known.
"""

from __future__ import annotations

from collections.abc import Callable

from stagebench.ptx import warp_ops
from stagebench.ptx.integer_ops import Value, comparison, conversion, mask
from stagebench.ptx.predicates import choose, combined, negated
from stagebench.ptx.records import Address, Name, Offset, Operand, Pair, Vector
from stagebench.ptx.thread_class import ThreadClass
from stagebench.ptx.typed_instruction import Results, Run, TypedInstruction


def _mov(of: TypedInstruction) -> Run | None:
    """``mov``, ``cvta``: a copy; ``mov.b64 {a, b}, c`` and back."""
    target, source = of.operands[0], of.operands[-1]
    if of.is_float:
        return None
    if isinstance(target, Vector):
        return _unpack(of, target, source)
    if isinstance(source, Vector):
        return _pack(of, source)
    return of.computed(lambda a: a, [source], [of.width or 64])


def _unpack(of: TypedInstruction, target: Vector, source: Operand) -> Run | None:
    getter = of.get(source, of.width)
    width = of.width // len(target.items)
    slots = [of.slot(one) for one in target.items]

    def run(state: ThreadClass) -> None:
        value = getter(state)
        for position, slot in enumerate(slots):
            if slot is not None:
                piece = None if value is None else mask(value >> position * width, width)
                state.registers[slot] = piece

    return run


def _pack(of: TypedInstruction, source: Vector) -> Run | None:
    width = of.width // len(source.items)

    def join(*values: Value) -> Value:
        found: Value = 0
        for position, value in enumerate(values):
            found = found | (value << position * width)
        return found

    return of.computed(join, source.items, [width] * len(source.items))


def _cvt(of: TypedInstruction) -> Run | None:
    """``cvt`` between integers."""
    floats = ("e2", "e3", "e4", "e5", "bf", "tf", "ue")
    if len(of.types) < 2 or any(part.startswith(floats) for part in of.parts):
        return None
    target, source = of.types[0], of.types[1]
    compute = conversion(target, source, saturate="sat" in of.parts)
    if compute is None:
        return None
    return of.computed(compute, of.operands[1:2], [int(source[1:])])


def _setp(of: TypedInstruction) -> Run | None:
    """``setp``, with a second destination and a combination with a predicate."""
    if of.type[:1] not in ("u", "s", "b"):
        return None
    compare = comparison(of.parts[1], of.width, of.is_signed)
    if compare is None:
        return None
    combine = next((part for part in of.parts[2:] if part in ("and", "or", "xor")), None)
    left, right = (of.get(one, of.width) for one in of.operands[1:3])
    third = None if combine is None else of.flag(of.operands[3])

    def results(state: ThreadClass) -> Results:
        a, b = left(state), right(state)
        found = None if a is None or b is None else compare(a, b)
        if combine is None or third is None:
            return found, negated(found)
        other = third(state)
        return combined(combine, found, other), combined(combine, negated(found), other)

    return of.stored_pair(results)


def _selp(of: TypedInstruction) -> Run | None:
    """``selp``: the operand that a predicate selects."""
    if of.is_float:
        return None
    yes, no = (of.get(one, of.width) for one in of.operands[1:3])
    flag = of.flag(of.operands[3])

    def result(state: ThreadClass) -> Value | None:
        chosen = flag(state)
        return None if chosen is None else choose(chosen, yes(state), no(state))

    return of.stored(result)


def _ld(of: TypedInstruction) -> Run | None:
    """``ld.param`` of a kernel's parameter whose value was given."""
    source = of.operands[1]
    if not isinstance(source, Address) or of.parts[1] != "param":
        return None
    name = source.base.text if isinstance(source.base, Name) else None
    if isinstance(source.base, Offset):
        name = f"{source.base.name.text}+{source.base.value}"
    value = None if name is None else of.params.get(name.removesuffix("+0"))
    if value is None or of.is_float:
        return None
    known = value & ((1 << of.width) - 1)
    return of.stored(lambda _: known)


def _elect(of: TypedInstruction) -> Run | None:
    """``elect.sync``: one lane of each warp."""
    if not isinstance(of.operands[0], Pair):
        return None
    members = of.get(of.operands[1], 32)
    return of.stored_pair(lambda state: warp_ops.elect(state, members(state)))


def _shfl(of: TypedInstruction) -> Run | None:
    """``shfl.sync``."""
    mode = next((one for one in of.parts if one in ("idx", "up", "down", "bfly")), "idx")
    value, lane, clamp = (of.get(one, 32) for one in of.operands[1:4])
    return of.stored_pair(
        lambda state: warp_ops.shuffle(state, mode, value(state), lane(state), clamp(state))
    )


def _vote(of: TypedInstruction) -> Run | None:
    """``vote.sync``."""
    mode = next((one for one in of.parts if one in ("all", "any", "uni", "ballot")), None)
    if mode is None:
        return None
    flag, members = of.flag(of.operands[1]), of.flag(of.operands[-1])
    return of.stored(lambda state: warp_ops.vote(state, mode, flag(state), members(state)))


def _activemask(of: TypedInstruction) -> Run | None:
    """``activemask``."""
    return of.stored(warp_ops.active_mask)


def _mbarrier(of: TypedInstruction) -> Run | None:
    """``mbarrier.try_wait``, ``.test_wait``: what is waited for arrives."""
    if of.parts[1] not in ("try_wait", "test_wait"):
        return None
    return of.stored(lambda _: True)


SPECIAL_STEPS: dict[str, Callable[[TypedInstruction], Run | None]] = {
    "mov": _mov,
    "cvta": _mov,
    "cvt": _cvt,
    "setp": _setp,
    "selp": _selp,
    "ld": _ld,
    "elect": _elect,
    "shfl": _shfl,
    "vote": _vote,
    "activemask": _activemask,
    "mbarrier": _mbarrier,
}
"""By the opcode's first component."""
