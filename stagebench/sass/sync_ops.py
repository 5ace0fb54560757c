"""Which synchronisation does one machine instruction do?

One instruction can be several ops of DESIGN's taxonomy (an arrival that also expects bytes) or
none.  A member of a synchronising family that no rule knows is ``unknown:<OPCODE>``: never dropped,
never counted as another.  What an op stands for was read off ptxas 13.0: PTX of one instruction a
line, for sm_80, sm_86, sm_89, sm_90a, sm_100a and sm_120a, and each instruction's PTX line.
Names of opcodes: CUDA Binary Utilities, "Instruction Set Reference".

Not here: whether ``DEPBAR.LE SB0`` waits for cp.async groups or for bulk groups, and which polls of
an mbarrier make one wait, take the whole function (``sites``).  An mbarrier on sm_80 to sm_89 is
software: its initialisation is ``STS.64`` and its test ``LDS``, and can't be told from other data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stagebench.sass.program import Instruction

GROUP_WAIT = "group_wait"
"""``DEPBAR.LE SBn, N`` before it is known what it waits for."""


@dataclass(frozen=True)
class SyncRead:
    """One op and its arguments; numbers are those of the instruction."""

    op: str
    args: dict[str, int | str] = field(default_factory=dict)


Reads = tuple[SyncRead, ...]


def read_sync(instruction: Instruction) -> Reads:
    """The ops of one instruction: empty where it doesn't synchronise."""
    rule = _RULES.get(instruction.head)
    if rule is None:
        return ()
    found = rule(instruction)
    return _unknown(instruction) if found is None else found


def number(operand: str) -> int | str:
    """An immediate as a number, a register as its name."""
    try:
        return int(operand, 0)
    except ValueError:
        return operand


def _unknown(instruction: Instruction) -> Reads:
    return (SyncRead(f"unknown:{instruction.opcode}"),)


def _one(op: str, **args: int | str) -> Reads:
    return (SyncRead(op, args),)


Rule = Callable[[Instruction], "Reads | None"]


def _always(op: str, **args: int | str) -> Rule:
    return lambda _: _one(op, **args)


def _depbar(instruction: Instruction) -> Reads | None:
    operands = instruction.operands
    if instruction.opcode == "DEPBAR" and len(operands) == 1 and operands[0].startswith("{"):
        return ()  # a wait for the scoreboards of the warp's own instructions
    if instruction.opcode != "DEPBAR.LE" or len(operands) != 2:
        return None
    return _one(GROUP_WAIT, max_pending=number(operands[1]))


def _syncs(instruction: Instruction) -> Reads | None:
    modifiers = instruction.modifiers
    if modifiers[:1] == ("ARRIVE",):
        return _ARRIVALS.get(modifiers[1:])
    if modifiers == ("EXCH", "64"):
        return _one("mbarrier_init")
    if modifiers in (("PHASECHK", "TRANS64"), ("PHASECHK", "TRANS64", "TRYWAIT")):
        return _one("mbarrier_wait")
    return _one("mbarrier_inval") if modifiers == ("CCTL", "IV") else None


_ARRIVE_EXPECT = (SyncRead("mbarrier_arrive"), SyncRead("mbarrier_expect_tx"))
_ARRIVALS: dict[tuple[str, ...], Reads] = {
    # A<arrivals>T<transactions>: 0, 1 or R, from the register; without a suffix 1 and R
    ("TRANS64",): _ARRIVE_EXPECT,
    ("TRANS64", "RED"): _ARRIVE_EXPECT,
    ("TRANS64", "A1T0"): _one("mbarrier_arrive"),
    ("TRANS64", "RED", "A1T0"): _one("mbarrier_arrive"),
    ("TRANS64", "ART0"): _one("mbarrier_arrive"),
    ("TRANS64", "RED", "ART0"): _one("mbarrier_arrive"),
    ("TRANS64", "RED", "A0TR"): _one("mbarrier_expect_tx"),
    # cp.async.mbarrier.arrive without .noinc: what is to come is announced first
    ("TRANS64", "RED", "A0T1"): _one("mbarrier_pending_count"),
}


def _arrives(instruction: Instruction) -> Reads | None:
    if instruction.modifiers[:2] != ("LDGSTSBAR", "64"):
        return None
    if instruction.modifiers[2:] == ("TRANSCNT",):
        return _one("mbarrier_arrive", via="cp_async")
    # sm_80 to sm_89 have one form, and add to the count in software where it isn't .noinc
    counts = instruction.modifiers[2:] in ((), ("ARVCNT",))
    return _one("mbarrier_arrive", via="cp_async_noinc") if counts else None


def _bar(instruction: Instruction) -> Reads | None:
    kind = instruction.modifiers[:1]
    operands = instruction.operands
    if kind == ("ARV",) and len(operands) == 2:
        return _one(
            "partial_barrier_arrive", barrier=number(operands[0]), threads=number(operands[1])
        )
    if kind == ("RED",) and operands and operands[0] == "0x0":
        return _one("syncthreads", reduce=instruction.modifiers[1])
    if kind != ("SYNC",) or not operands:
        return None
    if operands == ("0x0",):
        return _one("syncthreads")
    if len(operands) == 1:
        return _one("partial_barrier", barrier=number(operands[0]))
    return _one("partial_barrier", barrier=number(operands[0]), threads=number(operands[1]))


def _fence(instruction: Instruction) -> Reads | None:
    if instruction.opcode == "FENCE.VIEW.ASYNC.T":  # tcgen05.wait::st
        return _one("tcgen05_wait", kind="st")
    if instruction.opcode in ("FENCE.VIEW.ASYNC.S", "FENCE.VIEW.ASYNC.G", "FENCE.VIEW.ASYNC"):
        return _one("fence_proxy_async")
    return None


