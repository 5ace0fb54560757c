"""Which mbarriers are there, how many arrivals does each expect, and what are they for?

Counts come from the ``mbarrier_init`` sites.  A barrier is ``full`` where data arrives at it (a TMA
load names it, or an ``expect_tx``, or a ``cp.async`` arrival) and ``empty`` where a producer waits
on it.  Barriers of one array are told apart by the proven bounds of each site's index.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import Barrier, Extent, Observation
from stagebench.model.facts import Role
from stagebench.model.observation import SeenSite

_DATA_OPS = ("tma_load", "mbarrier_expect_tx")


def barriers(observation: Observation, roles: Sequence[Role]) -> tuple[Barrier, ...]:
    """Runs of neighbouring barriers with the same arrive count and kind, in order of their init.

    Arrays follow one another in the order of their first init, also where inits alternate.
    """
    kernel = observation.kernel
    inits: dict[tuple[str, int], Extent] = {}
    for site in kernel.sites:
        if site.op == "mbarrier_init" and site.barrier is not None and site.slots is not None:
            for index in range(site.slots[0], site.slots[1] + 1):
                inits[site.barrier, index] = site.args.get("count", "?")
    found: list[Barrier] = []
    arrays = list(dict.fromkeys(name for name, _ in inits))
    for (name, index), count in sorted(inits.items(), key=lambda item: arrays.index(item[0][0])):
        kind, guards = _use(name, index, kernel.sites, roles)
        last = found[-1] if found else None
        if (
            last is not None
            and (last.name, last.arrive_count, last.kind, last.guards)
            == (name, count, kind, guards)
            and last.first + last.count == index
        ):
            found[-1] = _run(name, last.first, last.count + 1, count, kind, guards)
        else:
            found.append(_run(name, index, 1, count, kind, guards))
    return tuple(found)


def _run(
    name: str, first: int, size: int, count: Extent, kind: str, guards: tuple[str, ...] | None
) -> Barrier:
    return Barrier(
        name=name,
        first=first,
        count=size,
        arrive_count=count,
        kind="full" if kind == "full" else "empty" if kind == "empty" else "other",
        guards=guards,
    )


def _use(
    name: str, index: int, sites: Sequence[SeenSite], roles: Sequence[Role]
) -> tuple[str, tuple[str, ...] | None]:
    filled: list[str] = []
    data = waited_by_producer = unnamed = False
    for site, role in zip(sites, roles, strict=True):
        if site.op == "mbarrier_init" or site.barrier != name or not _may_be(site, index):
            continue
        if site.op in _DATA_OPS or site.args.get("via"):
            data = True
            filled += [site.buffer] if site.buffer else []
            unnamed = unnamed or site.buffer_unnamed
        if site.op == "mbarrier_wait" and role == "producer":
            waited_by_producer = True
    kind = "full" if data else "empty" if waited_by_producer else "other"
    return kind, None if unnamed else tuple(dict.fromkeys(filled))


def _may_be(site: SeenSite, index: int) -> bool:
    """Whether the site may name barrier ``index``; an index without bounds may name any."""
    return site.slots is None or site.slots[0] <= index <= site.slots[1]
