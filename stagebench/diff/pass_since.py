"""Since which pass do two variants differ in a fact?

Facts at a pass are read from the text after it (`stagebench.diff.pass_facts`), on both sides, pass
by pass as they are aligned.  What a text no longer shows keeps its last value (a plan that was
carried out, a shape that was flattened); counts are of each text alone.  The answer is the first
pass of the last stretch in which the two differ: a difference that came and went is not *since*.

Not answered: facts that no text shows (roles, diagnostics); their evidence is in the facts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from stagebench.diff.fact_change import FactChange, Since
from stagebench.diff.pass_divergence import TwoLowerings
from stagebench.diff.pass_facts import Reading, evidence
from stagebench.diff.pass_runs import Lowering, PassStep
from stagebench.model import Evidence, ParamValue

_COUNTED = ("sync_totals[", "sync_ops[")
_STAGE, _ORDER = "software_pipeline_stage", "software_pipeline_order"
_GROUPS = "software_pipeline_async_producer_groups"
_PLAN = (_STAGE, _ORDER)


@dataclass(frozen=True)
class _Seen:
    """A reading and the text that it was read from."""

    reading: Reading
    digest: str
    step: PassStep | None


class _Side:
    """What one side's texts have shown so far."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.seen: dict[str, _Seen] = {}
        self.partly_read = False

    def look(self, digest: str | None, step: PassStep | None) -> None:
        """Take the text after a pass."""
        if digest is None:
            return
        found = self.lowering.facts_of(digest)
        if found.unread:
            self.partly_read = True
            return
        if found.kernel:
            self.partly_read = False
            for path in [path for path in self.seen if path.startswith(_COUNTED)]:
                del self.seen[path]
        for path, reading in found.readings.items():
            self.seen[path] = _Seen(reading, digest, step)

    def quote(self, path: str) -> Evidence | None:
        """Where the current value of a reading stands."""
        seen = self.seen.get(path)
        if seen is None:
            return None
        name = None if seen.step is None else seen.step.run.name
        return evidence(seen.reading, name, self.lowering.texts[seen.digest])


Value = Callable[[_Side], ParamValue]


@dataclass(frozen=True)
class _Question:
    """What to read for a fact: a value on each side, and the reading to quote."""

    left: Value
    right: Value
    left_path: str
    right_path: str


@dataclass(frozen=True)
class _Point:
    """The values after one pass."""

    name: str | None
    left_sequence: int | None
    right_sequence: int | None
    values: tuple[ParamValue, ParamValue]
    quotes: tuple[Evidence | None, Evidence | None]


def with_since(changes: Sequence[FactChange], two: TwoLowerings) -> tuple[FactChange, ...]:
    """The changes, each with the pass since which the two sides differ in it."""
    questions = [list(_questions(change, two)) for change in changes]
    flat = [question for found in questions for question in found]
    stretches = _follow(flat, two)
    answered: list[FactChange] = []
    start = 0
    for change, found in zip(changes, questions, strict=True):
        points = [point for point in stretches[start : start + len(found)] if point is not None]
        start += len(found)
        since = _since(points[0]) if points and change.kind == "fact" else None
        answered.append(msgspec.structs.replace(change, since=since))
    return tuple(answered)


def _since(point: _Point) -> Since:
    return Since(
        pass_name=point.name,
        left_sequence=point.left_sequence,
        right_sequence=point.right_sequence,
        left=point.values[0],
        right=point.values[1],
        left_evidence=point.quotes[0],
        right_evidence=point.quotes[1],
    )


def _follow(questions: Sequence[_Question], two: TwoLowerings) -> list[_Point | None]:
    """For each question the first point of the last stretch in which the sides differ."""
    left, right = _Side(two.left), _Side(two.right)
    left.look(two.left.initial, None)
    right.look(two.right.initial, None)
    found = [_ask(each, left, right, None, None, None) for each in questions]
    for aligned in two.passes:
        if aligned.either.parent is not None:
            continue
        mine, theirs = aligned.left, aligned.right
        if not any(step is not None and step.run.changed for step in (mine, theirs)):
            continue
        left.look(mine.after if mine else None, mine)
        right.look(theirs.after if theirs else None, theirs)
        if left.partly_read or right.partly_read:
            continue  # a count of what could be read is no count: ask again after the next pass
        for index, question in enumerate(questions):
            if question.left(left) == question.right(right):
                found[index] = None
            elif found[index] is None:
                name = aligned.where
                found[index] = _ask(question, left, right, name, mine, theirs)
    return found


def _ask(
    question: _Question,
    left: _Side,
    right: _Side,
    name: str | None,
    mine: PassStep | None,
    theirs: PassStep | None,
) -> _Point | None:
    values = question.left(left), question.right(right)
    if values[0] == values[1]:
        return None
    return _Point(
        name=name,
        left_sequence=None if mine is None else mine.run.sequence,
        right_sequence=None if theirs is None else theirs.run.sequence,
        values=values,
        quotes=(left.quote(question.left_path), right.quote(question.right_path)),
    )


