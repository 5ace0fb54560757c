"""How often is each CUDA statement's operation executed?  Copies of unrolling summed.

This is what the IR's dynamic counts can be held against: executions in one CTA by the thread that
executes the statement most; an operation's total adds up its statements, whatever role they are of.
One call of a template may be several instructions (a wgmma of depth 64 is four): `Executed.copies`
and `Executed.executed` show how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from stagebench.model.base import Extent
from stagebench.model.machine import LevelCount
from stagebench.ptx.executed import Execution
from stagebench.ptx.sites import PtxSite, statements


@dataclass(frozen=True, slots=True)
class Executed:
    """Copies of one statement's operation and their executions (``None``: not known)."""

    op: str
    opcode: str
    args: dict[str, Extent]
    cuda_line: int | None
    ptx_lines: tuple[int, ...]
    executed: int | None
    sites: tuple[PtxSite, ...]

    @property
    def copies(self) -> int:
        """How many instructions the statement became."""
        return len(self.sites)


def executed_by_statement(execution: Execution) -> tuple[Executed, ...]:
    """Return statements in program order, with arguments that the walk found out."""
    sites = [_resolved(site, execution) for site in execution.program.sites]
    found = []
    for statement in statements(sites):
        indices = [site.index for site in statement.sites]
        known = not execution.stops and not execution.uncounted & set(indices)
        most = max(
            (sum(group.counts[index] for index in indices) for group in execution.groups), default=0
        )
        found.append(
            Executed(
                op=statement.op,
                opcode=statement.opcode,
                args=statement.args,
                cuda_line=statement.cuda_line,
                ptx_lines=tuple(site.line for site in statement.sites),
                executed=most if known else None,
                sites=statement.sites,
            )
        )
    return tuple(found)


def op_totals(executed: Iterable[Executed]) -> dict[str, LevelCount]:
    """Sum statements by op: ``static`` instructions, ``executed`` as described above."""
    grouped: dict[str, list[Executed]] = {}
    for one in executed:
        grouped.setdefault(one.op, []).append(one)
    totals = {}
    for op in sorted(grouped):
        counts = [one.executed for one in grouped[op]]
        known = [count for count in counts if count is not None]
        totals[op] = LevelCount(
            static=sum(one.copies for one in grouped[op]),
            executed=sum(known) if len(known) == len(counts) else None,
        )
    return totals


def _resolved(site: PtxSite, execution: Execution) -> PtxSite:
    """Take in arguments for which the walk has seen one value only."""
    args = dict(site.args)
    for name in site.values:
        seen = execution.values.get((site.index, name), frozenset())
        if len(seen) == 1 and (value := next(iter(seen))) is not None:
            if name == "descriptor":
                symbol = execution.program.registers.symbol_at(value)
                if symbol is not None:
                    args[name] = symbol
            else:
                args[name] = value
    return replace(site, args=args)
