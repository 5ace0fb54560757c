"""Which waits of a PTX kernel can be timed, and between which lines does each stand?

A wait is a *unit*: an instruction, a whole inline-asm block (so that the spin inside is one wait),
a loop that does nothing but poll an mbarrier, or a cluster's arrival with the wait behind it.  Text
can be put before a unit's first line and behind its last, so that every path through the unit
passes both; a wait for which that does not hold is a `NotProbed` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stagebench.model.base import Record
from stagebench.ptx.control_flow import ControlFlow, Loop, control_flow
from stagebench.ptx.records import Function, Guard, Module
from stagebench.ptx.sites import PtxSite, sync_sites
from stagebench.ptx.sync_ops import read_ops

_NAMES = """
    cp_async_wait tma_store_wait mbarrier_wait syncthreads partial_barrier cluster_wait cluster_sync
    wgmma_wait tcgen05_wait
"""
WAITS = frozenset(_NAMES.split())
_POLL = "mbarrier_try_wait"


class NotProbed(Record, frozen=True, kw_only=True):
    """A wait that no probe times, and why; ``ptx_line`` is 1-based in the text without probes."""

    op: str
    function: str
    ptx_line: int
    cuda_line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One wait: instructions ``first`` up to, not with, ``end``.

    ``before_line`` is the 1-based line that the text before it precedes.  ``after_line`` is the
    line that the text behind it follows, or, where ``after_precedes``, precedes.  ``guard`` is
    that of a single guarded instruction.
    """

    site: PtxSite
    first: int
    end: int
    block: int
    before_line: int
    after_line: int
    after_precedes: bool
    guard: Guard | None
    fusible: bool


@dataclass(frozen=True)
class Waits:
    """The units of a function in program order, and what is left out."""

    flow: ControlFlow
    units: tuple[Unit, ...]
    left_out: tuple[NotProbed, ...]

    def runs(self, longest: int) -> list[list[Unit]]:
        """Units with nothing between them, up to ``longest`` at a time: they share clock reads."""
        found: list[list[Unit]] = []
        for unit in self.units:
            last = found[-1][-1] if found else None
            if (
                last is not None
                and last.fusible
                and unit.fusible
                and len(found[-1]) < longest
                and (last.block, last.end) == (unit.block, unit.first)
            ):
                found[-1].append(unit)
            else:
                found.append([unit])
        return found

    def loops(self) -> list[Loop]:
        """Loops around a unit, a unit's own spin left out."""
        return [
            loop
            for loop in self.flow.loops
            if any(_inside(loop, unit, self.flow) for unit in self.units)
        ]


def is_wait(site: PtxSite) -> bool:
    """Whether the warp stands still there until something else has happened."""
    if site.op == "setmaxnreg":
        return site.args.get("increase") == 1
    if site.op == "griddepcontrol":
        return site.args.get("kind") == "wait"
    return site.op in WAITS


def find_waits(module: Module, function: Function, ops: frozenset[str] | None = None) -> Waits:
    """The waits of a kernel, and those that are in functions that it may call.

    ``ops`` are those to time (``None``: all); the others are left out, and said to be.
    """
    flow = control_flow(function)
    lines = _statement_lines(function)
    units: list[Unit] = []
    left_out: list[NotProbed] = []
    for site in sync_sites(function, flow):
        if site.op == _POLL:
            reason: str | None = "it polls once: nothing says how long it will be repeated"
            left_out.append(_not_probed(function, site, reason))
        if not is_wait(site):
            continue
        if ops is not None and site.op not in ops:
            left_out.append(_not_probed(function, site, "not asked for"))
            continue
        unit = _unit(function, flow, site)
        reason = unit if isinstance(unit, str) else _obstacle(unit, units, lines)
        if reason is None and isinstance(unit, Unit):
            units.append(unit)
        else:
            left_out.append(_not_probed(function, site, str(reason)))
    left_out += _in_called(module)
    return Waits(flow, tuple(units), tuple(left_out))


