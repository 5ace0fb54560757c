"""Who waited where, for what, and how long?  A decoded probe buffer by site and by role."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stagebench.model.facts import Section
from stagebench.model.timing import (
    ProbeMetadata,
    ProbeSite,
    RoleTime,
    SectionTime,
    SiteStall,
    StallCause,
    Stalls,
    TimingProblem,
)
from stagebench.timing.decode import Flags, Ints, ProbeRun

CAUSES: tuple[StallCause, ...] = ("data", "slot", "compute", "barrier", "other")

_BY_OP: dict[str, StallCause] = {
    "cp_async_wait": "data",
    "wgmma_wait": "compute",
    "tcgen05_wait": "compute",
    "syncthreads": "barrier",
    "partial_barrier": "barrier",
    "warp_sync": "barrier",
    "cluster_wait": "barrier",
    "cluster_sync": "barrier",
    "grid_sync": "barrier",
}
_BY_BARRIER: dict[str | None, StallCause] = {"full": "data", "empty": "slot"}


def cause(site: ProbeSite) -> StallCause:
    """What a wait waits for; ``other`` where its op, or its mbarrier's use, does not tell."""
    if site.op == "mbarrier_wait":
        return _BY_BARRIER.get(site.barrier_kind, "other")
    return _BY_OP.get(site.op, "other")


def stalls(run: ProbeRun, metadata: ProbeMetadata) -> Stalls:
    """Everything by statement (most cycles first), by role, and counts that differ."""
    statements = _statements(metadata.sites)
    counts = _executions(run, metadata)
    found = [_site_stall(run, metadata, ids, counts) for ids in statements]
    read = float(np.median(run.calibration)) if len(run.calibration) else None
    return Stalls(
        sites=tuple(sorted((each for each in found if each is not None), key=_worst_first)),
        roles=tuple(_role_times(run, metadata)),
        read_cycles=read,
        problems=run.problems + tuple(_mismatches(run, metadata, counts)),
    )


def _worst_first(stall: SiteStall) -> tuple[int, int]:
    return -stall.total_cycles, stall.site.id


# sites


def _statements(sites: Sequence[ProbeSite]) -> list[list[int]]:
    """Ids of the PTX copies of one statement; a site of an unknown line stands alone."""
    found: dict[object, list[int]] = {}
    for site in sites:
        key: object = (
            site.id
            if site.cuda_line is None and site.line is None
            else (
                site.op, site.cuda_line, site.role, site.section, site.barrier_kind, site.file,
                site.line, tuple(sorted(site.args.items(), key=str)),
            )
        )  # fmt: skip
        found.setdefault(key, []).append(site.id)
    return list(found.values())


def _executions(run: ProbeRun, metadata: ProbeMetadata) -> Ints:
    """Records by lane and site."""
    width = len(metadata.sites)
    flat = np.bincount(run.lane * width + run.site, minlength=len(run.cta) * width)
    return flat.reshape(len(run.cta), width).astype(np.int64)


def _predicted(site: ProbeSite, warps: Ints) -> Ints | None:
    """What each lane should execute; ``None`` where one of them is not known."""
    if site.predicted is None:
        return None
    by_warp = [-1 if count is None else count for count in site.predicted]
    found = np.array(by_warp, dtype=np.int64)[warps]
    return None if (found < 0).any() else found


def _site_stall(
    run: ProbeRun, metadata: ProbeMetadata, ids: list[int], counts: Ints
) -> SiteStall | None:
    """``None`` where no warp is known to reach the statement and none did."""
    predictions = [_predicted(metadata.sites[each], run.warp) for each in ids]
    known = [int(each.sum()) for each in predictions if each is not None]
    predicted = sum(known) if len(known) == len(ids) else None
    chosen = np.isin(run.site, ids)
    cycles = run.cycles[chosen]
    if len(cycles) == 0:
        return None
    middle, high = np.percentile(cycles, (50, 95)).tolist()
    total = int(cycles.sum())
    lanes = run.complete & (counts[:, ids].sum(axis=1) > 0)
    time = _life(run, lanes)
    sound = int(run.cycles[chosen & lanes[run.lane]].sum())
    site = metadata.sites[ids[0]]
    return SiteStall(
        site=site,
        cause=cause(site),
        executions=len(cycles),
        predicted=predicted,
        warps=len(np.unique(run.lane[chosen])),
        mean_cycles=total / len(cycles),
        p50_cycles=middle,
        p95_cycles=high,
        max_cycles=int(cycles.max()),
        total_cycles=total,
        share=sound / time if time else None,
    )


