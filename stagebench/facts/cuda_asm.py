"""Which synchronisation does an inline ``asm`` statement hold?

The PTX text is split into instructions and each is recognised by its opcode, dot by dot; never by a
substring.  An opcode that is in neither table is ``unknown:asm <opcode>``.  Apache TVM prints all of
its asynchronous copies this way (``codegen_cuda.cc`` and ``ptx.cc``), TileLang hides them in
templates and prints ``asm`` only for ``ldg`` and user code.

Source: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions", "Data Movement and
Conversion Instructions", "Warp Level / Asynchronous Warpgroup Level Matrix Multiply-Accumulate
Instructions", "TensorCore 5th Generation Family Instructions", "Miscellaneous Instructions".
Not handled: which branch inside the block is taken; a spin loop around ``try_wait`` is one wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stagebench.model.base import Extent

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LABEL = re.compile(r"\s*[A-Za-z_$%][\w$]*\s*:(?!:)")
_PREDICATE = re.compile(r"\s*@!?\s*[%\w]+\s+")
_OPCODE = re.compile(r"[a-z][a-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_]+)*\Z")
_PLACEHOLDER = re.compile(r"%(\d+)\Z")

# First component of opcodes that neither synchronise nor start an asynchronous operation.
# `shfl`, `vote`, `match`, `redux`, `elect` and `ldmatrix` carry `.sync`, but they exchange registers
# within a converged warp and order no memory: the taxonomy doesn't list them.
NO_SYNC_OPCODES = frozenset(
    (
        "abs activemask add addc and bfe bfi bfind bmsk bra brev brkpt brx clz cnot copysign cos"
        " createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fma fns isspacep istypep"
        " ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max min mov movmatrix mul mul24"
        " nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp redux rem ret rsqrt sad"
        " selp set setp shf shfl shl shr sin slct sqrt st stmatrix sub subc szext tanh testp trap"
        " tex tld4 txq vote xor getctarank applypriority atom red cvt2 suld sust"
    ).split()
)


@dataclass(frozen=True)
class PtxSite:
    """One recognised instruction: its op, its opcode as written, and what its operands say."""

    op: str
    opcode: str
    args: dict[str, Extent] = field(default_factory=dict)


def read_asm(template: str, operands: tuple[Extent, ...]) -> list[PtxSite]:
    """The synchronising and unknown instructions of one ``asm`` template, in order.

    ``operands`` are the values of ``%0``, ``%1`` …: an integer where it is a literal, else its text.
    """
    sites: list[PtxSite] = []
    body = _COMMENT.sub(" ", template).replace("{", "\n").replace("}", "\n")
    # Braces also group vector operands: an instruction that was cut by one has no opcode in front,
    # so only what starts a statement is read as one.
    for statement in _statements(_COMMENT.sub(" ", template)) if body.strip() else []:
        opcode, _, rest = statement.partition(" ")
        values = tuple(_operand(part, operands) for part in _split(rest))
        sites.extend(_recognise(opcode, values))
    return sites


def _statements(body: str) -> list[str]:
    """Instructions with labels, predicates, braces of scopes and directives removed."""
    found: list[str] = []
    for raw in body.split(";"):
        statement = raw.strip()
        while True:
            stripped = statement.lstrip("{} \t\r\n")
            for prefix in (_LABEL, _PREDICATE):
                match = prefix.match(stripped)
                if match is not None:
                    stripped = stripped[match.end() :]
            if stripped == statement:
                break
            statement = stripped
        statement = " ".join(statement.split())
        if statement and not statement.startswith("."):
            found.append(statement)
    return found


def _split(operands: str) -> list[str]:
    """Operands split at top-level commas: ``[%0, {%2, %3}], [%1]`` is two."""
    parts, depth, current = [], 0, ""
    for character in operands.rstrip("} "):
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


def _operand(shown: str, operands: tuple[Extent, ...]) -> Extent:
    bare = shown.strip("[] ")
    match = _PLACEHOLDER.match(bare)
    if match is not None and int(match[1]) < len(operands):
        return operands[int(match[1])]
    try:
        return int(bare, 0)
    except ValueError:
        return bare


def _recognise(opcode: str, values: tuple[Extent, ...]) -> list[PtxSite]:
    if _OPCODE.match(opcode) is None:
        return [PtxSite("unknown:asm " + opcode, opcode)]
    parts = opcode.split(".")
    head = parts[0]
    if head in _READERS:
        found = _READERS[head](parts, values)
        if found is None:
            return [PtxSite("unknown:asm " + opcode, opcode)]
        return [PtxSite(op, opcode, args) for op, args in found]
    if head in NO_SYNC_OPCODES:
        return []
    return [PtxSite("unknown:asm " + opcode, opcode)]


_Found = list[tuple[str, dict[str, Extent]]] | None


def _cp(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    if parts[1:2] == ["reduce"]:
        parts = [parts[0], *parts[2:]]
        return [("tma_store", {"variant": "reduce"})] if parts[1:3] == ["async", "bulk"] else None
    if parts[1:2] != ["async"]:
        return None
    rest = parts[2:]
    if rest[:1] == ["bulk"]:
        return _bulk(rest[1:], values)
    if rest[:1] == ["commit_group"]:
        return [("cp_async_commit", {})]
    if rest[:1] == ["wait_all"]:
        return [("cp_async_wait", {"max_pending": 0})]
    if rest[:1] == ["wait_group"]:
        return [("cp_async_wait", {"max_pending": values[0]} if values else {})]
    if rest[:2] == ["mbarrier", "arrive"]:
        args: dict[str, Extent] = {"variant": "noinc"} if "noinc" in rest else {}
        return [("cp_async_mbarrier_arrive", args | _named(values, "barrier", 0))]
    if rest[:1] in (["ca"], ["cg"]):
        return [("cp_async_copy", _named(values, "bytes", 2))]
    return None


def _bulk(rest: list[str], values: tuple[Extent, ...]) -> _Found:
    if rest[:1] == ["commit_group"]:
        return [("tma_store_commit", {})]
    if rest[:1] == ["wait_group"]:
        args: dict[str, Extent] = {"read": int("read" in rest)}
        return [("tma_store_wait", args | _named(values, "max_pending", 0))]
    if rest[:1] == ["prefetch"]:
        return [("tma_prefetch", {})]
    if "global" not in rest:  # shared::cluster ← shared::cta
        spaces = [part for part in rest if part.startswith("shared")]
        return [("tma_store", {"variant": "cluster"})] if len(spaces) == 2 else None
    target = next((part for part in rest if part == "global" or part.startswith("shared")), "")
    if target == "global":
        return [("tma_store", {})]
    multicast = any(part == "multicast::cluster" for part in rest)
    return [("tma_load", {"variant": "multicast"} if multicast else {})]


def _mbarrier(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    verb = parts[1] if len(parts) > 1 else ""
    if verb == "init":
        return [("mbarrier_init", _named(values, "barrier", 0) | _named(values, "count", 1))]
    # `_` or a register receives the state: the address comes after it.
    barrier = _named(values, "barrier", 0 if verb in ("expect_tx", "inval") else 1)
    if verb in ("arrive", "arrive_drop"):
        if "expect_tx" in parts:
            transaction = barrier | _named(values, "bytes", 2)
            return [("mbarrier_arrive", barrier), ("mbarrier_expect_tx", transaction)]
        return [("mbarrier_arrive", barrier)]
    if verb == "expect_tx":
        return [("mbarrier_expect_tx", barrier | _named(values, "bytes", 1))]
    if verb in ("try_wait", "test_wait"):
        return [("mbarrier_wait", barrier | _named(values, "parity", 2))]
    if verb in ("inval", "complete_tx", "pending_count"):
        return [(f"mbarrier_{verb}", {})]
    return None


def _bar(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    rest = [part for part in parts[1:] if part not in ("cta", "aligned")]
    verb = rest[0] if rest else ""
    if verb == "warp":
        return [("warp_sync", {})] if rest[1:2] == ["sync"] else None
    if verb == "cluster":
        action = rest[1] if len(rest) > 1 else ""
        return [(f"cluster_{action}", {})] if action in ("arrive", "wait") else None
    args = _named(values, "barrier_id", 0) | _named(values, "threads", 1)
    if verb == "arrive":
        return [("partial_barrier_arrive", args)]
    if verb not in ("sync", "red"):
        return None
    if verb == "sync" and len(values) <= 1 and values[:1] in ((), (0,)):
        return [("syncthreads", {})]
    return [("partial_barrier", args)]


def _fence(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    if parts[1:3] == ["proxy", "async"]:
        return [("fence_proxy_async", {})]
    if parts[1:2] == ["mbarrier_init"]:
        return [("fence_barrier_init", {})]
    if parts[1:2] == ["proxy"]:
        return [("fence_proxy", {"kind": ".".join(parts[2:])})]
    return [("threadfence", {"scope": parts[-1]})]


def _wgmma(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    verb = parts[1] if len(parts) > 1 else ""
    if verb == "wait_group":
        return [("wgmma_wait", _named(values, "max_pending", 0))]
    names = {"mma_async": "wgmma", "fence": "wgmma_fence", "commit_group": "wgmma_commit"}
    return [(names[verb], {})] if verb in names else None


def _tcgen05(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    verb, _, kind = (parts[1] if len(parts) > 1 else "").partition("::")
    if verb == "commit":
        return [("tcgen05_commit", _named(values, "barrier", 0))]
    if verb in ("wait", "fence"):
        return [(f"tcgen05_{verb}", {"kind": kind})]
    if verb in ("mma", "alloc", "dealloc", "cp", "shift", "relinquish_alloc_permit"):
        return [(f"tcgen05_{verb}", {})]
    return [] if verb in ("ld", "st") else None


def _mma(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    return [("mma_sync", {})] if "sync" in parts else None


def _wmma(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    if parts[1:2] == ["mma"]:
        return [("mma_sync", {})]
    return [] if parts[1:2] in (["load"], ["store"]) else None


def _setmaxnreg(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    direction = parts[1] if len(parts) > 1 else ""
    return [("setmaxnreg", {"direction": direction} | _named(values, "registers", 0))]


def _griddepcontrol(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    return [("griddepcontrol", {"kind": parts[1]})] if len(parts) > 1 else None


def _prefetch(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    tensormap = "tensormap" in parts
    return [("tma_prefetch_descriptor", _named(values, "descriptor", 0))] if tensormap else []


def _clusterlaunchcontrol(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    return [("clc_try_cancel", {})] if parts[1:2] == ["try_cancel"] else []


def _named(values: tuple[Extent, ...], name: str, index: int) -> dict[str, Extent]:
    return {name: values[index]} if index < len(values) else {}


_READERS = {
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
