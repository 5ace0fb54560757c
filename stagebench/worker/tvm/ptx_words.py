"""What does an instruction of TIRx's PTX table do?  By its PTX words (Apache TVM 0.27 and later).

Written apart from the readers of PTX and of CUDA text, so that counts can be compared.  An
instruction of a family that is not here is ``unknown:<opcode>``.  Imports no compiler: the texts of
passes are read by the same words.

Source: PTX ISA 9.0, "Instruction Set"; the names of operands are those of
``tvm/backend/cuda/ptx/table.py`` (Apache TVM 0.27).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stagebench.model import Extent
from stagebench.worker.tir.intrinsic import Intrinsic


@dataclass(frozen=True)
class Instruction:
    """An instruction's words (the first is its family) and where its operands are in the call.

    ``is_barrier_0``: the operand of ``bar`` is the constant 0.
    """

    words: tuple[str, ...]
    operands: dict[str, int]
    is_barrier_0: bool = False

    def given(self, **names: str) -> dict[str, int]:
        """The positions of the operands that are there, under our names for them."""
        found = {ours: self.operands.get(theirs) for ours, theirs in names.items()}
        return {ours: position for ours, position in found.items() if position is not None}


def is_marker(text: str) -> bool:
    """Whether a call's last argument is the marker that each call of the table ends with."""
    return all(
        flag in ("", "pred", "keep") or (flag[:1] in "ps" and flag[1:].isdigit())
        for flag in text.split(",")
    )


def read(instruction: Instruction) -> Intrinsic | None:
    """What an instruction synchronises, copies asynchronously or multiplies; ``None``: nothing."""
    family, *words = instruction.words
    if family in _HARMLESS and "async" not in words:
        return None
    verb = words[0].partition("::")[0] if words else ""
    if verb in _HARMLESS_VERBS.get(family, ()):
        return None
    if family == "prefetch" and "tensormap" not in words:
        return None
    reader = _READERS.get(family)
    found = None if reader is None else reader(words, instruction)
    return found or Intrinsic((f"unknown:{'.'.join(instruction.words)}",))


_Reader = Callable[[list[str], Instruction], Intrinsic | None]


def _cp(words: list[str], at: Instruction) -> Intrinsic | None:
    found = None
    match words:
        case ["async", "ca" | "cg", *_]:
            found = Intrinsic(("cp_async_copy",), at.given(bytes="cp_size"))
        case ["async", "commit_group"]:
            found = Intrinsic(("cp_async_commit",))
        case ["async", "wait_group"]:
            found = Intrinsic(("cp_async_wait",), at.given(max_pending="group"))
        case ["async", "wait_all"]:
            found = Intrinsic(("cp_async_wait",), {}, {"max_pending": 0})
        case ["async", "mbarrier", "arrive", *rest]:
            via = "cp_async_noinc" if "noinc" in rest else "cp_async"
            found = Intrinsic(("mbarrier_arrive",), at.given(barrier="addr"), {"via": via})
        case ["async", "bulk", *rest]:
            found = _bulk(rest, at)
        case ["reduce", "async", "bulk", *_]:
            found = Intrinsic(("tma_store",), at.given(bytes="size"), {"mode": "reduce"})
    return found


def _bulk(words: list[str], at: Instruction) -> Intrinsic | None:
    spaces = [word for word in words if word == "global" or word.startswith("shared::")]
    modes = [mode for mode, mark in _MODES if mark in words]
    mode: dict[str, Extent] = {"mode": modes[0]} if modes else {}
    bulk: dict[str, Extent] = {} if "tensor" in words else {"mode": "bulk"}
    found = None
    match words, spaces:
        case ["commit_group"], _:
            found = Intrinsic(("tma_store_commit",))
        case ["wait_group", *rest], _:
            read: dict[str, Extent] = {"read": int("read" in rest)}
            found = Intrinsic(("tma_store_wait",), at.given(max_pending="group"), read)
        case ["prefetch", *_], _:
            found = Intrinsic(("tma_prefetch",))
        case _, ["global", _]:
            found = Intrinsic(("tma_store",), at.given(bytes="size"), bulk | mode)
        case _, [_, "global"]:
            args = at.given(barrier="mbar", descriptor="tmap", bytes="size")
            found = Intrinsic(("tma_load",), args, bulk | mode)
        case _, [_, _]:
            found = Intrinsic(("tma_store",), at.given(bytes="size"), {"mode": "cluster"})
    return found


