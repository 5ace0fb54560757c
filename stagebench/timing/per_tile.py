"""How long does a warp wait for each tile?  One unit for every cause, so that causes compare.

A tile is a trip of the pipelined loop's body: as many as most of the role's waits there say, for a
wait may have one more copy before the loop.  A wait outside of the body (a barrier before the loop,
``setmaxnreg``) is shared out over the tiles, for it is as small a part of the time as that says.
Without sections (a kernel that has no IR) the wait that is executed most often in the kernel tells
the tiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from stagebench.model.timing import SiteStall, StallCause, Stalls


def damaged(stalls: Stalls | None) -> bool:
    """Is something wrong with the records?  The mean of those that are left is that of no warp."""
    return stalls is not None and bool(stalls.problems)


def stall_by_cause(stalls: Stalls | None) -> dict[tuple[str, StallCause], float]:
    """Cycles that one warp waits per tile, by role and cause.

    Of a cause that has waits in the body, those alone: what the first and the last tile wait for is
    in the prologue and the epilogue.  Of `damaged` probes there is none.
    """
    found: dict[tuple[str, StallCause], list[SiteStall]] = {}
    for stall in () if stalls is None or damaged(stalls) else stalls.sites:
        if stall.warps:
            found.setdefault((stall.site.role, stall.cause), []).append(stall)
    everything = [stall for several in found.values() for stall in several]
    result = {}
    for key, sites in found.items():
        waits = _of_the_body(sites) or sites
        cycles = sum(stall.total_cycles / stall.warps for stall in waits)
        result[key] = cycles / _tiles(key[0], everything)
    return result


def _tiles(role: str, everything: list[SiteStall]) -> float:
    """The tiles of one warp of the role; of the whole kernel where its role has no body."""
    body = _of_the_body(everything)
    own = [stall for stall in body if stall.site.role == role]
    if not body:
        return max(_executions(everything))
    votes, others = Counter(_executions(own or body)), Counter(_executions(body))
    return max(votes, key=lambda tiles: (votes[tiles], others[tiles], tiles))


def _executions(stalls: Sequence[SiteStall]) -> list[float]:
    """How often one warp comes by, for each of the waits."""
    return [stall.executions / stall.warps for stall in stalls]


def _of_the_body(sites: Iterable[SiteStall]) -> list[SiteStall]:
    return [stall for stall in sites if stall.site.section == "body"]
