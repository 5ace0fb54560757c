"""What is known about the threads that have gone the same way so far?

A class of threads shares its place in the program; a register holds one value for all of them, an
array with one element for each, or ``None``: not known.  A branch on a predicate that differs
between threads splits the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stagebench.ptx.integer_ops import Array, Value

Extents = tuple[int, int, int]
Indices = tuple[int | None, int | None, int | None]
WARP = 32
_SEEN_LIMIT = 8


@dataclass(frozen=True, slots=True)
class Placement:
    """Which CTA of which grid is walked; extents are x, y, z.

    An index of ``cta`` that is ``None`` is not known: what the walk then knows holds for each.
    """

    block: Extents
    grid: Extents
    cluster: Extents = (1, 1, 1)
    cta: Indices = (0, 0, 0)

    @property
    def threads(self) -> int:
        """Threads of the CTA."""
        return self.block[0] * self.block[1] * self.block[2]


class ThreadClass:
    """Threads (``threads``: their linear indices, ascending), their registers and their counts.

    ``visits`` counts executions of each block; ``guarded`` those of instructions with a guard
    (an ``int``, or an array with one element a thread); ``sums`` adds up operand values.
    ``observed`` are the operand values that any class of the walk had, a few of each.
    """

    __slots__ = (
        "block", "guarded", "observed", "placement", "registers", "special_cache", "sums",
        "threads", "unknown", "visits",
    )  # fmt: skip

    def __init__(self, placement: Placement, registers: int, blocks: int) -> None:
        self.placement = placement
        self.threads: npt.NDArray[np.int64] = np.arange(placement.threads, dtype=np.int64)
        self.registers: list[Value | None] = [None] * registers
        self.visits = [0] * blocks
        self.guarded: dict[int, Any] = {}
        self.sums: dict[tuple[int, str], Any] = {}
        self.observed: dict[tuple[int, str], set[int | None]] = {}
        self.unknown: set[int] = set()
        self.special_cache: dict[str, Value | None] = {}
        self.block = 0

    def observe(self, operand: tuple[int, str], value: Value | None) -> None:
        """Note a value of an operand (an instruction's index, and what the operand is)."""
        seen = self.observed.setdefault(operand, set())
        if len(seen) < _SEEN_LIMIT:
            seen.update(np.unique(value).tolist() if isinstance(value, np.ndarray) else [value])

    def special(self, name: str) -> Value | None:
        """Value of a special register; ``None``: it depends on the device or on time."""
        if name not in self.special_cache:
            self.special_cache[name] = self._special(name)
        return self.special_cache[name]

    def part(self, chosen: npt.NDArray[np.bool_]) -> ThreadClass:
        """Return a class of its own for the chosen threads."""
        new = ThreadClass.__new__(ThreadClass)
        new.placement = self.placement
        new.threads = self.threads[chosen]
        new.registers = [
            _take(value, chosen) if isinstance(value, np.ndarray) else value
            for value in self.registers
        ]  # most are one value for all threads: no call for those
        new.visits = list(self.visits)
        new.guarded = {key: _take(value, chosen) for key, value in self.guarded.items()}
        new.sums = {key: _take(value, chosen) for key, value in self.sums.items()}
        new.observed = self.observed
        new.unknown = set(self.unknown)
        new.special_cache = {}
        new.block = self.block
        return new

    def _special(self, name: str) -> Value | None:
        head, _, axis = name.partition(".")
        place = self.placement
        extents: dict[str, Indices] = {
            "%ntid": place.block,
            "%nctaid": place.grid,
            "%ctaid": place.cta,
            "%cluster_nctaid": place.cluster,
            "%cluster_ctaid": _in_cluster(place.cta, place.cluster),
            "%clusterid": _clusters(place.cta, place.cluster),
            "%nclusterid": _clusters(place.grid, place.cluster),
        }
        if head in extents and axis in ("x", "y", "z"):
            return extents[head]["xyz".index(axis)]
        if head == "%tid" and axis in ("x", "y", "z"):
            return self._thread_index("xyz".index(axis))
        found: Value | None = None
        lane = self.threads % WARP
        if head == "%laneid":
            found = as_value(lane)
        elif head == "%warpid":
            found = as_value(self.threads // WARP)
        elif head == "%nwarpid":
            found = -(-place.threads // WARP)
        elif head.startswith("%lanemask_"):
            own = np.uint64(1) << lane.astype(np.uint64)
            below = own - np.uint64(1)
            masks = {"eq": own, "lt": below, "le": below | own}
            masks |= {"gt": ~masks["le"] & np.uint64(0xFFFFFFFF)}
            masks |= {"ge": ~below & np.uint64(0xFFFFFFFF)}
            found = as_value(masks[head.rpartition("_")[2]])
        elif head == "%cluster_ctarank":
            found = _rank(_in_cluster(place.cta, place.cluster), place.cluster)
        elif head == "%cluster_nctarank":
            found = place.cluster[0] * place.cluster[1] * place.cluster[2]
        elif head == "WARP_SZ":
            found = WARP
        return found

    def _thread_index(self, axis: int) -> Value:
        nx, ny, _ = self.placement.block
        if axis == 0:
            return as_value(self.threads % nx)
        if axis == 1:
            return as_value(self.threads // nx % ny)
        return as_value(self.threads // (nx * ny))


def _in_cluster(cta: Indices, cluster: Extents) -> Indices:
    """Return the place in the cluster, which of an extent of 1 is always 0."""
    x, y, z = (
        0 if size == 1 else None if index is None else index % size
        for index, size in zip(cta, cluster, strict=True)
    )
    return x, y, z


def _rank(place: Indices, cluster: Extents) -> int | None:
    x, y, z = place
    if x is None or y is None or z is None:
        return None
    return x + cluster[0] * (y + cluster[1] * z)


def _clusters(indices: Indices, cluster: Extents) -> Indices:
    """Return indices counted in clusters."""
    x, y, z = (
        None if index is None else index // size
        for index, size in zip(indices, cluster, strict=True)
    )
    return x, y, z


def as_value(array: Array) -> Value:
    """Return one value where all threads have the same, else the array."""
    if array.dtype != np.bool_:
        array = array.astype(np.uint64)
    first = array[0]
    if (array == first).all():
        return bool(first) if array.dtype == np.bool_ else int(first)
    return array


def _take(value: Any, chosen: npt.NDArray[np.bool_]) -> Any:  # noqa: ANN401 - of any element type
    if not isinstance(value, np.ndarray):
        return value
    taken = value[chosen]
    return as_value(taken) if value.dtype in (np.uint64, np.bool_) else taken