_MODES = (
    ("multicast", "multicast::cluster"),
    ("im2col", "im2col"),
    ("im2col", "im2col::w"),
    ("gather4", "tile::gather4"),
    ("scatter4", "tile::scatter4"),
    ("2sm", "cta_group::2"),
)


def _mbarrier(words: list[str], at: Instruction) -> Intrinsic | None:
    found = None
    match words[0]:
        case "init":
            found = Intrinsic(("mbarrier_init",), at.given(barrier="addr", count="count"))
        case "arrive" | "arrive_drop" if "expect_tx" in words:
            size = at.given(bytes="tx_count") or at.given(bytes="count")
            ops = ("mbarrier_arrive", "mbarrier_expect_tx")
            found = Intrinsic(ops, at.given(barrier="addr") | size)
        case "arrive" | "arrive_drop":
            found = Intrinsic(("mbarrier_arrive",), at.given(barrier="addr"))
        case "expect_tx":
            found = Intrinsic(("mbarrier_expect_tx",), at.given(barrier="addr", bytes="tx_count"))
        case "try_wait" | "test_wait":
            found = Intrinsic(("mbarrier_wait",), at.given(barrier="addr", parity="phase"))
    return found


def _bar(words: list[str], at: Instruction) -> Intrinsic | None:
    found = None
    named = at.given(barrier_id="a", threads="b")
    whole_cta = at.is_barrier_0 and "b" not in at.operands
    match [word for word in words if word not in ("cta", "aligned")]:
        case ["warp", "sync"]:
            found = Intrinsic(("warp_sync",), at.given(mask="membermask"))
        case ["cluster", "arrive", *rest]:
            order: dict[str, Extent] = {"order": "relaxed"} if "relaxed" in rest else {}
            found = Intrinsic(("cluster_arrive",), {}, order)
        case ["cluster", "wait", *_]:
            found = Intrinsic(("cluster_wait",))
        case ["arrive"]:
            found = Intrinsic(("partial_barrier_arrive",), named)
        case ["sync"] if whole_cta:
            found = Intrinsic(("syncthreads",))
        case ["red", reduction, *_] if whole_cta:
            word = "count" if reduction == "popc" else reduction
            found = Intrinsic(("syncthreads",), {}, {"reduction": word})
        case ["sync"] | ["red", *_]:
            found = Intrinsic(("partial_barrier",), named)
    return found


def _fence(words: list[str], at: Instruction) -> Intrinsic | None:
    del at
    found = None
    match words:
        case ["proxy", "async", *_]:
            found = Intrinsic(("fence_proxy_async",))
        case ["proxy", *kind]:
            found = Intrinsic(("fence_proxy",), {}, {"kind": ".".join(kind)})
        case ["mbarrier_init", *_]:
            found = Intrinsic(("fence_barrier_init",))
        case [_, ("cta" | "cluster" | "gpu" | "sys") as scope]:
            found = Intrinsic(("threadfence",), {}, {"scope": scope})
    return found


def _wgmma(words: list[str], at: Instruction) -> Intrinsic | None:
    ops = {
        "mma_async": "wgmma",
        "fence": "wgmma_fence",
        "commit_group": "wgmma_commit",
        "wait_group": "wgmma_wait",
    }
    op = ops.get(words[0])
    return None if op is None else Intrinsic((op,), at.given(max_pending="group"))


