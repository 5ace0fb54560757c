"""Which synchronising calls does the generated kernel make, where, and how often are they executed?

Counting rules (DESIGN: the JSON that scripts rely on): a call site counts once; its executions are
the trips of the innermost loop around it, over all trips of the loops around that, every branch
taken, for one thread that reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.facts.counts import total
from stagebench.model import Extent, Observation, SyncOp, SyncTotal
from stagebench.model.facts import Role, Section
from stagebench.model.observation import SeenKernel, SeenSite


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
            dynamic=executions(kernel, site),
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


def executions(kernel: SeenKernel, site: SeenSite) -> Extent | None:
    """How often one thread that reaches a site executes it, every branch taken."""
    return kernel.loops[site.loops[-1]].executions if site.loops else 1


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
