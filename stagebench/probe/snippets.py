"""Which PTX does a probe consist of?  Texts alone; `stagebench.probe.insert` puts them in place.

Held over the whole kernel: a predicate (the warp's leader, of a sampled CTA), the lane's offset and
the count of records.  The buffer's address is read from constant memory at each store: it takes no
argument and no register.  Nothing branches: stores and clock reads are predicated.  ``%clock``
without the leader's predicate becomes an S2UR, for which the whole warp waits.  Two waits in a row
share a record: on a Hopper GPU it is the records, more than the clock reads, that a kernel with
little slack pays for (`experiments/depth_on_hopper.md`).
Source: PTX ISA 9.0, "Special Registers" (%clock, %clock64, %globaltimer, %tid, %ctaid, %smid,
%warpid).
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.probe.layout import (
    COUNT,
    EXIT,
    HARDWARE_WARP,
    HEADER_BYTES,
    MAGIC,
    RECORD_BYTES,
    SM,
    SYMBOL,
    TIMER_ENTRY,
    TIMER_EXIT,
    Layout,
)
from stagebench.ptx.records import Guard

PREFIX = "%sb_probe_"
LONGEST_RUN = 6
"""Waits in a row that share clock reads: each holds one more register until the stores."""

WAITS_IN_RECORD = 2

MODULE = f".visible .const .align 8 .u64 {SYMBOL};"

_LEADER, _STORES, _GUARD = f"{PREFIX}leader", f"{PREFIX}stores", f"{PREFIX}guard"
_COUNT, _LANE = f"{PREFIX}count", f"{PREFIX}lane"
_CLOCK, _TEMP = f"{PREFIX}clock", f"{PREFIX}t"
_BASE, _OFFSET = f"{PREFIX}base", f"{PREFIX}offset"
_LONG_CLOCK, _TIMER = f"{PREFIX}long_clock", f"{PREFIX}timer"


def declarations() -> list[str]:
    """Registers, for the outermost scope of the body."""
    return [
        f".reg .pred {_LEADER}, {_STORES}, {_GUARD};",
        f".reg .b32 {_COUNT}, {_LANE}, {_TEMP}<8>, {_CLOCK}<{LONGEST_RUN + 1}>;",
        f".reg .b64 {_BASE}, {_OFFSET}, {_LONG_CLOCK}, {_TIMER};",
    ]


def entry(layout: Layout, calibration_site: int, tag_bits: int) -> list[str]:
    """Who am I, am I sampled, the entry's header, and the cost of two clock reads in a row."""
    t = _TEMP
    return [
        f"mov.u32 {t}0, %tid.z;",
        f"mov.u32 {t}1, %ntid.y;",
        f"mov.u32 {t}2, %tid.y;",
        f"mad.lo.u32 {t}0, {t}0, {t}1, {t}2;",
        f"mov.u32 {t}1, %ntid.x;",
        f"mov.u32 {t}2, %tid.x;",
        f"mad.lo.u32 {t}0, {t}0, {t}1, {t}2; // linear thread",
        f"and.b32 {t}1, {t}0, 31;",
        f"setp.eq.u32 {_LEADER}, {t}1, 0;",
        f"shr.u32 {t}0, {t}0, 5; // warp",
        f"setp.lt.and.u32 {_LEADER}, {t}0, {layout.shape.warps}, {_LEADER};",
        f"mov.u32 {t}1, %ctaid.z;",
        f"mov.u32 {t}2, %nctaid.y;",
        f"mov.u32 {t}3, %ctaid.y;",
        f"mad.lo.u32 {t}1, {t}1, {t}2, {t}3;",
        f"mov.u32 {t}2, %nctaid.x;",
        f"mov.u32 {t}3, %ctaid.x;",
        f"mad.lo.u32 {t}1, {t}1, {t}2, {t}3; // linear CTA",
        *_sampling(layout),
        f"mad.lo.u32 {t}2, {t}2, {layout.shape.warps}, {t}0;",
        f"mul.lo.u32 {_LANE}, {t}2, {layout.stride};",
        f"mov.u32 {_COUNT}, 0;",
        *_address(_LANE),
        f"mov.u32 {t}2, %smid;",
        f"mov.u32 {t}3, {MAGIC};",
        f"@{_LEADER} st.global.v4.u32 [{_BASE}+{SM}], {{{t}2, {t}1, {t}0, {t}3}};",
        f"mov.u32 {t}2, %warpid;",
        f"@{_LEADER} st.global.u32 [{_BASE}+{HARDWARE_WARP}], {t}2;",
        f"mov.u64 {_TIMER}, %globaltimer;",
        f"mov.u64 {_LONG_CLOCK}, %clock64;",
        f"@{_LEADER} st.global.v2.u64 [{_BASE}+{TIMER_ENTRY}], {{{_TIMER}, {_LONG_CLOCK}}};",
        read_clock(0),
        read_clock(1),
        *store([calibration_site], tag_bits),
    ]


