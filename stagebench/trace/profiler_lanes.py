"""Which words of a profiler's buffer belong to which lane, and which can't be right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stagebench.model.facts import ProfilerFormat
from stagebench.trace.profiler_problems import ProblemLog
from stagebench.trace.profiler_words import EVENT_IDS, LAYOUTS, Layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stagebench.trace.profiler_words import Words

    Column = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_MASK32 = 0xFFFFFFFF
_FARTHEST = 1 << 62  # a stride beyond every slot
_ALIASED = 64  # lane bits that an event id may set to be taken for one: ids below 65536


@dataclass(frozen=True)
class Shape:
    """What the header says, or who read it: lane = block · groups + group; ``stride`` in words."""

    blocks: int
    groups: int
    stride: int

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return self.blocks * self.groups


@dataclass(frozen=True)
class Lane:
    """The records of one lane in program order, as columns.  ``sm``: where the format tells."""

    index: int
    slots: list[int]
    times: list[int]
    events: list[int]
    types: list[int]
    sms: list[int]


def read_shape(
    words: Words,
    log: ProblemLog,
    *,
    blocks: int | None,
    groups: int | None,
    stride: int | None,
    layout: Layout,
) -> Shape | None:
    """The shape by the header; ``blocks`` and ``groups`` that are given go before it.

    ``None`` where neither says how many lanes there are.
    """
    header = int(words[0]) if len(words) else 0
    said_blocks, said_groups = header & _MASK32, header >> 32
    if header == 0:
        log.add("no_header", "the header was never written: no kernel initialised it", slot=0)
    for name, given, said in (("blocks", blocks, said_blocks), ("groups", groups, said_groups)):
        if header and said == 0:
            log.add("bad_header", f"the header says 0 {name}", slot=0)
        elif header and given is not None and given != said:
            log.add("bad_header", f"the header says {said} {name}, not {given}", slot=0)
    found = Shape(blocks or said_blocks, groups or said_groups, 1)
    if found.lanes == 0:
        return None
    if found.lanes > max(0, len(words) - 1):
        log.add(
            "bad_header",
            f"{found.blocks} blocks of {found.groups} groups need {found.lanes} words or more "
            f"after the header; there are {max(0, len(words) - 1)}",
            slot=0,
        )
    if found.lanes > 1 << layout.lane_bits:
        log.add(
            "lanes_alias",
            f"{found.lanes} lanes, the tag holds {1 << layout.lane_bits}: higher lanes alias",
            slot=0,
        )
    return Shape(found.blocks, found.groups, min(stride or found.lanes, _FARTHEST))


def split_lanes(
    words: Words,
    shape: Shape,
    log: ProblemLog,
    wire: ProfilerFormat,
    *,
    stride_is_given: bool,
) -> list[Lane]:
    """The records whose slot fits the lane that they name; the others are reported."""
    import numpy as np

    layout = LAYOUTS[wire]
    slots = (np.flatnonzero(words[1:]) + 1).astype(np.int64)
    found = words[slots]
    tags = (found & np.uint64(_MASK32)).astype(np.int64)
    times = (found >> np.uint64(32)).astype(np.int64)
    lanes = (tags >> 12) & ((1 << layout.lane_bits) - 1)
    distance = slots - 1 - lanes
    fits = (lanes < shape.lanes) & (distance >= 0) & (distance % shape.stride == 0)
    _misplaced(slots, lanes, fits, shape, log)
    if shape.stride < shape.lanes and stride_is_given:
        log.add("interleaved", _interleaved(shape.stride, shape.lanes))
    kept = np.flatnonzero(fits)
    kept = kept[np.argsort(lanes[kept], kind="stable")]
    bounds = np.flatnonzero(np.diff(lanes[kept])) + 1
    result = []
    for part in np.split(kept, bounds) if len(kept) else []:
        tag = tags[part]
        result.append(
            Lane(
                index=int(lanes[part[0]]),
                slots=slots[part].tolist(),
                times=times[part].tolist(),
                events=((tag >> 2) & (EVENT_IDS - 1)).tolist(),
                types=(tag & 3).tolist(),
                sms=[] if layout.sm_shift is None else (tag >> layout.sm_shift).tolist(),
            )
        )
    return result


def _misplaced(slots: Column, lanes: Column, fits: Flags, shape: Shape, log: ProblemLog) -> None:
    """Say why records don't lie in a slot of their lane: a stride, an alias, or nothing known.

    The distance of a record from its lane's first slot is a multiple of the stride that the kernel
    used: the greatest common divisor of all distances is a multiple of it, too.  An event id of
    1024 or more sets bits of the lane, and clears none.
    """
    import numpy as np

    inside = lanes < shape.lanes
    wrong = ~fits
    if not wrong.any():
        return
    distances = (slots - 1 - lanes)[inside]
    used = int(np.gcd.reduce(distances)) if (distances >= 0).all() else 0
    if (wrong & inside).any() and used > 1 and used != shape.stride:
        misplaced = wrong & inside
        first, count = int(slots[misplaced][0]), int(misplaced.sum())
        if used < shape.lanes:
            log.add("interleaved", _interleaved(used, shape.lanes), slot=first, count=count)
        else:
            log.add(
                "other_stride",
                f"the records fit a stride of {used} words, not {shape.stride}: `--stride {used}`",
                slot=first,
                count=count,
            )
        wrong &= ~inside
    owner = (slots - 1) % shape.stride
    added = owner ^ lanes
    alias = wrong & ((owner & lanes) == owner) & (added > 0) & (added < _ALIASED)
    for lane in sorted(set(owner[alias].tolist())):
        mine = alias & (owner == lane)
        log.add(
            "event_alias",
            f"a record in a slot of lane {lane} names lane {lanes[mine][0]}: an event id ≥ "
            f"{EVENT_IDS} runs over into the lane",
            lane=lane,
            slot=int(slots[mine][0]),
            count=int(mine.sum()),
        )
    outside = wrong & ~alias & ~inside
    if outside.any():
        log.add(
            "lane_out_of_range",
            f"a record names lane {lanes[outside][0]} of {shape.lanes}",
            slot=int(slots[outside][0]),
            count=int(outside.sum()),
        )
    rest = wrong & ~alias & inside
    if rest.any():
        log.add(
            "foreign_record",
            f"a record of lane {lanes[rest][0]} lies in a slot of lane {owner[rest][0]}",
            slot=int(slots[rest][0]),
            count=int(rest.sum()),
        )


def _interleaved(stride: int, lanes: int) -> str:
    return (
        f"written with a stride of {stride} words for {lanes} lanes: lanes overwrite each other's "
        "records; the stride must be the number of lanes or more"
    )
