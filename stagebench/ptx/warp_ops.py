"""What do the instructions compute that look across a warp?  ``elect``, ``shfl``, ``vote``.

A lane that is not in the class (it went another way) has no value here: what depends on it is not
known.  Source: PTX ISA 9.0, "elect.sync" (the same leader for the same mask; we take the lowest
lane of the mask), "shfl.sync", "vote.sync", "activemask", "Special Registers".
"""

from __future__ import annotations

import numpy as np

from stagebench.ptx.integer_ops import Value
from stagebench.ptx.thread_class import WARP, ThreadClass, as_value

_ALL = 0xFFFFFFFF


def elect(state: ThreadClass, mask: Value | None) -> tuple[Value | None, Value | None]:
    """Return the leader's lane and, for each thread, whether it is the leader."""
    if not isinstance(mask, int) or mask == 0:
        return None, None
    leader = (mask & -mask).bit_length() - 1
    return leader, as_value(state.threads % WARP == leader)


def shuffle(
    state: ThreadClass, mode: str, value: Value | None, lane: Value | None, clamp: Value | None
) -> tuple[Value | None, Value | None]:
    """Return what a lane receives, and whether its source is in range."""
    if not isinstance(lane, int) or not isinstance(clamp, int):
        return (value if isinstance(value, int) else None), None
    own = state.threads % WARP
    segment = clamp >> 8 & 0x1F
    limit = clamp & 0x1F
    lowest = own & segment
    highest = lowest | (limit & ~segment & 0x1F)
    offset = lane & 0x1F
    if mode == "idx":
        source = lowest | (offset & ~segment & 0x1F)
        inside = source <= highest
    elif mode == "up":
        source, inside = own - offset, own - offset >= highest
    elif mode == "down":
        source, inside = own + offset, own + offset <= highest
    else:
        source, inside = own ^ offset, (own ^ offset) <= highest
    source = np.where(inside, source, own) + state.threads // WARP * WARP
    in_range = as_value(inside)
    if value is None or not isinstance(value, np.ndarray):
        return value, in_range
    place = np.searchsorted(state.threads, source)
    place = np.minimum(place, len(state.threads) - 1)
    if not (state.threads[place] == source).all():
        return None, in_range
    return as_value(value[place]), in_range


def vote(state: ThreadClass, mode: str, flag: Value | None, members: Value | None) -> Value | None:
    """Return a vote of whole warps; that of a part of a warp is not known."""
    if (
        flag is None
        or not isinstance(members, int)
        or members & _ALL != _ALL
        or not _whole_warps(state)
    ):
        return None
    warps = state.threads // WARP
    flags = np.broadcast_to(np.asarray(flag, dtype=np.bool_), warps.shape)
    names, positions = np.unique(warps, return_inverse=True)
    found = np.zeros(len(names), dtype=np.uint64)
    for position in range(len(names)):
        votes = flags[positions == position]
        lanes = (state.threads[positions == position] % WARP).astype(np.uint64)
        ballot = np.bitwise_or.reduce(np.where(votes, np.uint64(1) << lanes, np.uint64(0)))
        yes = {"all": votes.all(), "any": votes.any(), "uni": votes.all() or not votes.any()}
        found[position] = ballot if mode == "ballot" else np.uint64(yes[mode])
    result = found[positions]
    return as_value(result if mode == "ballot" else result.astype(np.bool_))


def active_mask(state: ThreadClass) -> Value | None:
    """Return all lanes where whole warps are together; else it depends on convergence."""
    return _ALL if _whole_warps(state) and state.placement.threads % WARP == 0 else None


def _whole_warps(state: ThreadClass) -> bool:
    last = state.placement.threads
    for warp in np.unique(state.threads // WARP):
        members = min(WARP, last - int(warp) * WARP)
        if int((state.threads // WARP == warp).sum()) != members:
            return False
    return True
