"""Where does a PTX function synchronise?  One site for each operation of each instruction.

A wait that polls (``mbarrier.try_wait`` in an inline-asm block that jumps back to it, or in a loop
that does nothing else) is one ``mbarrier_wait``; a poll that nobody repeats is
``mbarrier_try_wait``.  ``barrier.cluster.arrive`` followed at once by ``.wait`` of the same CUDA
line is one ``cluster_sync``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stagebench.model.base import Extent
from stagebench.ptx.control_flow import ControlFlow, control_flow, repeated, targets_of
from stagebench.ptx.cuda_lines import CudaLine, cuda_lines
from stagebench.ptx.opcodes import BRANCHES
from stagebench.ptx.records import Function
from stagebench.ptx.sync_ops import PtxOp, read_ops


@dataclass(frozen=True, slots=True)
class PtxSite:
    """One operation at one instruction (``index`` in `Function.instructions`).

    ``line`` is its 1-based line of the PTX; ``cuda_line`` the line of the kernel's own file that
    it comes from (``cuda_line_exact``: no other fits); ``loop_depth`` the natural loops around it,
    a spin not counted.  ``values`` are operands whose value only a walk can tell.
    """

    op: str
    opcode: str
    args: dict[str, Extent]
    values: dict[str, int]
    index: int
    line: int
    spin: bool
    block: int
    loop_depth: int
    cuda_line: int | None
    cuda_line_exact: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """Sites that are copies of one statement: the same CUDA line, operation and arguments."""

    op: str
    opcode: str
    args: dict[str, Extent]
    cuda_line: int | None
    sites: tuple[PtxSite, ...]


def sync_sites(function: Function, flow: ControlFlow | None = None) -> tuple[PtxSite, ...]:
    """Return the sites of a function in program order; ``flow`` is `control_flow`'s, if at hand."""
    flow = control_flow(function) if flow is None else flow
    found: list[tuple[int, PtxOp]] = [
        (index, op)
        for index, instruction in enumerate(function.instructions)
        for op in read_ops(instruction)
    ]
    lines = cuda_lines(function, [index for index, _ in found])
    spins = _spins(function, flow, {index for index, _ in found})
    sites = [
        _site(function, flow, index, op, line, spins)
        for (index, op), line in zip(found, lines, strict=True)
    ]
    return tuple(_cluster_syncs(sites))


def statements(sites: Sequence[PtxSite]) -> tuple[Statement, ...]:
    """Group sites into statements, in the order of their first copy."""
    grouped: dict[tuple[object, ...], list[PtxSite]] = {}
    for site in sites:
        key = (site.cuda_line, site.op, site.opcode, tuple(sorted(site.args.items())))
        grouped.setdefault(key, []).append(site)
    return tuple(
        Statement(
            copies[0].op, copies[0].opcode, copies[0].args, copies[0].cuda_line, tuple(copies)
        )
        for copies in grouped.values()
    )


def _site(
    function: Function,
    flow: ControlFlow,
    index: int,
    op: PtxOp,
    line: CudaLine | None,
    spins: dict[int, int],
) -> PtxSite:
    instruction = function.instructions[index]
    spin = index in spins
    waits = op.op == "mbarrier_try_wait" and spin
    return PtxSite(
        op="mbarrier_wait" if waits else op.op,
        opcode=instruction.opcode,
        args=op.args,
        values=op.values,
        index=index,
        line=instruction.span.line,
        spin=waits,
        block=flow.block_of[index],
        loop_depth=len(flow.loops_of(index)) - (spins.get(index, 0) if waits else 0),
        cuda_line=None if line is None else line.line,
        cuda_line_exact=line is not None and line.exact,
    )


def _spins(function: Function, flow: ControlFlow, sites: set[int]) -> dict[int, int]:
    """Instructions in a spin, and how many natural loops the spin is (0: inside inline asm)."""
    found: dict[int, int] = {}
    for block in function.asm_blocks:
        for index in range(block.first, block.end):
            if function.instructions[index].head in BRANCHES:
                for target in targets_of(function, index):
                    if block.first <= target <= index:
                        found |= dict.fromkeys(range(target, index), 0)
    for loop in flow.loops:
        polls = [_polled(function, flow, edge, sites) for edge in loop.back_edges]
        for poll in polls:
            if poll is not None:
                # a loop that does nothing but poll is no loop around the wait
                found[poll] = found.get(poll, 0) + all(one is not None for one in polls)
    return found


def _polled(
    function: Function, flow: ControlFlow, edge: tuple[int, int], sites: set[int]
) -> int | None:
    """Return the poll that a back edge repeats; ``None``: it repeats something else."""
    inside = [
        index
        for block in repeated(flow.blocks, *edge)
        for index in range(flow.blocks[block].first, flow.blocks[block].end)
        if index in sites
    ]
    polls = len(inside) == 1 and function.instructions[inside[0]].head == "mbarrier"
    return inside[0] if polls else None


def _cluster_syncs(sites: Sequence[PtxSite]) -> list[PtxSite]:
    found: list[PtxSite] = []
    for site in sites:
        before = found[-1] if found else None
        if (
            before is not None
            and (before.op, site.op) == ("cluster_arrive", "cluster_wait")
            and not before.args
            and (before.block, before.cuda_line) == (site.block, site.cuda_line)
        ):
            found[-1] = replace(before, op="cluster_sync")
        else:
            found.append(site)
    return found
