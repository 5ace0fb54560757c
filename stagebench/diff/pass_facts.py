"""Which facts can be read off the IR text after a pass, and on which line does each stand?

Read from the syntax tree of the text (`stagebench.diff.pass_script`): a dump holds no IR objects.
The readings have the paths of the facts that they show where there is one
(``shared_buffers[A_shared].num_versions``); what only the text has is named after its attribute
(``pipeline_loops[k].software_pipeline_order``).  A reading that is not there was not to be seen:
counts alone are zero where nothing was found.

The last text of the device function is held against the facts that were read from the IR objects:
``tests/diffing/passes/test_pass_facts.py``.  Does not handle: what only the compiler's own analysis
knows (roles, sections, proven bounds of an index).

Source: the names of annotations and attributes as in `stagebench.worker.tilelang.pipeline_history`;
intrinsics as in `stagebench.worker.tilelang.intrinsics` (TileLang 0.1.15) and
`stagebench.worker.tvm.intrinsics` (Apache TVM 0.25 and 0.26): no name means different ops in the
two.  0.27 prints PTX by its words: `stagebench.worker.tvm.ptx_words`.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from stagebench.diff.pass_script import (
    Function,
    Script,
    Statement,
    called,
    extent_of,
    integer,
    keyword,
    read_script,
    root_name,
    string,
)
from stagebench.facts import counts
from stagebench.model import Evidence, Extent, ParamValue, Record
from stagebench.worker.tilelang.intrinsics import SYNC as TILELANG_SYNC
from stagebench.worker.tir.intrinsic import Intrinsic, device_function, storage_sync
from stagebench.worker.tvm import ptx_words
from stagebench.worker.tvm.intrinsics import SYNC as TVM_SYNC

_STATIC = ("shared", "shared.barrier", "shared.cluster_barrier", "shared.tmem")
_TILES = ("shared", "shared.dyn", "shared.tmem")
_ALLOCATIONS = ("sblock_alloc_buffer", "alloc_buffer", "block_alloc_buffer", "alloc_shared")
_LOOP_NOTES = (
    "num_stages", "tl_pipeline_order", "tl_pipeline_stage", "software_pipeline_stage",
    "software_pipeline_order", "software_pipeline_async_producer_groups", "tl_pipelined_num_stages",
)  # fmt: skip
_BLOCK_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
_THREAD_AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
_DTYPE = re.compile(r"[a-z]+(\d+)(?:_[a-z0-9]+)*?(?:x(\d+))?$")
_DESCRIPTORS = ("create_tma_descriptor", "create_tma_im2col_descriptor")
_BARRIER_INITS = ("ptx_init_barrier_thread_count", "ptx_mbarrier_init")
_ENCODERS = ("__tvm_tensormap_create_tiled", "__tvm_tensormap_create_im2col")


class Reading(Record, frozen=True, kw_only=True):
    """One value as it was read, and the 1-based line of the text that says it (the first)."""

    value: ParamValue
    line: int | None


@dataclass(frozen=True)
class PassFacts:
    """What one text shows.  ``kernel``: it holds the device code, so that counts mean something.

    ``unread`` are lines that could not be parsed: counts of such a text may be too low.
    """

    readings: Mapping[str, Reading]
    kernel: bool
    unread: tuple[int, ...]


def read_pass_facts(
    text: str, *, kernel: str | None = None, unknown_ops: Iterable[str] = ()
) -> PassFacts:
    """Read one text.

    ``kernel`` is the device function's name where host and device are apart; before that, every
    function that launches threads is read.  ``unknown_ops`` names the intrinsics that the facts
    list as unknown: a text can't tell a call that synchronises from one that does not.
    """
    script = read_script(text)
    reader = _Reader(frozenset(unknown_ops))
    functions = _kernels(script, kernel)
    for function in functions:
        reader.read(function)
    if functions:
        reader.finish()
    for function in script.functions:
        if function not in functions:
            reader.read_host(function)
    return PassFacts(readings=reader.readings, kernel=bool(functions), unread=script.unread)


def evidence(reading: Reading, pass_name: str | None, text: str) -> Evidence:
    """A reading as evidence: the pass, the line in the text after it, and that line."""
    lines = text.split("\n") if reading.line is not None else []
    quoted = lines[reading.line - 1].strip() if reading.line is not None else None
    return Evidence(artifact="passes", line=reading.line, pass_name=pass_name, text=quoted)


def _kernels(script: Script, kernel: str | None) -> list[Function]:
    named = [function for function in script.functions if function.name == kernel]
    if named:
        return named
    return [function for function in script.functions if _launches(function)]


def _launches(function: Function) -> bool:
    return any(
        name in statement.parsed.text and name in statement.parsed.calls
        for statement in function.statements
        for name in ("launch_thread", "thread_binding")
    )


@dataclass
class _Sum:
    """The sites of one op so far."""

    line: int
    static: int = 0
    dynamic: list[Extent] = field(default_factory=list)
    max_pending: list[Extent] = field(default_factory=list)


@dataclass
class _Launch:
    """Extents by axis, and the line that says the first."""

    extents: dict[str, Extent] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    nameless: bool = False


class _Reader:
    """Goes over the statements of the kernel and collects readings."""

    def __init__(self, unknown_ops: frozenset[str]) -> None:
        self.readings: dict[str, Reading] = {}
        self._unknown = unknown_ops
        self._interesting = _KNOWN | unknown_ops
        self._sums: dict[str, _Sum] = {}
        self._launch = _Launch()
        self._bytes: dict[str, int | None] = {}
        self._memory_line: int | None = None
        self._loops: dict[str, int] = {}
        self._roots: dict[str, str] = {}
        self._arrivals: dict[str, dict[int, Extent]] = {}
        self._arrival_lines: dict[str, int] = {}

    def read(self, function: Function) -> None:
        """Read every statement of a kernel."""
        params = tuple(p for p in function.parameters if not p.endswith("_handle"))
        if len(params) == len(function.parameters):
            self._put("launch.params", params, function.line)
        for statement in function.statements:
            node = statement.parsed.node
            if isinstance(node, ast.For):
                self._see_loop(statement, node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                self._see_declaration(statement, node)
            if not self._unknown and not _may_tell(statement.parsed.text):
                continue
            for name, calls in statement.parsed.calls.items():
                if name in self._interesting:
                    for call in calls:
                        self._see_call(statement, name, call)

    def read_host(self, function: Function) -> None:
        """Read what the host code alone says: the descriptors that it encodes."""
        for statement in function.statements:
            if "call_packed" not in statement.parsed.text:
                continue
            for call in statement.parsed.calls.get("call_packed", ()):
                if call.args and string(call.args[0]) in _ENCODERS:
                    self._see_descriptor(statement, call.args[2:])

    def finish(self) -> None:
        """Turn the sums into readings."""
        for op, found in self._sums.items():
            self._put(f"sync_totals[{op}].static", found.static, found.line)
            self._put(f"sync_totals[{op}].dynamic", counts.total(found.dynamic), found.line)
            if found.max_pending:
                path = f"sync_ops[{op}].args[max_pending]"
                self._put(path, tuple(found.max_pending), found.line)
        for name, slots in self._arrivals.items():
            values = tuple(slots[index] for index in sorted(slots))
            line = self._arrival_lines[name]
            self._put(f"barriers[{name}].arrive_count", values, line)
            self._put(f"barriers[{name}].count", len(values), line)
        self._finish_memory()
        for path, axes in (("launch.grid", _BLOCK_AXES), ("launch.block", _THREAD_AXES)):
            seen = [axis for axis in axes if axis in self._launch.extents]
            if seen and not self._launch.nameless:
                values = tuple(self._launch.extents.get(axis, 1) for axis in axes)
                self._put(path, values, self._launch.lines[seen[0]])

    def _finish_memory(self) -> None:
        sizes = {"static": 0, "dynamic": 0}
        for path, size in self._bytes.items():
            if size is None:
                return  # of a symbolic size, or of a type that we can't size
            sizes[path.partition(" ")[0]] += size
        for kind, size in sizes.items():
            self._put(f"shared_memory.{kind}_bytes", size, self._memory_line)
        self._put("shared_memory.total_bytes", sum(sizes.values()), self._memory_line)

    def _put(self, path: str, value: ParamValue, line: int | None) -> None:
        self.readings.setdefault(path, Reading(value=value, line=line))

    # loops

    def _see_loop(self, statement: Statement, node: ast.For) -> None:
        notes = keyword(node.iter, "annotations") if isinstance(node.iter, ast.Call) else None
        if isinstance(notes, ast.Dict):
            found = {key: value for key, value in _entries(notes) if key in _LOOP_NOTES}
            if not found:
                return
            var = node.target.id if isinstance(node.target, ast.Name) else ast.unparse(node.target)
            self._loops[var] = self._loops.get(var, 0) + 1
            place = var if self._loops[var] == 1 else f"{var}#{self._loops[var]}"
            for key, value in found.items():
                self._put(f"pipeline_loops[{place}].{key}", _value(value), statement.line)

    # buffers

    def _see_declaration(self, statement: Statement, node: ast.Assign | ast.AnnAssign) -> None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        call = node.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            return
        kind = called(call)
        root = root_name(keyword(call, "data"))
        if root is not None:
            self._roots[target.id] = self._roots.get(root, root)
        if kind in _ALLOCATIONS:
            self._see_allocation(statement, self._name(target.id), call)
        elif kind == "handle_add_byte_offset" and len(call.args) == 2:
            offset = integer(call.args[1])
            if offset is not None:
                self._put(f"shared_buffers[{target.id}].offset_bytes", offset, statement.line)

    def _name(self, printed: str) -> str:
        """A buffer by the name of what it is a view of (the printer numbers equal names)."""
        return self._roots.get(printed, printed)

    def _see_allocation(self, statement: Statement, name: str, call: ast.Call) -> None:
        plain = "shared" if called(call) == "alloc_shared" else "global"
        scope = string(keyword(call, "scope")) or plain
        if not scope.startswith("shared"):
            return
        shape_node = call.args[0] if call.args else keyword(call, "shape")
        dtype = string(call.args[1] if len(call.args) > 1 else keyword(call, "dtype")) or "float32"
        shape = _value(shape_node) if shape_node is not None else ()
        dims = shape if isinstance(shape, tuple) else (shape,)
        bits = bits_of(dtype)
        elements = math.prod(dim for dim in dims if isinstance(dim, int))
        known = bits is not None and all(isinstance(dim, int) for dim in dims)
        size = (elements * bits + 7) // 8 if known and bits is not None else None
        self._bytes.setdefault(f"{'dynamic' if scope == 'shared.dyn' else 'static'} {name}", size)
        self._memory_line = self._memory_line or statement.line
        if scope in _TILES:
            self._put(f"shared_buffers[{name}].scope", scope, statement.line)
            self._put(f"shared_buffers[{name}].dtype", dtype, statement.line)
            self._put(f"shared_buffers[{name}].allocated_shape", shape, statement.line)
            if known:
                self._put(f"shared_buffers[{name}].elements", elements, statement.line)

    # calls

    def _see_call(self, statement: Statement, name: str, call: ast.Call) -> None:
        if name in _SPECIAL:
            self._see_special(statement, name, call)
        known = _SYNC.get(name)
        instruction = _instruction(name, call)
        if instruction is not None:
            known = ptx_words.read(instruction)
            if instruction.words[:2] == ("mbarrier", "init"):
                self._see_barrier_init(statement, call)
        elif name == "tvm_storage_sync":
            extra = [extent_of(arg) for arg in call.args[1:]]
            known = storage_sync(string(call.args[0]) or "?", extra)
        elif known is None:
            known = self._unlisted(call, name)
        if known is None:
            return
        position = known.args.get("max_pending")
        pending = None
        if position is not None and position < len(call.args):
            pending = extent_of(call.args[position])
        for op in known.ops:
            self._count(op, statement, max_pending=pending)

    def _count(self, op: str, statement: Statement, max_pending: Extent | None = None) -> None:
        """One more site of an op."""
        found = self._sums.setdefault(op, _Sum(line=statement.line))
        found.static += 1
        found.dynamic.append(counts.product(loop.extent for loop in statement.loops))
        if max_pending is not None:
            found.max_pending.append(max_pending)

    def _unlisted(self, call: ast.Call, name: str) -> Intrinsic | None:
        if name in ("call_extern", "call_pure_extern"):
            words = [string(arg) for arg in call.args[:2]]  # the type comes first, or is left out
            at = 1 if len(words) > 1 and words[1] is not None else 0
            values = [extent_of(arg) for arg in call.args[at + 1 :]]
            return device_function(words[at] or "?", values)
        return Intrinsic((f"unknown:{name}",)) if name in self._unknown else None

    def _see_special(self, statement: Statement, name: str, call: ast.Call) -> None:
        """Calls that say something besides, or instead of, synchronising."""
        if name == "launch_thread":
            self._see_thread(statement, call)
        elif name == "attr":
            self._see_attr(statement, call)
        elif name in _BARRIER_INITS:
            self._see_barrier_init(statement, call)
        elif name in _DESCRIPTORS:
            self._see_descriptor(statement, call.args)
        else:
            self._see_attrs(statement, call)

    def _see_thread(self, statement: Statement, call: ast.Call) -> None:
        if len(call.args) < 2:
            return
        axis = string(call.args[0])
        if axis is None:  # an axis that is declared elsewhere: only its variable is printed
            self._launch.nameless = True
            return
        self._launch.extents.setdefault(axis, extent_of(call.args[1]))
        self._launch.lines.setdefault(axis, statement.line)

    def _see_attr(self, statement: Statement, call: ast.Call) -> None:
        if len(call.args) > 1 and string(call.args[1]) == "kWarpSpecializationScope":
            self._put("warp_specialization", _value(call.args[0]), statement.line)
        elif call.args and isinstance(call.args[0], ast.Dict):
            attributes = dict(_entries(call.args[0]))
            if "async_commit_queue_scope" in attributes:
                self._count("cp_async_commit", statement)
            in_flight = attributes.get("async_wait_inflight_count")
            if "async_wait_queue_scope" in attributes and in_flight is not None:
                self._count("cp_async_wait", statement, max_pending=extent_of(in_flight))

    def _see_attrs(self, statement: Statement, call: ast.Call) -> None:
        attrs = call.args[0] if call.args else None
        if not isinstance(attrs, ast.Dict):
            return
        for key, value in _entries(attrs):
            if key == "dyn_shared_memory_buf":
                self._put("launch.dynamic_smem_bytes", _value(value), statement.line)
            elif key == "cluster_dims":
                self._put("launch.cluster", _value(value), statement.line)
            elif key == "barrier_init" and isinstance(value, ast.Dict):
                for barrier, counted in zip(value.keys, value.values, strict=True):
                    self._see_barrier_list(statement, barrier, counted)

    def _see_barrier_list(
        self, statement: Statement, barrier: ast.expr | None, counted: ast.expr
    ) -> None:
        printed, values = root_name(barrier), _value(counted)
        if printed is not None and isinstance(values, tuple):
            name = self._name(printed)
            slots = {i: v for i, v in enumerate(values) if isinstance(v, int | str)}
            self._arrivals.setdefault(name, {}).update(slots)
            self._arrival_lines.setdefault(name, statement.line)

    def _see_barrier_init(self, statement: Statement, call: ast.Call) -> None:
        place = call.args[0]
        while isinstance(place, ast.Call) and called(place) in _ADDRESSES:
            place = place.args[0]
        printed = root_name(place)
        if printed is None or not isinstance(place, ast.Subscript):
            return
        index = integer(place.slice)
        if index is not None:
            name = self._name(printed)
            self._arrivals.setdefault(name, {})[index] = extent_of(call.args[1])
            self._arrival_lines.setdefault(name, statement.line)

    def _see_descriptor(self, statement: Statement, args: list[ast.expr]) -> None:
        """The arguments are: data type, rank, tensor, then every field."""
        if len(args) < 4:
            return
        tensor = root_name(args[2]) or "?"
        head = tuple(extent_of(arg) for arg in args[:2])
        fields = tuple(extent_of(arg) for arg in args[3:])
        self._put(f"launch.tma_descriptors[{tensor}].fields", (*head, *fields), statement.line)


def _instruction(name: str, call: ast.Call) -> ptx_words.Instruction | None:
    """What a call of 0.27's PTX table is: operands, words, and a marker at the end."""
    family = name.removeprefix("ptx_")
    texts = [string(arg) for arg in call.args]
    if family == name or family not in ptx_words.FAMILIES or not texts or texts[-1] is None:
        return None
    if not ptx_words.is_marker(texts[-1]):
        return None
    words = [text for text in texts[:-1] if text]
    operands = [arg for arg, text in zip(call.args, texts, strict=True) if text is None]
    verb = words[-1] if family == "cp" else words[0] if words else ""
    names = _OPERANDS.get((family, verb), _OPERANDS.get((family, ""), ()))
    return ptx_words.Instruction(
        (family, *words),
        {operand: index for index, operand in enumerate(names) if index < len(operands)},
        is_barrier_0=bool(operands) and integer(operands[0]) == 0,
    )


_OPERANDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("cp", "wait_group"): ("group",),
    ("cp", "read"): ("group",),
    ("wgmma", "wait_group"): ("group",),
    ("bar", ""): ("a", "b"),
    ("barrier", ""): ("a", "b"),
}
"""By family and verb, the operands that make a difference here, in the order of the text."""
_ADDRESSES = ("address_of", "cuda_cvta_generic_to_shared")
_SPECIAL = frozenset(
    {
        "launch_thread", "attr", "func_attr", "sblock_attr", "block_attr",
        *_BARRIER_INITS, *_DESCRIPTORS,
    }
)  # fmt: skip
_PRINTED = {
    f"ptx_cp_async_bulk_tensor_{short}": TVM_SYNC[f"ptx_cp_async_bulk_tensor_{full}"]
    for short, full in (
        ("g2c", "global_to_cluster"),
        ("g2c_tile_gather4", "tile_gather4_global_to_cluster"),
        ("s2g", "shared_to_global"),
        ("g2c_prefetch", "global_to_cluster_prefetch"),
        ("s2g_reduce", "shared_to_global_reduce"),
    )
}
"""Apache TVM prints these ops by the names of its builder (``tvm/backend/cuda/script.py``)."""
_SYNC: dict[str, Intrinsic] = {**_PRINTED, **TVM_SYNC, **TILELANG_SYNC}
_TABLE = frozenset(f"ptx_{family}" for family in ptx_words.FAMILIES)
_KNOWN = _SPECIAL | _SYNC.keys() | _TABLE | {"tvm_storage_sync", "call_extern", "call_pure_extern"}


_NAMESPACES = ("T.ptx.", "T.cuda.")


@lru_cache(maxsize=1 << 15)
def _may_tell(text: str) -> bool:
    """Whether the name of a call that we look for is anywhere in a line: else no need to look."""
    return any(name in text for name in _KNOWN) or any(name in text for name in _NAMESPACES)


def _entries(node: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        text = string(key)
        if text is not None:
            yield text, value


def _value(node: ast.expr) -> ParamValue:
    """Integers, and lists or tuples of them; anything else as its text."""
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(extent_of(item) for item in node.elts)
    return extent_of(node)


def bits_of(dtype: str) -> int | None:
    """Bits of one element: ``float16`` 16, ``float8_e4m3`` 8, ``float16x2`` 32, ``bool`` 8."""
    if dtype == "bool":
        return 8
    found = _DTYPE.match(dtype)
    if found is None:
        return None
    return int(found[1]) * int(found[2] or 1)
