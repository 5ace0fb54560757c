"""Which synchronising calls does the generated kernel make, where, and how often are they executed?

Counting rules (DESIGN: the JSON that scripts rely on): a call site counts once; its executions are
the product of the trip counts of the loops around it, every branch taken, for one thread that
reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.facts.counts import product, total
from stagebench.model import Observation, SyncOp, SyncTotal
from stagebench.model.facts import Role, Section


def sync_ops(
    observation: Observation,
    roles: Sequence[Role],
    sections: Sequence[Section | None],
    cuda_lines: Sequence[int | None],
) -> tuple[SyncOp, ...]:
    """One record per site, in program order; the other sequences run along ``kernel.sites``."""
    kernel = observation.kernel
    return tuple(
        SyncOp(
            op=site.op,
            role=role,
            section=section,
            static=1,
            dynamic=product(kernel.loops[index].extent for index in site.loops),
            args=site.args,
            file=site.file,
            line=site.line,
            line_kind=site.line_kind,
            loops=tuple(f"{kernel.loops[i].var}<{kernel.loops[i].extent}" for i in site.loops),
            guards=(*site.partition, *site.guards),
            intrinsic=site.intrinsic,
            cuda_line=cuda_line,
        )
        for site, role, section, cuda_line in zip(
            kernel.sites, roles, sections, cuda_lines, strict=True
        )
    )


def sync_totals(ops: Iterable[SyncOp]) -> dict[str, SyncTotal]:
    """Sums per op, sorted by name; roles add up."""
    grouped: dict[str, list[SyncOp]] = {}
    for op in ops:
        grouped.setdefault(op.op, []).append(op)
    return {
        name: SyncTotal(
            static=sum(op.static for op in grouped[name]),
            dynamic=total(op.dynamic for op in grouped[name]),
        )
        for name in sorted(grouped)
    }
