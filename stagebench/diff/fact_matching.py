"""Which record of one variant is which of the other?  By name first, then by structure.

Never by index alone: a pass that adds a buffer must not make every buffer after it look changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Generic, TypeVar

from stagebench.diff.fact_renames import FactRenames
from stagebench.model import (
    Barrier,
    Facts,
    LaunchParam,
    PipelineLoop,
    SharedBuffer,
    SyncOp,
    TmaDescriptor,
)

_T = TypeVar("_T")


@dataclass(frozen=True)
class Pair(Generic[_T]):
    """The same thing on both sides; ``None`` where one side has none."""

    left: _T | None
    right: _T | None

    @property
    def one(self) -> _T:
        """The left side's, or the right side's where the left has none."""
        found = self.left if self.left is not None else self.right
        assert found is not None  # noqa: S101 - a pair has at least one side
        return found


def match(
    left: Sequence[_T],
    right: Sequence[_T],
    *,
    by: Sequence[Callable[[_T], object]],
    certain: int | None = None,
) -> list[Pair[_T]]:
    """Pair records: each key of ``by`` in turn pairs, in order, those that no earlier one did.

    With ``certain``, keys from that index on pair only where exactly one record is left on each
    side: they are too weak to choose by.  Left records come in their order, each new right one
    where it stands.
    """
    partner: dict[int, int] = {}
    for strength, key in enumerate(by):
        theirs: dict[object, list[int]] = {}
        for index, record in enumerate(right):
            if index not in partner.values():
                theirs.setdefault(key(record), []).append(index)
        free = [index for index in range(len(left)) if index not in partner]
        if certain is not None and strength >= certain:
            rest = sum(map(len, theirs.values()))
            if len(free) != 1 or rest != 1:
                continue
        for index in free:
            waiting = theirs.get(key(left[index]))
            if waiting:
                partner[index] = waiting.pop(0)
    pairs = [
        Pair(left=record, right=right[partner[index]] if index in partner else None)
        for index, record in enumerate(left)
    ]
    taken = set(partner.values())
    new: list[Pair[_T]] = [
        Pair(left=None, right=record) for index, record in enumerate(right) if index not in taken
    ]
    return pairs + new


def both_sides(pairs: Iterable[Pair[_T]]) -> list[tuple[_T, _T]]:
    """The pairs that have both."""
    return [(p.left, p.right) for p in pairs if p.left is not None and p.right is not None]


@dataclass(frozen=True)
class MatchedFacts:
    """Which record of one side is which of the other, of everything that has a name."""

    loops: list[Pair[PipelineLoop]]
    buffers: list[Pair[SharedBuffer]]
    params: list[Pair[LaunchParam]]
    descriptors: list[Pair[TmaDescriptor]]
    barriers: list[Pair[Barrier]]


def match_facts(left: Facts, right: Facts, renames: FactRenames) -> MatchedFacts:
    """Match records and learn from them which names are the same."""
    loops = match(
        left.pipeline_loops,
        right.pipeline_loops,
        by=(lambda loop: loop.loop_var, lambda _: None),
    )
    buffers = match(
        left.shared_buffers,
        right.shared_buffers,
        by=(lambda b: b.name, lambda b: (b.scope, b.dtype, b.shape), lambda b: b.scope),
        certain=2,
    )
    params = match(
        left.launch.params,
        right.launch.params,
        by=(lambda p: p.name, lambda p: (p.kind, p.dtype)),
    )
    descriptors = match(
        left.launch.tma_descriptors,
        right.launch.tma_descriptors,
        by=(
            lambda d: d.name,
            lambda d: (d.kind, d.global_shape, d.box),
            lambda d: (d.kind, d.rank),
            lambda d: d.name.rpartition("_")[2],
        ),
    )
    passed = [
        *((a.name, b.name) for a, b in both_sides(params)),
        *((a.name, b.name) for a, b in both_sides(descriptors)),
        (left.launch.function, right.launch.function),
    ]
    renames.refuse(pair for pair in passed if not renames.in_cuda(*pair))
    renames.refuse(
        (a.tensor, b.tensor)
        for a, b in both_sides(descriptors)
        if (a.name == f"{a.tensor}_desc") != (b.name == f"{b.tensor}_desc")
    )
    renames.learn(
        [(a.loop_var, b.loop_var) for a, b in both_sides(loops)]
        + [(a.name, b.name) for a, b in both_sides(buffers)]
        + [(a.tensor, b.tensor) for a, b in both_sides(descriptors)]
        + passed
    )
    barriers = match(
        left.barriers,
        right.barriers,
        by=(
            lambda b: (b.name, b.kind, renames.in_left(b.guards)),
            lambda b: (b.name, b.kind),
            lambda b: b.name,
            lambda b: b.kind,
        ),
    )
    renames.learn([(a.name, b.name) for a, b in both_sides(barriers)])
    return MatchedFacts(loops, buffers, params, descriptors, barriers)


def match_sites(left: Sequence[SyncOp], right: Sequence[SyncOp]) -> list[Pair[SyncOp]]:
    """Pair call sites: within a place by what they do and their order there, then across places.

    A site that only one side has (a deeper prologue) stays alone; a site whose wait depth or
    barrier is another is a changed site, not two.
    """
    partner: dict[int, int] = {}
    places = dict.fromkeys(_place(site) for site in left)
    for place in places:
        mine = [index for index, site in enumerate(left) if _place(site) == place]
        theirs = [index for index, site in enumerate(right) if _place(site) == place]
        _align(left, right, mine, theirs, partner)
    for key in (
        lambda site: (site.op, site.role),
        lambda site: site.op,
        lambda site: (site.intrinsic, site.role, site.section),
    ):
        _leftovers(left, right, key, partner)
    taken = {partner[index]: index for index in partner}
    pairs = [
        Pair(left=site, right=right[partner[index]] if index in partner else None)
        for index, site in enumerate(left)
    ]
    return pairs + [
        Pair(left=None, right=site) for index, site in enumerate(right) if index not in taken
    ]


def _place(site: SyncOp) -> tuple[str, str, str | None]:
    return site.op, site.role, site.section


def _align(
    left: Sequence[SyncOp],
    right: Sequence[SyncOp],
    mine: Sequence[int],
    theirs: Sequence[int],
    partner: dict[int, int],
) -> None:
    """Equal sites first, in order; between them the first of each gap, until one side is out."""
    keys = [_doing(left[index]) for index in mine], [_doing(right[index]) for index in theirs]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag in ("equal", "replace"):
            for one, two in zip(range(start, end), range(first, last), strict=False):
                partner[mine[one]] = theirs[two]


def _doing(site: SyncOp) -> Hashable:
    """What a site does and around which loops; trip counts are what the depth decides."""
    return (
        site.intrinsic,
        tuple(site.args.items()),
        tuple(loop.partition("<")[0] for loop in site.loops),
    )


def _leftovers(
    left: Sequence[SyncOp],
    right: Sequence[SyncOp],
    key: Callable[[SyncOp], Hashable],
    partner: dict[int, int],
) -> None:
    taken = set(partner.values())
    theirs: dict[Hashable, list[int]] = {}
    for index, site in enumerate(right):
        if index not in taken:
            theirs.setdefault(key(site), []).append(index)
    for index, site in enumerate(left):
        waiting = theirs.get(key(site))
        if index not in partner and waiting:
            partner[index] = waiting.pop(0)
