"""How many bytes does one CTA move to and from global memory?  Caches not counted.

Loads and stores by their width, ``cp.async`` by the bytes it reads, TMA loads by the bytes that
barriers expect, TMA stores by the box of their descriptor (which the caller must know).  Atomics
that return count both ways.  A multicast load counts at each CTA that receives it.
"""

from __future__ import annotations

from collections.abc import Mapping

from stagebench.ptx.executed import Execution
from stagebench.ptx.families import access_bytes
from stagebench.ptx.sites import PtxSite

_LOADS = ("ld_global", "atom_global")
_STORES = ("st_global", "atom_global", "red_global")


def bytes_loaded(execution: Execution) -> int | None:
    """Bytes that the CTA reads; ``None``: not known."""
    total = _accesses(execution, _LOADS)
    expects = [site for site in execution.program.sites if site.op == "mbarrier_expect_tx"]
    for site in execution.program.sites:
        if site.op == "cp_async_copy":
            total = _add(total, _copied(execution, site))
        elif site.op == "tma_load" and site.args.get("mode") == "bulk":
            total = _add(total, _summed(execution, site, "bytes"))
    tensor = [
        site
        for site in execution.program.sites
        if site.op == "tma_load" and site.args.get("mode") != "bulk"
    ]
    if any(_executions(execution, site.index) for site in tensor):
        for site in expects:
            total = _add(total, _summed(execution, site, "bytes"))
    return total


def bytes_stored(execution: Execution, box_bytes: Mapping[str, int] | None = None) -> int | None:
    """Bytes that the CTA writes; ``box_bytes`` is by the PTX parameter that is the descriptor."""
    total = _accesses(execution, _STORES)
    for site in execution.program.sites:
        if site.op != "tma_store" or not _executions(execution, site.index):
            continue
        if "descriptor" in site.values:
            seen = execution.values.get((site.index, "descriptor"), frozenset())
            value = next(iter(seen)) if len(seen) == 1 else None
            name = None if value is None else execution.program.registers.symbol_at(value)
            box = None if name is None else (box_bytes or {}).get(name)
            moved = None if box is None else box * _executions(execution, site.index)
        else:
            moved = _summed(execution, site, "bytes")
        total = _add(total, moved)
    return total


def _accesses(execution: Execution, families: tuple[str, ...]) -> int | None:
    total: int | None = 0 if not execution.stops else None
    for index, name in execution.program.families.items():
        if name in families or name in ("ld_generic", "st_generic", "atom_generic", "red_generic"):
            if name.endswith("_generic") and not _executions(execution, index):
                continue
            width = access_bytes(execution.program.function.instructions[index])
            known = width is not None and index not in execution.uncounted
            known = known and not name.endswith("_generic")
            moved = None if not known or width is None else width * _executions(execution, index)
            total = _add(total, moved)
    return total


def _copied(execution: Execution, site: PtxSite) -> int | None:
    if "source_bytes" in site.args or "source_bytes" in site.values:
        return _summed(execution, site, "source_bytes")
    return _summed(execution, site, "bytes")


def _summed(execution: Execution, site: PtxSite, name: str) -> int | None:
    """Sum of an argument over all executions by all threads."""
    if site.index in execution.uncounted:
        return None
    fixed = site.args.get(name)
    if isinstance(fixed, int):
        return fixed * _executions(execution, site.index)
    if name not in site.values or None in execution.values.get((site.index, name), {None}):
        return None if _executions(execution, site.index) else 0
    key = (site.index, name)
    return sum(group.sums.get(key, 0) * len(group.threads) for group in execution.groups)


def _executions(execution: Execution, index: int) -> int:
    return sum(group.counts[index] * len(group.threads) for group in execution.groups)


def _add(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