def _sampling(layout: Layout) -> list[str]:
    """From the linear CTA in t1 the sampled CTA in t2; the leader only of those."""
    t = _TEMP
    if layout.step == 1:
        sampled = [f"mov.u32 {t}2, {t}1;"]
    else:
        sampled = [
            f"div.u32 {t}2, {t}1, {layout.step}; // sampled CTA",
            f"mul.lo.u32 {t}3, {t}2, {layout.step};",
            f"setp.eq.and.u32 {_LEADER}, {t}3, {t}1, {_LEADER};",
        ]
    return [*sampled, f"setp.lt.and.u32 {_LEADER}, {t}2, {layout.sampled}, {_LEADER};"]


def _address(offset: str) -> list[str]:
    return [
        f"cvt.u64.u32 {_OFFSET}, {offset};",
        f"ld.const.u64 {_BASE}, [{SYMBOL}];",
        f"add.s64 {_BASE}, {_BASE}, {_OFFSET};",
    ]


def read_clock(place: int) -> str:
    """Read the clock into one of the run's registers."""
    return f"@{_LEADER} mov.u32 {_CLOCK}{place}, %clock;"


def keep_guard(guard: Guard) -> list[str]:
    """Whether the wait will be executed, before it can change its own guard."""
    kept = f"mov.pred {_GUARD}, {guard.register};"
    return [kept, f"not.pred {_GUARD}, {_GUARD};"] if guard.negated else [kept]


def store(
    sites: Sequence[int], tag_bits: int, *, guarded: bool = False, cap: int | None = None
) -> list[str]:
    """Store a run's records, two waits in each, as far as there is room, and count them all.

    ``tag_bits`` of a record's tag are its index in the lane, those above them the id of its first
    site; where there is no second wait, the index stands in its place.  ``cap`` is ``None`` for the
    first record of a lane, for which there is always room.
    """
    t = _TEMP
    found = [f"mad.lo.u32 {t}0, {_COUNT}, {RECORD_BYTES}, {_LANE};", *_address(f"{t}0")]
    for first in range(0, len(sites), WAITS_IN_RECORD):
        stores = _LEADER
        if cap is not None:
            stores = _STORES
            found.append(f"setp.lt.and.u32 {_STORES}, {_COUNT}, {cap}, {_LEADER};")
        if guarded:
            found.append(f"and.pred {_STORES}, {stores}, {_GUARD};")
            stores = _STORES
        found += [
            f"sub.u32 {t}2, {_CLOCK}{first + 1}, {_CLOCK}{first};",
            f"add.u32 {t}1, {_COUNT}, {sites[first] << tag_bits}; // tag",
        ]
        second = _COUNT
        if first + 1 < len(sites):
            second = f"{t}3"
            found.append(f"sub.u32 {second}, {_CLOCK}{first + 2}, {_CLOCK}{first + 1};")
        at = HEADER_BYTES + RECORD_BYTES // WAITS_IN_RECORD * first
        found.append(
            f"@{stores} st.global.v4.u32 [{_BASE}+{at}], {{{t}1, {_CLOCK}{first}, {t}2, {second}}};"
        )
        if guarded:
            found.append(f"selp.u32 {t}1, 1, 0, {_GUARD};")
            found.append(f"add.u32 {_COUNT}, {_COUNT}, {t}1;")
        else:
            found.append(f"add.u32 {_COUNT}, {_COUNT}, 1;")
    return found


def leave(guard: Guard | None) -> list[str]:
    """The exit's header; where the exit is guarded, only of the threads that take it."""
    leader = _LEADER
    found: list[str] = []
    if guard is not None:
        leader = _STORES
        found += [*keep_guard(guard), f"and.pred {_STORES}, {_GUARD}, {_LEADER};"]
    return [
        *found,
        f"mov.u64 {_LONG_CLOCK}, %clock64;",
        f"mov.u64 {_TIMER}, %globaltimer;",
        *_address(_LANE),
        f"@{leader} st.global.v2.u64 [{_BASE}+{TIMER_EXIT}], {{{_TIMER}, {_LONG_CLOCK}}};",
        f"@{leader} st.global.u32 [{_BASE}+{COUNT}], {_COUNT};",
        f"mov.u32 {_TEMP}0, {MAGIC};",
        f"@{leader} st.global.u32 [{_BASE}+{EXIT}], {_TEMP}0;",
    ]
