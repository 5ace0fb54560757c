"""How many records will each warp write?  The CPU walk of the kernel, by site and warp.

A record is written by the warp's leader (its first thread), so that the prediction is what that
thread executes.  Where every CTA takes the same ways one CTA is walked, else each sampled one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stagebench.probe.cta_dependence import depends_on_cta
from stagebench.probe.layout import WARP_THREADS, Extents, Shape
from stagebench.probe.waits import Unit
from stagebench.ptx.executed import Execution, walk
from stagebench.ptx.records import Function, Module
from stagebench.ptx.thread_class import Placement

_NO_CLUSTER = (1, 1, 1)

Counts = tuple[tuple[int | None, ...], ...]
"""By site, then by warp; ``None``: the walk can't tell."""

Records = tuple[tuple[int | None, ...], ...]
"""Of each sampled CTA (a single entry: all are alike), then by warp."""


@dataclass(frozen=True)
class Prediction:
    """What the walk says of the sampled CTAs.

    ``by_cta`` has one entry for each sampled CTA, or a single one where all are alike;
    ``unknown`` says in words what the walk could not decide.
    """

    by_cta: tuple[Counts, ...]
    unknown: tuple[str, ...]

    @property
    def alike(self) -> bool:
        """Whether one entry stands for all CTAs."""
        return len(self.by_cta) == 1

    def of_site(self, site: int) -> tuple[int | None, ...] | None:
        """By warp, where all sampled CTAs agree; ``None``: nothing is known of the site."""
        found = [counts[site] for counts in self.by_cta]
        merged = tuple(
            same[0] if len(set(same)) == 1 else None for same in zip(*found, strict=True)
        )
        return None if all(count is None for count in merged) else merged

    def records(self, pairs: Sequence[int]) -> Records:
        """Records of each warp, its calibration included, by entry of ``by_cta``.

        ``pairs`` are the sites whose record holds the next site's wait too.
        """
        seconds = {site + 1 for site in pairs}
        found = []
        for counts in self.by_cta:
            firsts = [warps for site, warps in enumerate(counts) if site not in seconds]
            found.append(tuple(_total(warp) for warp in zip(*firsts, strict=True)))
        return tuple(found)


def predict(
    module: Module,
    function: Function,
    units: Sequence[Unit],
    shape: Shape,
    ctas: Sequence[int],
    *,
    params: Mapping[str, int | None],
    cluster: Extents | None = None,
) -> Prediction:
    """Walk the CTAs with these linear ids, or the first where it stands for them all."""
    sites = frozenset(unit.site.index for unit in units)
    walked = ctas if depends_on_cta(function, sites) else ctas[:1]
    by_cta: list[Counts] = []
    unknown: dict[str, None] = {}
    for linear in walked:
        placement = Placement(
            block=shape.block,
            grid=shape.grid,
            cluster=cluster or _NO_CLUSTER,
            cta=shape.cta(linear),
        )
        execution = walk(module, function, placement, params)
        by_cta.append(_counts(execution, function, units, shape.warps))
        unknown |= dict.fromkeys(
            f"PTX line {stop.ptx_line}: {stop.reason}" for stop in execution.stops
        )
        if execution.stops:
            break  # another CTA's walk would end there too, after as long a time
    return Prediction(tuple(dict.fromkeys(by_cta)) if unknown else tuple(by_cta), tuple(unknown))


def _counts(execution: Execution, function: Function, units: Sequence[Unit], warps: int) -> Counts:
    group_of = {
        thread: group
        for group in execution.groups
        for thread in group.threads
        if thread % WARP_THREADS == 0
    }
    found: list[tuple[int | None, ...]] = []
    for unit in units:
        index = unit.site.index
        instruction = function.instructions[index]
        hidden = instruction.asm is not None and instruction.guard is not None
        if execution.stops or index in execution.uncounted or hidden:
            found.append(tuple([None] * warps))
            continue
        leaders = [group_of.get(warp * WARP_THREADS) for warp in range(warps)]
        found.append(tuple(None if group is None else group.counts[index] for group in leaders))
    return tuple(found)


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) + 1 if len(known) == len(counts) else None