# which reading shows which fact


def _questions(change: FactChange, two: TwoLowerings) -> Iterator[_Question]:
    """What to look at, the most telling reading first."""
    right_names = {mine: theirs for theirs, mine in two.allowed.names.items()}
    for path in _paths(change.path, two):
        head, key, rest = _split(path)
        other = f"{head}[{right_names.get(key, key)}]{rest}" if key else path
        if rest == ".num_versions":
            yield _Question(
                _versions(key), _versions(right_names.get(key, key)),
                f"{head}[{key}].elements", f"{head}[{right_names.get(key, key)}].elements",
            )  # fmt: skip
        else:
            yield _Question(_plain(path), _plain(other), path, other)


def _split(path: str) -> tuple[str, str, str]:
    """``shared_buffers[A].num_versions`` as its head, key and rest."""
    head, bracket, after = path.partition("[")
    if not bracket:
        return path, "", ""
    key, _, rest = after.partition("]")
    return head, key, rest


def _plain(path: str) -> Value:
    absent = 0 if path.startswith("sync_totals[") else None

    def read(side: _Side) -> ParamValue:
        seen = side.seen.get(path)
        return absent if seen is None else seen.reading.value

    return read


def _versions(name: str) -> Value:
    """How often the declared shape fits into what is allocated."""

    def read(side: _Side) -> ParamValue:
        seen = side.seen.get(f"shared_buffers[{name}].elements")
        declared = [b.shape for b in side.lowering.facts.shared_buffers if b.name == name]
        if seen is None or not declared or not isinstance(seen.reading.value, int):
            return None
        sizes = [dim for dim in declared[0] if isinstance(dim, int)]
        each = math.prod(sizes)
        if len(sizes) != len(declared[0]) or not each or seen.reading.value % each:
            return seen.reading.value  # padded, or symbolic: elements are all that can be said
        return seen.reading.value // each

    return read


def _paths(path: str, two: TwoLowerings) -> Iterable[str]:
    """The readings that show a fact; a fact of its own name comes first."""
    head, key, rest = _split(path)
    if head == "pipeline_loops":
        return _loop_paths(f"pipeline_loops[{key}]", rest)
    if head == "shared_buffers":
        return _buffer_paths(f"shared_buffers[{key}]", rest)
    if head == "barriers":
        return (f"barriers[{key.rpartition(' ')[0]}].arrive_count",)
    if head == "sync_ops":
        return _site_paths(key.partition(" ")[0], rest)
    if head == "launch.tma_descriptors":
        tensors = [
            descriptor.tensor
            for side in (two.left, two.right)
            for descriptor in side.facts.launch.tma_descriptors
            if descriptor.name == key
        ]
        return tuple(f"launch.tma_descriptors[{tensor}].fields" for tensor in tensors[:1])
    if head.startswith("launch.params"):
        return ("launch.params",)
    return _SCALARS.get(path, (path,))


_SCALARS = {
    "shared_memory.fits": ("shared_memory.total_bytes",),
    "shared_memory.exceeds": ("shared_memory.total_bytes",),
    "shared_memory.max_num_stages": ("shared_memory.total_bytes",),
    "launch.dynamic_smem_bytes": ("shared_memory.dynamic_bytes",),
}


def _site_paths(op: str, rest: str) -> tuple[str, ...]:
    if rest == ".args[max_pending]":
        return (f"sync_ops[{op}].args[max_pending]",)
    if rest in (".role", ".section", ".guards"):
        return ("warp_specialization",)
    if not rest:
        return (f"sync_totals[{op}].static",)
    return (f"sync_totals[{op}].dynamic",) if rest in (".dynamic", ".loops") else ()


def _loop_paths(loop: str, rest: str) -> tuple[str, ...]:
    planned = tuple(f"{loop}.{note}" for note in _PLAN)
    exact = {
        ".statements.stage": (f"{loop}.{_STAGE}",),
        ".statements.order": (f"{loop}.{_ORDER}",),
        ".statements.async_group": (f"{loop}.{_GROUPS}",),
        ".num_stages": (f"{loop}.num_stages",),
        ".pipeline_depth": (f"{loop}.{_STAGE}",),
    }
    return exact.get(rest, ("warp_specialization", *planned))


def _buffer_paths(buffer: str, rest: str) -> tuple[str, ...]:
    if rest in (".num_versions", ".total_bytes", ".versioned_by"):
        return (f"{buffer}.num_versions",)
    if rest in (".offset_bytes", ".overlaps"):
        return (f"{buffer}.offset_bytes",)
    if rest in (".dtype", ".scope"):
        return (buffer + rest,)
    return () if rest == ".alignment_bytes" else (f"{buffer}.allocated_shape",)