def _tcgen05(words: list[str], at: Instruction) -> Intrinsic | None:
    verb, _, kind = words[0].partition("::")
    found = None
    match verb:
        case "mma":
            found = Intrinsic(("tcgen05_mma",))
        case "commit":
            found = Intrinsic(("tcgen05_commit",), at.given(barrier="mbar"))
        case "wait":
            found = Intrinsic(("tcgen05_wait",), {}, {"kind": kind})
        case "fence":
            when = kind.removesuffix("_thread_sync")
            found = Intrinsic(("tcgen05_fence",), {}, {"when": when})
        case "alloc" | "dealloc":
            found = Intrinsic((f"tcgen05_{verb}",), at.given(columns="ncols"))
    return found


def _setmaxnreg(words: list[str], at: Instruction) -> Intrinsic | None:
    increase: dict[str, Extent] = {"increase": int(words[0] == "inc")}
    return Intrinsic(("setmaxnreg",), at.given(registers="nreg"), increase)


def _griddepcontrol(words: list[str], at: Instruction) -> Intrinsic | None:
    del at
    return Intrinsic(("griddepcontrol",), {}, {"kind": words[0]})


def _clusterlaunchcontrol(words: list[str], at: Instruction) -> Intrinsic | None:
    """``try_cancel`` completes on an mbarrier; the taxonomy has no word for it."""
    name = "unknown:clc_try_cancel"  # as in CUDA, PTX and SASS
    return Intrinsic((name,), at.given(barrier="mbar")) if words[0] == "try_cancel" else None


def _mma(words: list[str], at: Instruction) -> Intrinsic | None:
    del words, at
    return Intrinsic(("mma_sync",))


def _prefetch(words: list[str], at: Instruction) -> Intrinsic | None:
    del words
    return Intrinsic(("tma_prefetch_descriptor",), at.given(descriptor="addr"))


_READERS: dict[str, _Reader] = {
    "cp": _cp,
    "mbarrier": _mbarrier,
    "bar": _bar,
    "barrier": _bar,
    "fence": _fence,
    "wgmma": _wgmma,
    "tcgen05": _tcgen05,
    "setmaxnreg": _setmaxnreg,
    "griddepcontrol": _griddepcontrol,
    "clusterlaunchcontrol": _clusterlaunchcontrol,
    "mma": _mma,
    "prefetch": _prefetch,
}

_HARMLESS_VERBS: dict[str, tuple[str, ...]] = {
    "mbarrier": ("inval", "pending_count", "complete_tx", "check_layout"),
    "tcgen05": ("ld", "st", "cp", "shift", "relinquish_alloc_permit"),
    "clusterlaunchcontrol": ("query_cancel",),
}
_HARMLESS = frozenset(
    {
        # arithmetic, comparison, conversion, logic
        "abs", "add", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clmad", "clz", "cnot",
        "copysign", "cos", "cvt", "cvt_pack", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "lg2",
        "lop3", "mad", "mad24", "max", "min", "mul", "mul24", "neg", "not", "or", "popc", "prmt",
        "rcp", "rem", "rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct",
        "spcompress", "spdecompress", "sqrt", "sub", "szext", "tanh", "testp", "xor",
        # addresses and registers
        "createpolicy", "cvta", "getctarank", "isspacep", "mapa", "mov", "movmatrix",
        "tensormap_replace",
        # memory, synchronously
        "applypriority", "atom", "discard", "ld", "ldmatrix", "ldu", "multimem_ld_reduce",
        "multimem_red", "multimem_st", "prefetchu", "red", "st", "st_bulk", "stmatrix",
        # warp votes and shuffles: they converge a warp, they order nothing else
        "activemask", "elect_sync", "match", "redux_sync", "shfl_sync", "vote_sync",
    }
)  # fmt: skip
"""Families whose instructions are no synchronisation, by kind of reason; asynchronous ones are."""

FAMILIES = frozenset({*_READERS, *_HARMLESS, *_HARMLESS_VERBS})
"""The first words of all instructions that are known here."""