def _unit(function: Function, flow: ControlFlow, site: PtxSite) -> Unit | str:
    last_index = site.index
    instruction = function.instructions[site.index]
    if site.op == "cluster_sync":
        last_index = next(
            index
            for index in range(site.index, len(function.instructions))
            if any(op.op == "cluster_wait" for op in read_ops(function.instructions[index]))
        )
    elif site.spin and not _spins_inside(function, instruction.asm):
        return _spin(function, flow, site)
    first, last = _whole(function, site.index), _whole(function, last_index)
    guard = instruction.guard if instruction.asm is None else None
    return Unit(
        site=site,
        first=first[0],
        end=last[1],
        block=flow.block_of[first[0]],
        before_line=first[2],
        after_line=last[3],
        after_precedes=False,
        guard=guard,
        fusible=guard is None,
    )


def _whole(function: Function, index: int) -> tuple[int, int, int, int]:
    """Instructions and lines of an instruction, or of the inline asm that it is in."""
    instruction = function.instructions[index]
    if instruction.asm is None:
        return index, index + 1, instruction.span.line, instruction.span.last_line
    block = function.asm_blocks[instruction.asm]
    return block.first, block.end, block.line, block.last_line


def _spins_inside(function: Function, asm: int | None) -> bool:
    """Whether inline asm repeats its own poll, so that the whole spin is in it."""
    if asm is None:
        return False
    block = function.asm_blocks[asm]
    return any(one.head == "bra" for one in function.instructions[block.first : block.end])


def _spin(function: Function, flow: ControlFlow, site: PtxSite) -> Unit | str:
    """A loop that polls: entered from above only, left to one block that nothing else reaches."""
    loop = flow.loops_of(site.index)[-1]
    blocks = sorted(loop.blocks)
    into = {b.index: [p.index for p in flow.blocks if b.index in p.successors] for b in flow.blocks}
    outside = [block for block in into[loop.header] if block not in loop.blocks]
    exits = {
        target
        for block in blocks
        for target in flow.blocks[block].successors
        if target not in loop.blocks
    }
    whole = blocks == [*range(blocks[0], blocks[-1] + 1)] and loop.header == blocks[0]
    above = flow.blocks[loop.header].first - 1
    falls = outside == [loop.header - 1] and function.instructions[above].head not in ("bra", "brx")
    if not (whole and falls) or len(exits) != 1:
        return "its spin can be entered or left in several ways"
    (target,) = exits
    if any(block not in loop.blocks for block in into[target]):
        return "code behind its spin is also reached from elsewhere"
    first = flow.blocks[loop.header].first
    labels = [label.span.line for label in function.labels if label.index == first]
    return Unit(
        site=site,
        first=first,
        end=flow.blocks[blocks[-1]].end,
        block=loop.header,
        before_line=min([*labels, _whole(function, first)[2]]),
        after_line=_whole(function, flow.blocks[target].first)[2],
        after_precedes=True,
        guard=None,
        fusible=False,
    )


def _statement_lines(function: Function) -> dict[int, set[int]]:
    """What stands on each line: instructions by index, labels as -1."""
    found: dict[int, set[int]] = {}
    for index, instruction in enumerate(function.instructions):
        for line in range(instruction.span.line, instruction.span.last_line + 1):
            found.setdefault(line, set()).add(index)
    for label in function.labels:
        found.setdefault(label.span.line, set()).add(-1)
    return found


def _obstacle(unit: Unit, units: Sequence[Unit], lines: dict[int, set[int]]) -> str | None:
    if any(unit.first < other.end and other.first < unit.end for other in units):
        return "another wait of the same unit is timed"
    edges = [unit.before_line] + ([] if unit.after_precedes else [unit.after_line])
    for line in edges:
        for found in lines.get(line, ()):
            own = unit.first <= found < unit.end or (found == -1 and unit.after_precedes)
            if not own:
                return "something else stands on its line"
    return None


def _inside(loop: Loop, unit: Unit, flow: ControlFlow) -> bool:
    if unit.block not in loop.blocks:
        return False
    own = unit.after_precedes and all(
        unit.first <= flow.blocks[block].first < unit.end for block in loop.blocks
    )
    return not own


def _in_called(module: Module) -> Iterable[NotProbed]:
    for function in module.functions:
        if function.kind == "func" and function.body_line is not None:
            for site in sync_sites(function):
                if is_wait(site):
                    yield _not_probed(function, site, "it is in a function that is called")


def _not_probed(function: Function, site: PtxSite, reason: str | None) -> NotProbed:
    return NotProbed(
        op=site.op,
        function=function.name,
        ptx_line=site.line,
        cuda_line=site.cuda_line,
        reason=str(reason),
    )
