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
from stagebench.machine.ptx_to_sass import explain_sass
from stagebench.model import Facts, LevelCount, LevelRow
from stagebench.ptx.by_statement import Executed, op_totals
from stagebench.sass.sites import SassSite

NOT_IN_CUDA = frozenset({"ldmatrix", "stmatrix", "elect", "mbarrier_poll"})
"""Instructions that no statement of the CUDA or the IR stands for alone."""


def level_rows(
    facts: Facts,
    cuda: CudaKernel | None,
    executed: Sequence[Executed],
    sass: Sequence[SassSite],
) -> tuple[LevelRow, ...]:
    """One row for each op that any level has, ops sorted."""
    ptx: dict[str, list[Executed]] = {}
    for statement in executed:
        ptx.setdefault(statement.op, []).append(statement)
    totals = op_totals(executed)
    in_sass: dict[str, list[SassSite]] = {}
    for site in sass:
        in_sass.setdefault(site.op, []).append(site)
    in_cuda = {} if cuda is None else sync_totals(cuda.sites)
    ops = sorted({*facts.sync_totals, *in_cuda, *ptx, *in_sass} - NOT_IN_CUDA)
    rows = []
    for op in ops:
        total, written = facts.sync_totals.get(op), in_cuda.get(op)
        counts = ptx.get(op, ())
        down = explain_ptx(op, cuda, counts, facts)
        further = explain_sass(op, ptx, in_sass)
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
                sass=LevelCount(static=len(in_sass.get(op, ())), executed=None),
                explanations=(*down.reasons, *further.reasons),
                agreed=down.agreed and further.agreed,
            )
        )
    return tuple(rows)
