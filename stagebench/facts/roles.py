"""Which warps execute a site: the producer's, the consumer's or all?

A branch on the thread index alone splits the CTA.  It is a split of *roles* only where the split
is also one of synchronisation, that is where one side waits on or arrives at an mbarrier; a guard
such as ``tx < 64`` around a small copy is not.  The side that starts asynchronous loads and issues
no tensor-core work produces, the others consume.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model.facts import Role
from stagebench.model.observation import SeenSite

_HANDSHAKES = ("mbarrier_wait", "mbarrier_arrive", "setmaxnreg")
_LOADS = ("tma_load", "cp_async_copy")
_TENSOR = ("wgmma", "mma_sync", "tcgen05_mma")


def assign_roles(sites: Sequence[SeenSite]) -> tuple[Role, ...]:
    """One role per site, in the sites' order."""
    branches: dict[str, list[SeenSite]] = {}
    for site in sites:
        if site.partition:
            branches.setdefault(site.partition[0], []).append(site)
    roles: dict[str, Role] = {}
    if any(site.op in _HANDSHAKES for members in branches.values() for site in members):
        for name, members in branches.items():
            roles[name] = _role(members)
    if "producer" not in roles.values():
        roles = {}
    return tuple(roles.get(site.partition[0], "all") if site.partition else "all" for site in sites)


def _role(members: Sequence[SeenSite]) -> Role:
    ops = {site.op for site in members}
    if not ops.isdisjoint(_LOADS) and ops.isdisjoint(_TENSOR):
        return "producer"
    if ops.isdisjoint(_HANDSHAKES) and ops.isdisjoint(_TENSOR):
        return "all"
    return "consumer"
