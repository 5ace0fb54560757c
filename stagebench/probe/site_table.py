"""What does each site stand for in the author's program?  PTX sites joined with the facts.

A site is matched by its line of ``kernel.cu`` (`stagebench.ptx.cuda_lines`) and its op; where the
line has facts of other ops alone, their Python line, role and section are the site's too, since
they are the same statement.  Without facts only what the PTX says is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model.base import Extent
from stagebench.model.facts import Facts, SyncOp
from stagebench.model.timing import ProbeSite
from stagebench.probe.barrier_use import barrier_kind
from stagebench.probe.insert import Placed
from stagebench.probe.predict import Prediction

_SHOWN = ("max_pending", "barrier_id", "kind", "registers")
_SAME = {"cluster_wait": "cluster_sync"}


def site_table(
    sites: Sequence[Placed], prediction: Prediction | None, facts: Facts | None
) -> tuple[ProbeSite, ...]:
    """The metadata's sites, in their order."""
    ops = [_fact(placed, facts) for placed in sites]
    keys = [_statement(placed) for placed in sites]
    return tuple(
        _site(
            placed,
            op,
            facts,
            copy=keys[: placed.id].count(keys[placed.id]),
            copies=keys.count(keys[placed.id]),
            predicted=None if prediction is None else prediction.of_site(placed.id),
        )
        for placed, op in zip(sites, ops, strict=True)
    )


def warp_roles(sites: Sequence[ProbeSite], warps: int) -> tuple[str, ...]:
    """The role of each warp: that of the waits that it executes, ``all`` where they name none."""
    found = []
    for warp in range(warps):
        roles = {
            site.role
            for site in sites
            if site.role != "all" and site.predicted is not None and site.predicted[warp]
        }
        found.append(roles.pop() if len(roles) == 1 else "all")
    return tuple(found)


def _statement(placed: Placed) -> tuple[object, ...]:
    """What copies of one statement share (`stagebench.ptx.sites.statements`)."""
    site = placed.unit.site
    if site.cuda_line is None:
        return (placed.id,)
    return site.cuda_line, site.op, site.opcode, tuple(sorted(site.args.items()))


def _fact(placed: Placed, facts: Facts | None) -> SyncOp | None:
    site = placed.unit.site
    if facts is None or site.cuda_line is None:
        return None
    here = [op for op in facts.sync_ops if op.cuda_line == site.cuda_line]
    op = _SAME.get(site.op, site.op)
    same = [one for one in here if _SAME.get(one.op, one.op) == op]
    agreeing = [one for one in same if _agree(one.args, site.args)]
    return next(iter(agreeing or same or here), None)


def _agree(left: dict[str, Extent], right: dict[str, Extent]) -> bool:
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def _site(
    placed: Placed,
    fact: SyncOp | None,
    facts: Facts | None,
    *,
    copy: int,
    copies: int,
    predicted: tuple[int | None, ...] | None,
) -> ProbeSite:
    site = placed.unit.site
    same = fact is not None and fact.op == site.op
    args = dict(fact.args) | site.args if fact is not None and same else dict(site.args)
    kind = None
    if fact is not None and facts is not None and same and site.op == "mbarrier_wait":
        kind = barrier_kind(fact, facts.barriers)
    return ProbeSite(
        id=placed.id,
        name=_name(placed, fact, args, kind, copy, copies),
        op=site.op,
        args=args,
        role="all" if fact is None else fact.role,
        section=None if fact is None else fact.section,
        barrier_kind=kind,
        file=None if fact is None else fact.file,
        line=None if fact is None else fact.line,
        line_kind=None if fact is None else fact.line_kind,
        cuda_line=site.cuda_line,
        ptx_line=site.line,
        copy=copy,
        copies=copies,
        predicted=predicted,
    )


def _name(
    placed: Placed,
    fact: SyncOp | None,
    args: dict[str, Extent],
    kind: str | None,
    copy: int,
    copies: int,
) -> str:
    """What a timeline shows: ``gemm.py:47 mbarrier_wait full [1/4]``."""
    site = placed.unit.site
    if fact is not None and fact.line is not None:
        where = f"{fact.file}:{fact.line}"
    elif site.cuda_line is not None:
        where = f"kernel.cu:{site.cuda_line}"
    else:
        where = f"kernel.ptx:{site.line}"
    shown = [str(args[name]) for name in _SHOWN if name in args]
    parts = [where, site.op, *([kind] if kind else []), *shown]
    return " ".join(parts) + (f" [{copy + 1}/{copies}]" if copies > 1 else "")
