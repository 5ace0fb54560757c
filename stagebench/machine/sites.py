"""Which statement of the generated CUDA became which instructions, and from which Python line?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.model import MachineSite, SyncOp
from stagebench.ptx.by_statement import Executed
from stagebench.sass.sites import SassSite


def machine_sites(
    executed: Sequence[Executed],
    sass: Iterable[SassSite],
    ir: Sequence[SyncOp],
) -> tuple[MachineSite, ...]:
    """One record for each PTX statement, in program order.

    The SASS instructions of an op are counted by the PTX line that they are from.
    """
    copies: dict[tuple[str, int | None], int] = {}
    for site in sass:
        copies[site.op, site.ptx_line] = copies.get((site.op, site.ptx_line), 0) + 1
    python = _python_lines(ir)
    found = []
    for statement in executed:
        lines = statement.ptx_lines
        line = python.get((statement.op, statement.cuda_line)) or python.get(
            (None, statement.cuda_line)
        )
        found.append(
            MachineSite(
                op=statement.op,
                opcode=statement.opcode,
                args=statement.args,
                cuda_line=statement.cuda_line,
                file=line.file if line else None,
                line=line.line if line else None,
                line_kind=line.line_kind if line else None,
                ptx_lines=lines,
                executed=statement.executed,
                sass=sum(copies.get((statement.op, line), 0) for line in dict.fromkeys(lines)),
            )
        )
    return tuple(found)


def _python_lines(ir: Sequence[SyncOp]) -> dict[tuple[str | None, int | None], SyncOp]:
    """The IR site on each CUDA line: of the same op, else (under ``None``) any that has a line."""
    found: dict[tuple[str | None, int | None], SyncOp] = {}
    for site in ir:
        if site.cuda_line is not None and site.line is not None:
            found.setdefault((site.op, site.cuda_line), site)
            found.setdefault((None, site.cuda_line), site)
    return found
