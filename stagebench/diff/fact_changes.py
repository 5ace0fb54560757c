"""Which facts of two variants differ, in words a person would use, and where was each seen?

Records are matched by name first, then by structure (a renamed tensor), never by index alone; then
every field is compared, so that a field that is added to the facts tomorrow shows up too.  Where a
fact changed in the course of lowering is `stagebench.diff.pass_since`'s question.

Not compared: what lowering cost (`stagebench.model.LoweringCost`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

import msgspec

from stagebench.diff.fact_change import FactChange, Group, Kind, Presence
from stagebench.diff.fact_matching import Pair, match, match_sites
from stagebench.diff.fact_words import quantity, site_place, what_changed
from stagebench.diff.machine_changes import machine_changes
from stagebench.dump.files import Dump
from stagebench.model import (
    Barrier,
    Diagnostic,
    Evidence,
    Extent,
    Facts,
    Launch,
    ParamValue,
    PipelineLoop,
    PipelineStatement,
    Record,
    SharedBuffer,
    SyncOp,
    SyncTotal,
    TmaDescriptor,
    VariantResult,
)

_R = TypeVar("_R", bound=Record)
_WORD = re.compile(r"[A-Za-z_]\w*")
_POSITIONS = frozenset({"line", "cuda_line", "file", "line_kind"})
_NAMES = frozenset({"name", "loop_var", "function", "tensor"})
_FOLLOWS = frozenset(
    {
        "dynamic_bytes", "static_bytes", "dynamic_smem_bytes", "offset_bytes", "first", "fields",
        "overlaps", "bytes_per_version", "max_num_stages", "pipeline_depth", "versioned_by",
    }
)  # fmt: skip
"""Fields that change because another one of the same comparison did."""


def fact_changes(left: Dump, right: Dump) -> tuple[FactChange, ...]:
    """Every changed fact, the most interesting first; empty where all facts are equal."""
    if left.result.facts is None or right.result.facts is None:
        return tuple(_outcome(left.result, right.result))
    changes = result_changes(
        left.result.facts, right.result.facts, _words(left.kernel_cu), _words(right.kernel_cu)
    )
    if not any(_buffer_of(change) for change in changes):
        return changes
    lines = _declaration_lines(left.kernel_cu), _declaration_lines(right.kernel_cu)
    return tuple(_with_declaration(change, *lines) for change in changes)


def result_changes(
    left: Facts,
    right: Facts,
    left_words: frozenset[str] | None = None,
    right_words: frozenset[str] | None = None,
) -> tuple[FactChange, ...]:
    """Every changed fact of two records of facts.

    With the words of both CUDA texts, a parameter is only renamed where it is in the texts too.
    """
    return tuple(_Comparison(left, right, left_words, right_words).changes())


def _words(kernel_cu: str | None) -> frozenset[str] | None:
    return None if kernel_cu is None else frozenset(_WORD.findall(kernel_cu))


def code_differs(changes: Iterable[FactChange]) -> bool:
    """Whether any change is more than a name or a moved line."""
    return any(change.kind == "fact" for change in changes)


def _outcome(left: VariantResult, right: VariantResult) -> Iterable[FactChange]:
    """A variant that failed has no facts: how the two ended is all there is to compare."""
    values = [_ended(left), _ended(right)]
    if left.failure is not None and right.failure is not None and left.failure == right.failure:
        return
    evidence = [
        (Evidence(artifact="stderr", pass_name=r.failure.pass_name, text=r.failure.message),)
        if r.failure
        else ()
        for r in (left, right)
    ]
    yield FactChange(
        path="outcome",
        group="outcome",
        kind="fact",
        presence="both",
        follows=False,
        subject="",
        text=f"outcome {values[0]} → {values[1]}",
        left=values[0],
        right=values[1],
        left_evidence=evidence[0],
        right_evidence=evidence[1],
    )


def _ended(result: VariantResult) -> str:
    if result.failure is None:
        return "lowered"
    where = f" in {result.failure.pass_name}" if result.failure.pass_name else ""
    return f"failed ({result.failure.kind.replace('_', ' ')}{where})"


def _buffer_of(change: FactChange) -> str | None:
    """The left name of the buffer that a change is about; of a new one, its own."""
    head, bracket, rest = change.path.partition("[")
    return rest.partition("]")[0] if bracket and head == "shared_buffers" else None


def _declaration_lines(kernel_cu: str | None) -> dict[str, int]:
    """Where the CUDA text declares each shared array or names its place in the arena."""
    from stagebench.facts.cuda_sites import read_cuda
    from stagebench.facts.cuda_syntax import CudaSyntaxError

    try:
        kernels = read_cuda(kernel_cu or "")
    except CudaSyntaxError:  # the facts carry the warning already; there is no line to point at
        return {}
    arrays = {array.name: array.line for kernel in kernels for array in kernel.shared_arrays}
    return arrays | {alias.name: alias.line for kernel in kernels for alias in kernel.arena_aliases}


def _with_declaration(
    change: FactChange, left: Mapping[str, int], right: Mapping[str, int]
) -> FactChange:
    name = _buffer_of(change)
    if name is None:
        return change
    mine, theirs = left.get(name), right.get(name)
    here = () if mine is None else (Evidence(artifact="kernel.cu", line=mine),)
    there = () if theirs is None else (Evidence(artifact="kernel.cu", line=theirs),)
    return msgspec.structs.replace(
        change,
        left_evidence=change.left_evidence + here,
        right_evidence=change.right_evidence + there,
    )


Seen = Callable[[Facts, Record], tuple[Evidence, ...]]


class _Comparison:
    """One comparison: both sides, the names that differ, and the changes found so far."""

    def __init__(
        self,
        left: Facts,
        right: Facts,
        left_words: frozenset[str] | None,
        right_words: frozenset[str] | None,
    ) -> None:
        self.left, self.right = left, right
        self.words = (left_words, right_words)
        self.found: list[FactChange] = []
        self.names: dict[str, str] = {}
        self.same: list[tuple[str, str]] = []
        self.refused: set[tuple[str, str]] = set()

    def changes(self) -> list[FactChange]:
        left, right = self.left, self.right
        loops = match(
            left.pipeline_loops,
            right.pipeline_loops,
            by=(lambda loop: loop.loop_var, lambda _: None),
        )
        buffers = match(
            left.shared_buffers,
            right.shared_buffers,
            by=(lambda b: b.name, lambda b: (b.scope, b.dtype, b.shape), lambda b: b.scope),
            certain=2,
        )
        params = match(
            left.launch.params,
            right.launch.params,
            by=(lambda p: p.name, lambda p: (p.kind, p.dtype)),
        )
        descriptors = match(
            left.launch.tma_descriptors,
            right.launch.tma_descriptors,
            by=(
                lambda d: d.name,
                lambda d: (d.kind, d.global_shape, d.box),
                lambda d: (d.kind, d.rank),
                lambda d: d.name.rpartition("_")[2],
            ),
        )
        passed = [
            *((a.name, b.name) for a, b in _both(params)),
            *((a.name, b.name) for a, b in _both(descriptors)),
            (left.launch.function, right.launch.function),
        ]
        self.refused.update(pair for pair in passed if not self._in_cuda(*pair))
        self.refused.update(
            (a.tensor, b.tensor)
            for a, b in _both(descriptors)
            if (a.name == f"{a.tensor}_desc") != (b.name == f"{b.tensor}_desc")
        )
        self._learn(
            [(a.loop_var, b.loop_var) for a, b in _both(loops)]
            + [(a.name, b.name) for a, b in _both(buffers)]
            + [(a.tensor, b.tensor) for a, b in _both(descriptors)]
            + passed
        )
        barriers = match(
            left.barriers,
            right.barriers,
            by=(
                lambda b: (b.name, b.kind, self._here(b.guards)),
                lambda b: (b.name, b.kind),
                lambda b: b.name,
                lambda b: b.kind,
            ),
        )
        self._learn([(a.name, b.name) for a, b in _both(barriers)])
        self._loops(loops)
        self._list("memory", "shared_buffers", buffers, lambda b: b.name, _buffer_seen)
        self._record(
            "memory", "shared_memory", "", left.shared_memory, right.shared_memory, _device_ir
        )
        self._sync()
        self._list("barriers", "barriers", barriers, _barrier_name, _barrier_seen)
        self._launch(left.launch, right.launch, descriptors)
        self._list(
            "launch", "launch.params", params, lambda p: p.name, _device_ir, label="parameter {}"
        )
        self._diagnostics()
        self.found += machine_changes(left.machine, right.machine)
        self._rest()
        return sorted(self.found, key=_interest)

    # names

    def _learn(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Right names that stand for left ones: one to one, in every place where either stands.

        A name that both sides use stays as it is: two that are swapped are not renamed.
        """
        self.same += pairs
        mine_of: dict[str, set[str]] = {}
        theirs_of: dict[str, set[str]] = {}
        for mine, theirs in self.same:
            mine_of.setdefault(theirs, set()).add(mine)
            theirs_of.setdefault(mine, set()).add(theirs)
        self.names = {
            theirs: mine
            for mine, theirs in self.same
            if mine != theirs
            and len(mine_of[theirs]) == len(theirs_of[mine]) == 1
            and theirs not in theirs_of
            and mine not in mine_of
            and (mine, theirs) not in self.refused
        }

    def _in_cuda(self, mine: str, theirs: str) -> bool:
        """Are what one side calls this and the other that both in the CUDA text, or neither?"""
        left, right = self.words
        return left is None or right is None or (mine in left) == (theirs in right)

    def _order_kind(self, here: object) -> Kind:
        """A parameter order is a name's doing where one that is renamed moved, and nothing else.

        ``here`` is the right order in the left's names.
        """
        ours = self.left.launch.params
        renamed = set(self.names.values())
        types = {param.name: (param.kind, param.dtype) for param in ours}
        orders = [[param.name for param in ours], [str(name) for name in _items(here)]]
        kept = [[name for name in order if name not in renamed] for order in orders]
        if kept[0] != kept[1] or not renamed.intersection(types):
            return "fact"
        for kind in set(types.values()):
            moved = [
                [name for name in order if name in renamed and types.get(name) == kind]
                for order in orders
            ]
            if moved[0] != moved[1]:
                return "fact"
        return "rename"

    def _here(self, value: object) -> object:
        """A right value in the left side's names."""
        if not self.names:
            return value
        if isinstance(value, str):
            return _WORD.sub(lambda word: self.names.get(word[0], word[0]), value)
        if isinstance(value, tuple):
            return tuple(self._here(item) for item in value)
        return value

    # one record, one list of records

    def _list(
        self,
        group: Group,
        path: str,
        pairs: Sequence[Pair[_R]],
        name: Callable[[_R], str],
        seen: Seen,
        *,
        label: str = "{}",
        skip: frozenset[str] = frozenset(),
    ) -> None:
        """Compare matched records field by field; what has no partner appeared or vanished."""
        used: dict[str, int] = {}
        for pair in pairs:
            one = pair.left if pair.left is not None else pair.right
            if one is None:
                continue
            key = name(one)
            used[key] = used.get(key, 0) + 1
            place = f"{path}[{key}]" if used[key] == 1 else f"{path}[{key}#{used[key]}]"
            words = label.format(key if used[key] == 1 else f"{key} (no. {used[key]})")
            if pair.left is not None and pair.right is not None:
                self._record(group, place, words, pair.left, pair.right, seen, skip=skip)
            else:
                self._alone(group, place, words, pair, seen)

    def _alone(
        self, group: Group, path: str, words: str, pair: Pair[_R], seen: Seen, note: str = ""
    ) -> None:
        left = None if pair.left is None else _summary(pair.left)
        right = None if pair.right is None else _summary(pair.right)
        verb = "vanished" if right is None else "appeared"
        if isinstance(pair.left or pair.right, PipelineLoop):  # the loop itself may be on both
            words = f"pipelining of {words}"
        self._add(
            group, path, words, f"{words} {verb}{note}", left, right,
            () if pair.left is None else seen(self.left, pair.left),
            () if pair.right is None else seen(self.right, pair.right),
            presence="left" if right is None else "right",
            follows=isinstance(pair.left or pair.right, SyncOp),
        )  # fmt: skip

    def _record(
        self,
        group: Group,
        path: str,
        words: str,
        left: Record,
        right: Record,
        seen: Seen,
        *,
        skip: frozenset[str] = frozenset(),
    ) -> None:
        evidence = seen(self.left, left), seen(self.right, right)
        for info in _fields(type(left)):
            if info.name in skip:
                continue
            values = getattr(left, info.name), getattr(right, info.name)
            if values[0] == values[1]:
                continue
            place = f"{path}.{info.encode_name}" if path else info.encode_name
            if isinstance(values[0], dict):
                self._map(group, place, words, left, values, evidence)
            elif _holds_records(values):
                self._nested(group, place, words, values, seen)
            else:
                self._leaf(group, place, words, left, info.name, values, evidence)

    def _map(
        self,
        group: Group,
        path: str,
        words: str,
        owner: Record,
        values: tuple[dict[str, Extent], dict[str, Extent]],
        evidence: tuple[tuple[Evidence, ...], tuple[Evidence, ...]],
    ) -> None:
        for key in dict.fromkeys((*values[0], *values[1])):
            pair = values[0].get(key), values[1].get(key)
            if pair[0] != pair[1]:
                self._leaf(group, f"{path}[{key}]", words, owner, key, pair, evidence)

    def _nested(
        self, group: Group, path: str, words: str, values: tuple[object, object], seen: Seen
    ) -> None:
        left, right = (value if isinstance(value, tuple) else (value,) for value in values)
        for index in range(max(len(left), len(right))):
            pair = Pair(
                left=left[index] if index < len(left) else None,
                right=right[index] if index < len(right) else None,
            )
            place = f"{path}[{index}]"
            if pair.left is not None and pair.right is not None:
                self._record(group, place, words, pair.left, pair.right, seen)
            else:
                self._alone(group, place, words, pair, seen)

    def _leaf(
        self,
        group: Group,
        path: str,
        words: str,
        owner: Record,
        field: str,
        values: tuple[object, object],
        evidence: tuple[tuple[Evidence, ...], tuple[Evidence, ...]],
    ) -> None:
        renamed = self._here(values[1]) == values[0]
        kind: Kind = "position" if field in _POSITIONS else "rename" if renamed else "fact"
        left, right = quantity(field, values[0]), quantity(field, values[1])
        if kind == "rename" and field in _NAMES:
            text = f"{left} renamed to {right}"
        else:
            text = what_changed(owner, words, field, left, right)
        self._add(
            group, path, words, text, _plain(values[0]), _plain(values[1]), *evidence,
            kind=kind, follows=_follows(owner, field, kind),
        )  # fmt: skip

    def _add(  # noqa: PLR0913, PLR0917 - one parameter a field of the record
        self,
        group: Group,
        path: str,
        subject: str,
        text: str,
        left: ParamValue,
        right: ParamValue,
        left_evidence: tuple[Evidence, ...],
        right_evidence: tuple[Evidence, ...],
        *,
        kind: Kind = "fact",
        presence: Presence = "both",
        follows: bool = False,
    ) -> None:
        self.found.append(
            FactChange(
                path=path,
                group=group,
                kind=kind,
                presence=presence,
                follows=follows,
                subject=subject if text.startswith(subject) else "",
                text=text,
                left=left,
                right=right,
                left_evidence=left_evidence,
                right_evidence=right_evidence,
            )
        )

    # what needs more than its fields

    def _loops(self, pairs: Sequence[Pair[PipelineLoop]]) -> None:
        self._list(
            "schedule", "pipeline_loops", pairs, lambda loop: loop.loop_var, _loop_seen,
            label="loop {}", skip=frozenset({"statements"}),
        )  # fmt: skip
        used: dict[str, int] = {}
        for pair in pairs:
            if pair.left is None or pair.right is None:
                continue
            key = pair.left.loop_var
            used[key] = used.get(key, 0) + 1
            name = key if used[key] == 1 else f"{key}#{used[key]}"
            self._statements(name, f"loop {name}", pair.left, pair.right)

    def _statements(self, name: str, words: str, left: PipelineLoop, right: PipelineLoop) -> None:
        """Statements are compared column by column: a stage list is one fact, not three."""
        evidence = _loop_seen(self.left, left), _loop_seen(self.right, right)
        for info in _fields(PipelineStatement):
            columns = [
                tuple(getattr(statement, info.name) for statement in loop.statements)
                for loop in (left, right)
            ]
            if columns[0] == columns[1]:
                continue
            path = f"pipeline_loops[{name}].statements.{info.encode_name}"
            example = PipelineStatement(
                summary="", stage=None, order=None, async_group=None
            )  # its type chooses the words
            self._leaf(
                "schedule", path, words, example, info.name, (columns[0], columns[1]), evidence
            )

    def _sync(self) -> None:
        left, right = self.left.sync_totals, self.right.sync_totals
        for op in dict.fromkeys((*left, *right)):
            none = SyncTotal(static=0, dynamic=0)
            self._record(
                "sync", f"sync_totals[{op}]", op, left.get(op, none), right.get(op, none),
                _Op(op),
            )  # fmt: skip
        used: dict[str, int] = {}
        for pair in match_sites(self.left.sync_ops, self.right.sync_ops):
            one = pair.left or pair.right
            if one is None:
                continue
            key = " ".join([one.op, *site_place(one)])
            used[key] = used.get(key, 0) + 1
            path = f"sync_ops[{key} #{used[key]}]"
            if pair.left is not None and pair.right is not None:
                self._record("sync", path, one.op, pair.left, pair.right, _site_seen)
            else:
                place = " ".join(["", "in the", *site_place(one)]) if site_place(one) else ""
                self._alone("sync", path, f"{one.op} site{place}", pair, _site_seen)

    def _launch(
        self, left: Launch, right: Launch, descriptors: Sequence[Pair[TmaDescriptor]]
    ) -> None:
        lists = frozenset({"params", "tma_descriptors", "tensors"})
        self._record("launch", "launch", "", left, right, _device_ir, skip=lists)
        orders = [tuple(param.name for param in launch.params) for launch in (left, right)]
        common = [[name for name in orders[0] if name in orders[1]],
                  [name for name in orders[1] if name in orders[0]]]  # fmt: skip
        here = self._here(orders[1])
        if orders[0] != orders[1] and (common[0] != common[1] or here != orders[0]):
            same = sorted(orders[0]) == sorted(str(name) for name in _items(here))
            if same:
                self._add(
                    "launch", "launch.params.order", "",
                    f"parameter order {', '.join(orders[0])} → {', '.join(orders[1])}",
                    orders[0], orders[1], _device_ir(self.left, left),
                    _device_ir(self.right, right), kind=self._order_kind(here),
                )  # fmt: skip
        self._list(
            "launch", "launch.tma_descriptors", descriptors, lambda d: d.name, _tma_seen,
            label="TMA descriptor {}",
        )  # fmt: skip
        if left.tensors is not None and right.tensors is not None:  # an old side never looked
            by = (lambda t: self._here(t.name), lambda t: (t.dtype, t.shape))
            tensors = match(left.tensors, right.tensors, by=by)
            self._list(
                "launch", "launch.tensors", tensors, lambda t: t.name, _device_ir,
                label="tensor {}",
            )  # fmt: skip

    def _diagnostics(self) -> None:
        pairs = match(
            self.left.diagnostics,
            self.right.diagnostics,
            by=(
                lambda d: (d.code, d.severity, self._here(d.message), d.evidence),
                lambda d: (d.code, d.severity, self._here(d.message)),
                lambda d: (d.code, d.severity),
                lambda d: d.code,
                lambda d: d.message,
            ),
        )
        used: dict[str, int] = {}
        for pair in pairs:
            one = pair.left or pair.right
            if one is None:
                continue
            used[one.code] = used.get(one.code, 0) + 1
            mark = "" if used[one.code] == 1 else f"#{used[one.code]}"
            path = f"diagnostics[{one.code}{mark}]"
            words = f"{one.severity} {one.code}"
            if pair.left is not None and pair.right is not None:
                self._record("diagnostics", path, words, pair.left, pair.right, _diagnostic_seen)
            else:
                note = f": {one.message}"
                self._alone("diagnostics", path, words, pair, _diagnostic_seen, note)

    def _rest(self) -> None:
        """Facts that nobody above knows: a newer stagebench added them."""
        known = frozenset(
            {
                "pipeline_loops", "shared_buffers", "shared_memory", "barriers", "sync_ops",
                "sync_totals", "launch", "machine", "diagnostics", "lowering",
            }
        )  # fmt: skip
        self._record("machine", "", "", self.left, self.right, lambda *_: (), skip=known)


