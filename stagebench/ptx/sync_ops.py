"""Which operation of the taxonomy does a PTX instruction perform?  Opcode by opcode, dot by dot.

The names and arguments are those of the CUDA reader (`stagebench.facts.cuda_callees`,
`stagebench.facts.cuda_asm`), found independently, so that counts can be compared.  An opcode of a
synchronising family that is not in a table is ``unknown:<opcode>``.  One instruction may perform
two operations (``mbarrier.arrive.expect_tx``).  Arguments are those that the text fixes: an operand
in a register is left to the walk (`PtxOp.values`).

Source: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions", "Data Movement and
Conversion Instructions: Asynchronous copy", "Asynchronous Warpgroup Level Matrix
Multiply-Accumulate Instructions", "TensorCore 5th Generation Family Instructions",
"Miscellaneous Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from stagebench.model.base import Extent
from stagebench.ptx.records import Instruction, Integer, Operand

Args = dict[str, Extent]


@dataclass(frozen=True, slots=True)
class PtxOp:
    """One operation; ``values`` names operands (by index) whose value the walk may find out."""

    op: str
    args: Args = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)


_Reader = Callable[[list[str], tuple[Operand, ...]], list[PtxOp] | None]
_SHAPE = re.compile(r"m\d+n\d+k\d+\Z")
_TYPE = re.compile(r"(?:[usb]\d+|f\d+|bf16|tf32|bf16x2|f16x2|e\dm\d(?:x\d)?|s4|u4|b1)\Z")


def read_ops(instruction: Instruction) -> list[PtxOp]:
    """Return what an instruction synchronises, copies asynchronously or multiplies."""
    parts = instruction.parts
    reader = _READERS.get(parts[0])
    if reader is None:
        return []
    found = reader(parts, instruction.operands)
    return [PtxOp(f"unknown:{instruction.opcode}")] if found is None else found


def _op(
    op: str, operands: tuple[Operand, ...] = (), /, fixed: Args | None = None, **names: int
) -> PtxOp:
    """Read named operands: literals become arguments, registers values for the walk."""
    args: Args = dict(fixed or {})
    values: dict[str, int] = {}
    for name, index in names.items():
        if index < len(operands):
            operand = operands[index]
            if isinstance(operand, Integer):
                args[name] = operand.value
            else:
                values[name] = index
    return PtxOp(op, args, values)


def _cp(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    found: list[PtxOp] | None = None
    match parts[1:]:
        case ["async", "bulk", *rest]:
            found = _bulk(rest, operands)
        case ["reduce", "async", "bulk", *rest]:
            found = [_op("tma_store", operands, {"mode": "reduce"}, **_size(rest, 0))]
        case ["async", "commit_group"]:
            found = [_op("cp_async_commit")]
        case ["async", "wait_all"]:
            found = [_op("cp_async_wait", (), {"max_pending": 0})]
        case ["async", "wait_group"]:
            found = [_op("cp_async_wait", operands, max_pending=0)]
        case ["async", "mbarrier", "arrive", *rest]:
            via = "cp_async_noinc" if "noinc" in rest else "cp_async"
            found = [_op("mbarrier_arrive", (), {"via": via})]
        case ["async", "ca" | "cg", *_]:
            found = [_op("cp_async_copy", operands, bytes=2, source_bytes=3)]
    return found


def _size(rest: list[str], tensor: int) -> dict[str, int]:
    """Where a bulk copy names its bytes, or its descriptor, which has them."""
    return {"descriptor": tensor} if "tensor" in rest else {"bytes": 2}


def _bulk(rest: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    found: list[PtxOp] | None = None
    spaces = [part for part in rest if part == "global" or part.startswith("shared::")]
    modes = [
        mode
        for mode, mark in (
            ("multicast", "multicast::cluster"),
            ("im2col", "im2col"),
            ("im2col", "im2col::w"),
            ("gather4", "tile::gather4"),
            ("scatter4", "tile::scatter4"),
            ("2sm", "cta_group::2"),
        )
        if mark in rest
    ]
    fixed: Args = {"mode": modes[0]} if modes else {}
    match rest, spaces:
        case ["commit_group"], _:
            found = [_op("tma_store_commit")]
        case ["wait_group", *_], _:
            found = [_op("tma_store_wait", operands, {"read": int("read" in rest)}, max_pending=0)]
        case ["prefetch", *_], _:
            found = [_op("tma_prefetch")]
        case _, ["global", _]:
            found = [_op("tma_store", operands, fixed, **_size(rest, 0))]
        case _, [_, "global"]:
            bulk: Args = {} if "tensor" in rest else {"mode": "bulk"}
            found = [_op("tma_load", operands, bulk | fixed, **_size(rest, 1))]
        case _, [_, _]:  # from shared::cta to another CTA of the cluster
            found = [_op("tma_store", operands, {"mode": "cluster"}, **_size(rest, 0))]
    return found


def _mbarrier(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    found: list[PtxOp] | None = None
    match parts[1:2]:
        case ["init"]:
            found = [_op("mbarrier_init", operands, count=1)]
        case ["arrive" | "arrive_drop"]:
            found = [_op("mbarrier_arrive")]
            if "expect_tx" in parts:  # the state (or `_`) comes first
                found.append(_op("mbarrier_expect_tx", operands, bytes=2))
        case ["expect_tx"]:
            found = [_op("mbarrier_expect_tx", operands, bytes=1)]
        case ["try_wait" | "test_wait"]:
            found = [_op("mbarrier_try_wait")]
        case ["inval" | "pending_count" | "complete_tx"]:
            found = []
    return found


def _bar(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    found: list[PtxOp] | None = None
    match [part for part in parts[1:] if part not in ("cta", "aligned")]:
        case ["warp", "sync"]:
            found = [_op("warp_sync", operands, mask=0)]
        case ["cluster", "arrive", *rest]:
            found = [_op("cluster_arrive", (), {"order": "relaxed"} if "relaxed" in rest else {})]
        case ["cluster", "wait", *_]:
            found = [_op("cluster_wait")]
        case ["arrive", *_]:
            found = [_op("partial_barrier_arrive", operands, barrier_id=0, threads=1)]
        case ["sync", *_] if operands in ((), (Integer(0),)):
            found = [_op("syncthreads")]
        case ["sync", *_]:
            found = [_op("partial_barrier", operands, barrier_id=0, threads=1)]
        case ["red", reduction, *_] if len(operands) == 3 and operands[1] == Integer(0):
            found = [_op("syncthreads", (), {"reduction": _REDUCTIONS.get(reduction, reduction)})]
        case ["red", *_]:
            names = {"barrier_id": 1} | ({"threads": 2} if len(operands) == 4 else {})
            found = [_op("partial_barrier", operands, None, **names)]
    return found


_REDUCTIONS = {"popc": "count"}


def _fence(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    kind = parts[2].partition("::")[0] if parts[1:2] == ["proxy"] and len(parts) > 2 else ""
    if kind == "async":
        return [_op("fence_proxy_async")]
    if parts[1:2] == ["mbarrier_init"]:
        return [_op("fence_barrier_init")]
    if parts[1:2] == ["proxy"]:
        return [_op("fence_proxy", (), {"kind": ".".join(parts[2:])})]
    scope = _SCOPES.get(parts[-1], parts[-1])
    return [_op("threadfence", (), {"scope": scope})] if scope in _FENCE_SCOPES else None


_SCOPES = {"gl": "gpu"}  # membar.gl
_FENCE_SCOPES = ("cta", "cluster", "gpu", "sys")


def _wgmma(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    verb = parts[1] if len(parts) > 1 else ""
    if verb == "wait_group":
        return [_op("wgmma_wait", operands, max_pending=0)]
    if verb == "mma_async":
        return [_op("wgmma", (), _matrix(parts, operands_first=False))]
    names = {"fence": "wgmma_fence", "commit_group": "wgmma_commit"}
    return [_op(names[verb])] if verb in names else None


def _matrix(parts: list[str], *, operands_first: bool) -> Args:
    """Shape and types; types are given as A, B and the destination."""
    shape = next((part for part in parts if _SHAPE.match(part)), None)
    types = [part for part in parts if _TYPE.match(part)]
    if shape is None:
        return {}
    if len(types) < 3:
        return {"shape": shape}
    first, second, third = (types[0], types[1], types[2])
    order = (first, second, third) if operands_first else (second, third, first)
    return {"shape": shape, "types": ", ".join(order)}


def _tcgen05(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    verb, _, kind = (parts[1] if len(parts) > 1 else "").partition("::")
    found: list[PtxOp] | None = None
    if verb == "commit":
        found = [_op("tcgen05_commit")]
    elif verb == "wait":
        found = [_op("tcgen05_wait", (), {"kind": kind})]
    elif verb == "fence":
        found = [_op("tcgen05_fence", (), {"when": kind.removesuffix("_thread_sync")})]
    elif verb == "mma":
        kinds = [part.removeprefix("kind::") for part in parts if part.startswith("kind::")]
        found = [_op("tcgen05_mma", (), {"kind": kinds[0]} if kinds else {})]
    elif verb == "alloc":
        found = [_op("tcgen05_alloc", operands, columns=1)]
    elif verb == "dealloc":
        found = [_op("tcgen05_dealloc", operands, columns=1)]
    elif verb in ("ld", "st", "cp", "shift", "relinquish_alloc_permit"):
        found = []
    return found


def _mma(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    if not {"sync", "sp"} & {part.partition("::")[0] for part in parts}:
        return None
    types = [part for part in parts if _TYPE.match(part)]
    args = _matrix(parts, operands_first=False)
    if len(types) == 4 and "shape" in args:  # d, a, b, c
        args["types"] = ", ".join((types[1], types[2], types[0]))
    return [_op("mma_sync", (), args)]


def _wmma(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    if parts[1:2] == ["mma"]:
        shape = next((part for part in parts if _SHAPE.match(part)), "")
        return [_op("mma_sync", (), {"mode": "wmma", "shape": shape})]
    return [] if parts[1:2] in (["load"], ["store"]) else None


def _setmaxnreg(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    direction = parts[1] if len(parts) > 1 else ""
    if direction not in ("inc", "dec"):
        return None
    return [_op("setmaxnreg", operands, {"increase": int(direction == "inc")}, registers=0)]


def _griddepcontrol(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    return [_op("griddepcontrol", (), {"kind": parts[1]})] if len(parts) > 1 else None


def _prefetch(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    return [_op("tma_prefetch_descriptor")] if "tensormap" in parts else []


def _clusterlaunchcontrol(parts: list[str], operands: tuple[Operand, ...]) -> list[PtxOp] | None:
    del operands
    found = [PtxOp("unknown:clc_try_cancel")] if parts[1:2] == ["try_cancel"] else []
    return found if parts[1:2] in (["try_cancel"], ["query_cancel"]) else None


_READERS: dict[str, _Reader] = {
    "cp": _cp,
    "mbarrier": _mbarrier,
    "bar": _bar,
    "barrier": _bar,
    "fence": _fence,
    "membar": _fence,
    "wgmma": _wgmma,
    "tcgen05": _tcgen05,
    "mma": _mma,
    "wmma": _wmma,
    "setmaxnreg": _setmaxnreg,
    "griddepcontrol": _griddepcontrol,
    "prefetch": _prefetch,
    "clusterlaunchcontrol": _clusterlaunchcontrol,
}
