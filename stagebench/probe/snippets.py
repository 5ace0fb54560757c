"""Which PTX does a probe consist of?  Texts alone; `stagebench.probe.insert` puts them in place.

Held over the whole kernel: a predicate (the warp's leader, of a sampled CTA), the lane's offset and
the count of records.  The buffer's address is read from constant memory at each store: it takes no
argument and no register.  Nothing branches: stores and clock reads are predicated.  ``%clock``
without the leader's predicate becomes an S2UR, for which the whole warp waits.
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


def entry(layout: Layout, calibration_site: int) -> list[str]:
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
        *store([calibration_site]),
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


def store(sites: Sequence[int], *, guarded: bool = False, cap: int | None = None) -> list[str]:
    """Store a run's records, as far as there is room, and count them all.

    ``cap`` is ``None`` for the first record of a lane, for which there is always room.
    """
    t = _TEMP
    found = [f"mad.lo.u32 {t}0, {_COUNT}, {RECORD_BYTES}, {_LANE};", *_address(f"{t}0")]
    for place, site in enumerate(sites):
        ordinal = _COUNT
        if place:
            ordinal = f"{t}1"
            found.append(f"add.u32 {ordinal}, {_COUNT}, {place};")
        stores = _LEADER
        if cap is not None:
            stores = _STORES
            found.append(f"setp.lt.and.u32 {_STORES}, {ordinal}, {cap}, {_LEADER};")
        if guarded:
            found.append(f"and.pred {_STORES}, {stores}, {_GUARD};")
            stores = _STORES
        at = HEADER_BYTES + RECORD_BYTES * place
        found += [
            f"sub.u32 {t}2, {_CLOCK}{place + 1}, {_CLOCK}{place};",
            f"mov.u32 {t}3, {site};",
            f"@{stores} st.global.v4.u32 [{_BASE}+{at}],"
            f" {{{t}3, {_CLOCK}{place}, {t}2, {ordinal}}};",
        ]
    if guarded:
        found += [f"selp.u32 {t}1, 1, 0, {_GUARD};", f"add.u32 {_COUNT}, {_COUNT}, {t}1;"]
    else:
        found.append(f"add.u32 {_COUNT}, {_COUNT}, {len(sites)};")
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