@cache
def _fields(record: type[Record]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """A record's fields; msgspec evaluates every annotation anew each time it is asked."""
    return msgspec.structs.fields(record)


def _follows(owner: Record, field: str, kind: Kind) -> bool:
    """Whether a field is only another side of a change that is in the list too."""
    if isinstance(owner, SyncOp):  # the totals and the barriers say the rest
        return field not in ("max_pending", "op", "section", "role", "predicate")
    if isinstance(owner, SharedBuffer) and field == "total_bytes":
        return True
    return field in _FOLLOWS or (kind == "rename" and field not in _NAMES)


def _both(pairs: Iterable[Pair[_R]]) -> list[tuple[_R, _R]]:
    return [(p.left, p.right) for p in pairs if p.left is not None and p.right is not None]


def _items(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _holds_records(values: Sequence[object]) -> bool:
    for value in values:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Record):
                return True
    return False


def _plain(value: object) -> ParamValue:
    """A value as JSON has it: scalars and tuples of scalars."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return tuple(_scalar(item) for item in value)
    return str(value)


def _scalar(value: object) -> bool | int | float | str | None:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _summary(record: Record) -> str:
    """A record in a few words: what is said of it where the other side has none."""
    if isinstance(record, SharedBuffer):
        shape = "×".join(str(dim) for dim in record.shape)
        return f"{record.num_versions} × {shape} {record.dtype}"
    if isinstance(record, Barrier):
        return f"{record.count}×{record.arrive_count} {record.kind}"
    if isinstance(record, SyncOp):
        return ", ".join([record.op, *(f"{key}={value}" for key, value in record.args.items())])
    if isinstance(record, Diagnostic):
        return record.message
    if isinstance(record, PipelineLoop):
        return f"{record.extent} trips, num_stages {record.num_stages}"
    names = [getattr(record, name) for name in ("name", "artifact") if hasattr(record, name)]
    return str(names[0]) if names else type(record).__name__


_GROUPS: Mapping[str, int] = {
    name: rank
    for rank, name in enumerate(
        ("outcome", "schedule", "memory", "sync", "barriers", "launch", "machine", "diagnostics")
    )
}
_KINDS: Mapping[str, int] = {"fact": 0, "rename": 1, "position": 2}


def _interest(change: FactChange) -> tuple[int, int, int, int]:
    """What comes first: real changes by group; within sync a wait's depth before all counts."""
    depth = 0 if change.path.endswith("[max_pending]") else 1
    return _KINDS[change.kind], int(change.follows), _GROUPS[change.group], depth


# where it was seen


def _loop_seen(_: Facts, loop: Record) -> tuple[Evidence, ...]:
    if not isinstance(loop, PipelineLoop):
        return ()
    found = [Evidence(artifact="passes", pass_name=loop.pass_name)] if loop.pass_name else []
    if loop.line is not None:
        found.append(Evidence(artifact="source", line=loop.line))
    return tuple(found)


def _buffer_seen(_: Facts, buffer: Record) -> tuple[Evidence, ...]:
    if isinstance(buffer, SharedBuffer) and buffer.versioned_by:
        return (Evidence(artifact="passes", pass_name=buffer.versioned_by),)
    return (Evidence(artifact="device_ir"),)


class _Op:
    """Where the sites of one op are."""

    def __init__(self, op: str) -> None:
        self.op = op

    def __call__(self, facts: Facts, _: Record) -> tuple[Evidence, ...]:
        lines = [site.cuda_line for site in facts.sync_ops if site.op == self.op]
        return tuple(Evidence(artifact="kernel.cu", line=line) for line in lines if line)


def _site_seen(_: Facts, site: Record) -> tuple[Evidence, ...]:
    if not isinstance(site, SyncOp):
        return ()
    found = [Evidence(artifact="kernel.cu", line=site.cuda_line)] if site.cuda_line else []
    if site.line is not None:
        found.append(Evidence(artifact="source", line=site.line))
    return tuple(found)


def _barrier_name(barrier: Barrier) -> str:
    """Barriers of one array are told apart by what they are for: their index is what changes."""
    return f"{barrier.name} {barrier.kind}"


def _barrier_seen(facts: Facts, barrier: Record) -> tuple[Evidence, ...]:
    if not isinstance(barrier, Barrier):
        return ()
    slots = range(barrier.first, barrier.first + barrier.count)
    named = {f"{barrier.name}[{slot}]" for slot in slots}
    return tuple(
        Evidence(artifact="kernel.cu", line=site.cuda_line)
        for site in facts.sync_ops
        if site.op == "mbarrier_init" and site.args.get("barrier") in named and site.cuda_line
    )


def _device_ir(*_: object) -> tuple[Evidence, ...]:
    return (Evidence(artifact="device_ir"),)


def _tma_seen(_: Facts, descriptor: Record) -> tuple[Evidence, ...]:
    name = descriptor.name if isinstance(descriptor, TmaDescriptor) else None
    return (Evidence(artifact="host_ir", text=name),)


def _diagnostic_seen(_: Facts, diagnostic: Record) -> tuple[Evidence, ...]:
    return diagnostic.evidence if isinstance(diagnostic, Diagnostic) else ()