def _mismatches(run: ProbeRun, metadata: ProbeMetadata, counts: Ints) -> list[TimingProblem]:
    """Sites whose complete lanes have other counts than the CPU walk predicts."""
    found = []
    for site in metadata.sites:
        predicted = _predicted(site, run.warp)
        if predicted is None:
            continue
        wrong = np.flatnonzero(run.complete & (counts[:, site.id] != predicted))
        if len(wrong) == 0:
            continue
        lane = wrong[0]
        found.append(
            TimingProblem(
                kind="count_mismatch",
                message=f"{site.name}: {counts[lane, site.id]} executions recorded, "
                f"{predicted[lane]} predicted",
                cta=int(run.cta[lane]),
                warp=int(run.warp[lane]),
                record=None,
                offset_bytes=None,
                count=len(wrong),
            )
        )
    return found


# roles


def _life(run: ProbeRun, lanes: Flags) -> int:
    """Cycles from entry to exit, summed over ``lanes``."""
    return int((run.clock_exit - run.clock_entry)[lanes].sum())


def _role_times(run: ProbeRun, metadata: ProbeMetadata) -> list[RoleTime]:
    roles = list(dict.fromkeys(metadata.warp_roles))
    number = np.array([roles.index(role) for role in metadata.warp_roles], dtype=np.int64)
    causes = np.array([CAUSES.index(cause(site)) for site in metadata.sites], dtype=np.int64)
    kinds = causes[run.site] if len(run.site) else run.site
    start, end = _body(run, metadata)
    has_body = end > start
    found = []
    for index, role in enumerate(roles):
        lanes: Flags = run.complete & (number[run.warp] == index)
        if not lanes.any():
            continue
        sections: tuple[SectionTime, ...] = ()
        if (lanes & has_body).any():
            sections = _sections(run, lanes & has_body, kinds, start, end)
        mine = lanes[run.lane]
        whole = _section(None, _life(run, lanes), run.cycles[mine], kinds[mine])
        found.append(RoleTime(role=role, warps=int(lanes.sum()), whole=whole, sections=sections))
    return found


def _body(run: ProbeRun, metadata: ProbeMetadata) -> tuple[Ints, Ints]:
    """By lane: the start of the first and the end of the last record of a site of the body."""
    body_sites = [site.id for site in metadata.sites if site.section == "body"]
    body = np.isin(run.site, body_sites)
    start = np.full(len(run.cta), np.iinfo(np.int64).max)
    end = np.zeros(len(run.cta), dtype=np.int64)
    np.minimum.at(start, run.lane[body], run.start[body])
    np.maximum.at(end, run.lane[body], (run.start + run.cycles)[body])
    return start, end


def _sections(
    run: ProbeRun, lanes: Flags, kinds: Ints, start: Ints, end: Ints
) -> tuple[SectionTime, ...]:
    mine = lanes[run.lane]
    before = mine & (run.start < start[run.lane])
    after = mine & (run.start >= end[run.lane])
    during = mine & ~before & ~after
    prologue, body = int(start[lanes].sum()), int((end - start)[lanes].sum())
    epilogue = _life(run, lanes) - prologue - body
    return (
        _section("prologue", prologue, run.cycles[before], kinds[before]),
        _section("body", body, run.cycles[during], kinds[during]),
        _section("epilogue", epilogue, run.cycles[after], kinds[after]),
    )


def _section(section: Section | None, cycles: int, waits: Ints, kinds: Ints) -> SectionTime:
    sums: dict[StallCause, int] = {
        name: int(waits[kinds == index].sum()) for index, name in enumerate(CAUSES)
    }
    return SectionTime(
        section=section,
        cycles=cycles,
        busy_cycles=cycles - sum(sums.values()),
        stall_cycles=sums,
    )
