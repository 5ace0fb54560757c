"""How much do all CTAs of a grid execute and move together?  Not block 0 times the grid.

A walk that does not know the block index, and still knows every count, holds for every block.
Where counts depend on one axis (a causal loop) or on all of them (the tiles of a persistent
kernel), the blocks along it are walked one by one, up to a bound; beyond that the work of the grid
is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from stagebench.machine.matrix_work import matrix_work
from stagebench.ptx.executed import MAX_STEPS, Execution, walk_program
from stagebench.ptx.traffic import bytes_loaded, bytes_stored

MOST_WALKS = 512
"""A persistent kernel has a CTA on each SM, or two: fewer than this on any device."""
FREE_WALKS = 16
MOST_STEPS = 50_000
"""All walks together, where there are more than `FREE_WALKS`: about a second."""


@dataclass(frozen=True)
class GridWork:
    """Executions of each matrix instruction and bytes moved, of all CTAs; ``None``: not known."""

    executed: Mapping[str, int] | None
    moved_bytes: int | None


def grid_work(
    walked: Execution, grid: Sequence[int] | None, box_bytes: Mapping[str, int]
) -> GridWork:
    """Work of a grid of which one CTA was walked; ``grid`` is ``None`` where it is symbolic."""
    if grid is None or (matrix_work(walked) is None and _moved(walked, box_bytes) is None):
        return GridWork(None, None)
    if prod(grid) == 1:
        return GridWork(matrix_work(walked), _moved(walked, box_bytes))
    executed: Mapping[str, int] | None = None
    moved: int | None = None
    for axes in _chosen(grid):
        found = _sum_over(axes, walked, grid, box_bytes)
        executed = found.executed if executed is None else executed
        moved = found.moved_bytes if moved is None else moved
        if executed is not None and moved is not None:
            break
    return GridWork(executed, moved)


def _chosen(grid: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Axes to go along, the fewest walks first: none, one of them, all."""
    yield ()
    several = [axis for axis, extent in enumerate(grid) if extent > 1]
    alone = [(axis,) for axis in several] if len(several) > 1 else []
    for axes in sorted([*alone, tuple(several)], key=lambda axes: prod(grid[a] for a in axes)):
        if prod(grid[axis] for axis in axes) <= MOST_WALKS:
            yield axes


def _sum_over(
    axes: Sequence[int], walked: Execution, grid: Sequence[int], box_bytes: Mapping[str, int]
) -> GridWork:
    """Walk each block along the axes; its index along the others is not known."""
    executed: Counter[str] | None = Counter()
    moved: int | None = 0
    walks = prod(grid[axis] for axis in axes)
    left = MAX_STEPS * walks if walks <= FREE_WALKS else MOST_STEPS
    for place in product(*(range(grid[axis]) for axis in axes)):
        known = dict(zip(axes, place, strict=True))
        placement = replace(walked.placement, cta=(known.get(0), known.get(1), known.get(2)))
        one = walk_program(walked.program, placement, max_steps=min(left, MAX_STEPS))
        left -= one.steps
        work, more = matrix_work(one), _moved(one, box_bytes)
        if executed is not None:
            executed = None if work is None else executed + Counter(work)
        moved = None if moved is None or more is None else moved + more
        if executed is None and moved is None:
            break
    others = prod(extent for axis, extent in enumerate(grid) if axis not in axes)
    return GridWork(
        executed=None if executed is None else {op: n * others for op, n in executed.items()},
        moved_bytes=None if moved is None else moved * others,
    )


def _moved(execution: Execution, box_bytes: Mapping[str, int]) -> int | None:
    if execution.stops:
        return None
    loaded, stored = bytes_loaded(execution), bytes_stored(execution, box_bytes)
    return None if loaded is None or stored is None else loaded + stored