def _warpgroup(instruction: Instruction) -> Reads | None:
    if instruction.opcode == "WARPGROUP.ARRIVE":
        return _one("wgmma_fence")
    if instruction.opcode != "WARPGROUP.DEPBAR.LE" or instruction.operands[:1] != ("gsb0",):
        return None
    return _one("wgmma_wait", max_pending=number(instruction.operands[1]))


def _wgmma(instruction: Instruction) -> Reads:
    # The commit of a group without a product: `HGMMA… RZ, gdesc[URZ], RZ, !UPT, gsb0`
    if instruction.operands[:1] == ("RZ",) and "!UPT" in instruction.operands:
        return _one("wgmma_commit", empty="true")
    shape = instruction.modifiers[:1]
    return _one("wgmma", shape=shape[0]) if shape else _one("wgmma")


def _warpsync(instruction: Instruction) -> Reads:
    # COLLECTIVE is the slow way round of ELECT and its like, for a diverged warp
    return () if instruction.modifiers == ("COLLECTIVE",) else _one("warp_sync")


def _bulk_copy(instruction: Instruction) -> Reads | None:
    if instruction.modifiers == ("S", "G"):
        return _one("tma_load", mode="bulk")
    return _one("tma_store", mode="bulk") if instruction.modifiers == ("G", "S") else None


def _tensor_load(instruction: Instruction) -> Reads:
    multicast = "MULTICAST" in instruction.modifiers
    return _one("tma_load", mode="multicast") if multicast else _one("tma_load")


def _tensor_control(instruction: Instruction) -> Reads | None:
    if instruction.modifiers == ("PF",):
        return _one("tma_prefetch_descriptor")
    return _one("fence_proxy_tensormap") if instruction.modifiers == ("IV",) else None


def _setmaxnreg(instruction: Instruction) -> Reads | None:
    kind = {"DEALLOC": "dec", "TRY_ALLOC": "inc"}.get(next(iter(instruction.modifiers), ""))
    if kind is None or not instruction.operands:
        return None
    return _one("setmaxnreg", registers=number(instruction.operands[-1]), kind=kind)


def _tensor_memory(instruction: Instruction) -> Reads | None:
    kind = instruction.modifiers[:1]
    if kind == ("FIND_AND_SET",):
        return _one("tcgen05_alloc")
    return _one("tcgen05_dealloc") if kind == ("AND",) else None


def _membar(instruction: Instruction) -> Reads | None:
    if len(instruction.modifiers) < 2 or instruction.modifiers[0] not in ("ALL", "SC"):
        return None
    return _one("threadfence", scope=instruction.modifiers[1].lower())


def _atoms(instruction: Instruction) -> Reads:
    return _one("mbarrier_arrive") if instruction.modifiers == ("ARRIVE", "64") else ()


_RULES: dict[str, Rule] = {
    "ACQBULK": _always("griddepcontrol", kind="wait"),
    "ARRIVES": _arrives,
    "ATOMS": _atoms,
    "BAR": _bar,
    "DEPBAR": _depbar,
    "FENCE": _fence,
    "LDGDEPBAR": _always("cp_async_commit"),
    "LDGSTS": _always("cp_async_copy"),
    "LDTM": _always("tcgen05_ld"),
    "MEMBAR": _membar,
    "PREEXIT": _always("griddepcontrol", kind="launch_dependents"),
    "STAS": _always("st_async"),
    "STTM": _always("tcgen05_st"),
    "SYNCS": _syncs,
    "UBLKCP": _bulk_copy,
    "UBLKPF": _always("tma_prefetch"),
    "UBLKRED": _always("tma_store", mode="reduce"),
    "UCGABAR_ARV": _always("cluster_arrive"),
    "UCGABAR_WAIT": _always("cluster_wait"),
    "UGETNEXTWORKID": _always("clusterlaunchcontrol"),
    "USETMAXREG": _setmaxnreg,
    "UTCATOMSWS": _tensor_memory,
    "UTCBAR": _always("tcgen05_commit"),
    "UTCCP": _always("tcgen05_cp"),
    "UTCSHIFT": _always("tcgen05_shift"),
    "UTMACCTL": _tensor_control,
    "UTMACMDFLUSH": _always("tma_store_commit"),
    "UTMALDG": _tensor_load,
    "UTMAPF": _always("tma_prefetch"),
    "UTMAREDG": _always("tma_store", mode="reduce"),
    "UTMASTG": _always("tma_store"),
    "WARPGROUP": _warpgroup,
    "WARPSYNC": _warpsync,
    **dict.fromkeys(("HGMMA", "IGMMA", "QGMMA", "BGMMA"), _wgmma),
    **dict.fromkeys(("BMMA", "DMMA", "HMMA", "IMMA", "OMMA", "QMMA"), _always("mma_sync")),
    **dict.fromkeys(("UTCHMMA", "UTCIMMA", "UTCOMMA", "UTCQMMA"), _always("tcgen05_mma")),
    # Known to synchronise, seen by nobody here: reported by name
    **dict.fromkeys(("LDT", "REDAS", "STT", "WARPGROUPSET"), _unknown),
}
"""Families that synchronise, by opcode head.

``ERRBAR``, ``CGAERRBAR`` and ``CCTL`` stand beside a ``MEMBAR`` or a fence and are counted by it;
``NANOSLEEP.SYNCS`` stands inside an mbarrier wait; ``ELECT`` names a thread and waits for none;
``UVIRTCOUNT`` gives up the permit to allocate.
"""
