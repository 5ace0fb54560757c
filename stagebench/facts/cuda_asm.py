"""Which synchronisation does an inline ``asm`` statement hold?  Its PTX, opcode by opcode.

The PTX text is split into instructions and each is recognised by its opcode, dot by dot; never by a
substring.  An opcode that is in neither table is ``unknown:asm <opcode>``.  Apache TVM prints all
of its asynchronous copies this way (``codegen_cuda.cc`` and ``ptx.cc``), TileLang hides them in
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
_LABEL = re.compile(r"\s*[A-Za-z_$%][\w$%=]*\s*:(?!:)")
_PREDICATE = re.compile(r"\s*@!?\s*[%\w]+\s+")
_OPCODE = re.compile(r"[a-z][a-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_]+)*\Z")
_PLACEHOLDER = re.compile(r"%(\d+)\Z")

_NO_SYNC = """
    abs activemask add addc and applypriority atom bfe bfi bfind bmsk bra brev brkpt brx clz cnot
    copysign cos createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fma fns getctarank
    isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max min mov movmatrix mul
    mul24 nanosleep neg not or pmevent popc prefetchu prmt rcp red redux rem ret rsqrt sad selp set
    setp shf shfl shl shr sin slct sqrt st stmatrix sub subc suld sust szext tanh testp tex tld4
    trap txq vote xor
"""
NO_SYNC_OPCODES = frozenset(_NO_SYNC.split())
"""First components of opcodes that are no site.

``shfl``, ``vote``, ``match``, ``redux``, ``elect`` and ``ldmatrix`` carry ``.sync``, but they
exchange registers within a converged warp and order no memory: the taxonomy doesn't list them.
"""


@dataclass(frozen=True)
class PtxSite:
    """One recognised instruction: its op, its opcode as written, and what its operands say."""

    op: str
    opcode: str
    args: dict[str, Extent] = field(default_factory=dict)


def read_asm(template: str, operands: tuple[Extent, ...]) -> list[PtxSite]:
    """Return the synchronising and the unknown instructions of one ``asm`` template, in order.

    ``operands`` are the values of ``%0``, ``%1`` …: an integer where it is one, else its text.
    """
    sites: list[PtxSite] = []
    for statement in _statements(_COMMENT.sub(" ", template)):
        opcode, _, rest = statement.partition(" ")
        values = tuple(_operand(part, operands) for part in _split(rest))
        sites.extend(_recognise(opcode, values))
    return sites


def _statements(body: str) -> list[str]:
    """Split into instructions, without labels, predicates, braces of scopes and directives."""
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
    """Split operands at top-level commas: ``[%0, {%2, %3}], [%1]`` is two."""
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
    found: _Found = None
    match parts[1:]:
        case ["async", "bulk", *rest]:
            found = _bulk(rest, values)
        case ["reduce", "async", "bulk", *_]:
            found = [("tma_store", {"mode": "reduce"})]
        case ["async", "commit_group"]:
            found = [("cp_async_commit", {})]
        case ["async", "wait_all"]:
            found = [("cp_async_wait", {"max_pending": 0})]
        case ["async", "wait_group"]:
            found = [("cp_async_wait", _named(values, "max_pending", 0))]
        case ["async", "mbarrier", "arrive", *rest]:
            via = "cp_async_noinc" if "noinc" in rest else "cp_async"
            found = [("mbarrier_arrive", {"via": via} | _named(values, "barrier", 0))]
        case ["async", "ca" | "cg", *_]:
            found = [("cp_async_copy", _named(values, "bytes", 2))]
    return found


def _bulk(rest: list[str], values: tuple[Extent, ...]) -> _Found:
    found: _Found = None
    spaces = [part for part in rest if part == "global" or part.startswith("shared")]
    match rest, spaces:
        case ["commit_group"], _:
            found = [("tma_store_commit", {})]
        case ["wait_group", *_], _:
            args: dict[str, Extent] = {"read": int("read" in rest)}
            found = [("tma_store_wait", args | _named(values, "max_pending", 0))]
        case ["prefetch", *_], _:
            found = [("tma_prefetch", {})]
        case _, ["global", _]:
            found = [("tma_store", {})]
        case _, [_, "global"]:
            multicast = "multicast::cluster" in rest
            found = [("tma_load", {"mode": "multicast"} if multicast else {})]
        case _, [_, _]:  # from shared::cta to another CTA of the cluster
            found = [("tma_store", {"mode": "cluster"})]
    return found


def _mbarrier(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    found: _Found = None
    first, second = _named(values, "barrier", 0), _named(values, "barrier", 1)
    match parts[1:2]:
        case ["init"]:
            found = [("mbarrier_init", first | _named(values, "count", 1))]
        case ["arrive" | "arrive_drop"]:  # `_` or a register takes the state; then the address
            found = [("mbarrier_arrive", second)]
            if "expect_tx" in parts:
                found.append(("mbarrier_expect_tx", second | _named(values, "bytes", 2)))
        case ["expect_tx"]:
            found = [("mbarrier_expect_tx", first | _named(values, "bytes", 1))]
        case ["try_wait" | "test_wait"]:
            found = [("mbarrier_wait", second | _named(values, "parity", 2))]
        case ["complete_tx"]:  # counts bytes as arrived; to the other levels it is no site either
            found = []
    return found


def whole_barrier(op: str, args: dict[str, Extent]) -> tuple[str, dict[str, Extent]]:
    """Read ``bar.sync`` again where the caller has told its number: 0 alone is all threads'."""
    if op == "partial_barrier" and args == {"barrier_id": 0}:
        return "syncthreads", {}
    return op, args


def _bar(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    found: _Found = None
    args = _named(values, "barrier_id", 0) | _named(values, "threads", 1)
    match [part for part in parts[1:] if part not in ("cta", "aligned")]:
        case ["warp", "sync"]:
            found = [("warp_sync", {})]
        case ["cluster", "arrive" | "wait" as verb, *_]:
            found = [(f"cluster_{verb}", {})]
        case ["arrive"]:
            found = [("partial_barrier_arrive", args)]
        case ["sync"] if values in ((), (0,)):  # all threads: what __syncthreads() compiles to
            found = [("syncthreads", {})]
        case ["sync"] | ["red", *_]:
            found = [("partial_barrier", args)]
    return found


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
    if verb == "wait":
        return [("tcgen05_wait", {"kind": kind})]
    if verb == "fence":
        return [("tcgen05_fence", {"when": kind.removesuffix("_thread_sync")})]
    if verb in ("mma", "alloc", "dealloc"):
        return [(f"tcgen05_{verb}", {})]
    return [] if verb in ("ld", "st", "cp", "relinquish_alloc_permit") else None


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
    if direction not in ("inc", "dec"):
        return None
    increase: dict[str, Extent] = {"increase": int(direction == "inc")}
    return [("setmaxnreg", increase | _named(values, "registers", 0))]


def _griddepcontrol(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    return [("griddepcontrol", {"kind": parts[1]})] if len(parts) > 1 else None


def _prefetch(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    tensormap = "tensormap" in parts
    return [("tma_prefetch_descriptor", _named(values, "descriptor", 0))] if tensormap else []


def _clusterlaunchcontrol(parts: list[str], values: tuple[Extent, ...]) -> _Found:
    del values
    return [("unknown:clc_try_cancel", {})] if parts[1:2] == ["try_cancel"] else []


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
