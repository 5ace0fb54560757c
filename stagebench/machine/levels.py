"""Do the device IR, the generated CUDA, the PTX and the SASS tell the same story?

Each level was read on its own.  Here they are laid side by side, op by op, and every difference
between neighbours must have a name: a rewrite that compilers are known to make, shown from the
lines that the instructions come from (CUDA to PTX by ``.loc``, PTX to SASS by the line table).
What is left over is not agreed, and is a diagnostic.

``executed`` counts one thread that reaches the statement (`stagebench.model.SyncTotal`).  The SASS
is not walked: its executions are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.facts.cuda_records import CudaKernel
from stagebench.facts.cuda_sites import sync_totals
from stagebench.machine.cuda_to_ptx import explain_ptx
from stagebench.model import Facts, LevelCount, LevelRow
from stagebench.ptx.by_statement import Executed, op_totals
from stagebench.sass.rewrites import OpComparison, compare
from stagebench.sass.sites import POLL, SassSite

NOT_IN_CUDA = frozenset({"ldmatrix", "stmatrix", "elect", "tcgen05_ld", "tcgen05_st", POLL})
"""Instructions that no statement of the CUDA or the IR stands for alone."""


def level_rows(
    facts: Facts,
    cuda: CudaKernel | None,
    executed: Sequence[Executed],
    sass: Sequence[SassSite],
    block: Sequence[int] = (0, 0, 0),
) -> tuple[LevelRow, ...]:
    """One row for each op that any level has, ops sorted; ``block`` is the one that was walked."""
    ptx: dict[str, list[Executed]] = {}
    for statement in executed:
        ptx.setdefault(statement.op, []).append(statement)
    totals = op_totals(executed)
    lines = [(one.op, line) for one in executed for line in one.ptx_lines]
    compared = {comparison.op: comparison for comparison in compare(lines, sass)}
    polls = compared[POLL].sass if POLL in compared else 0
    in_cuda = {} if cuda is None else sync_totals(cuda.sites)
    ops = sorted({*facts.sync_totals, *in_cuda, *ptx, *compared} - NOT_IN_CUDA)
    rows = []
    for op in ops:
        total, written = facts.sync_totals.get(op), in_cuda.get(op)
        counts = ptx.get(op, ())
        down = explain_ptx(op, cuda, counts, facts, block)
        further = compared.get(op)
        rows.append(
            LevelRow(
                op=op,
                ir=LevelCount(static=0, executed=0)
                if total is None
                else LevelCount(static=total.static, executed=total.dynamic),
                cuda=None
                if cuda is None
                else LevelCount(static=0, executed=0)
                if written is None
                else LevelCount(static=written.static, executed=written.dynamic),
                ptx=totals.get(op, LevelCount(static=0, executed=0)),
                sass=LevelCount(static=further.sass if further else 0, executed=None),
                explanations=(*down.reasons, *_sass_reasons(further, polls)),
                agreed=down.agreed and (further is None or further.unexplained == 0),
            )
        )
    return tuple(rows)


def ptx_and_sass_rows(
    executed: Sequence[Executed], sass: Sequence[SassSite]
) -> tuple[LevelRow, ...]:
    """The same of a kernel whose IR and CUDA were not read: two levels, held against each other."""
    totals = op_totals(executed)
    lines = [(one.op, line) for one in executed for line in one.ptx_lines]
    compared = {comparison.op: comparison for comparison in compare(lines, sass)}
    polls = compared[POLL].sass if POLL in compared else 0
    return tuple(
        LevelRow(
            op=op,
            ir=None,
            cuda=None,
            ptx=totals.get(op, LevelCount(static=0, executed=0)),
            sass=LevelCount(static=compared[op].sass if op in compared else 0, executed=None),
            explanations=tuple(_sass_reasons(compared.get(op), polls)),
            agreed=op not in compared or compared[op].unexplained == 0,
        )
        for op in sorted({*totals, *compared} - NOT_IN_CUDA)
    )


def _sass_reasons(compared: OpComparison | None, polls: int) -> list[str]:
    if compared is None:
        return []
    reasons = [rewrite.name for rewrite in compared.rewrites]
    if compared.op == "mbarrier_wait" and polls:
        reasons.append(f"{compared.sass} waits poll in {compared.sass + polls} places")
    if compared.unexplained:
        reasons.append(f"not explained: {compared.unexplained:+d} in SASS")
    return reasons
