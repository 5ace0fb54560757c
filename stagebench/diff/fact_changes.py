"""Which facts of two variants differ, in words a person would use, and where was each seen?

Records are matched by name first, then by structure (a renamed tensor), never by index alone; then
every field is compared, so that a field that is added to the facts tomorrow shows up too.  Where a
fact changed in the course of lowering is `stagebench.diff.pass_since`'s question.

Not compared: what lowering cost (`stagebench.model.LoweringCost`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_comparison import FactComparison, fields_of
from stagebench.diff.fact_evidence import (
    barrier_seen,
    buffer_seen,
    descriptor_seen,
    device_ir_seen,
    diagnostic_seen,
    loop_seen,
    op_seen,
    site_seen,
    with_declarations,
)
from stagebench.diff.fact_matching import (
    MatchedFacts,
    Pair,
    both_sides,
    match,
    match_facts,
    match_sites,
)
from stagebench.diff.fact_renames import FactRenames, words_of
from stagebench.diff.fact_words import site_place
from stagebench.diff.machine_changes import machine_changes
from stagebench.diff.spelling import marked_spelling
from stagebench.dump.files import Dump
from stagebench.model import (
    Barrier,
    Evidence,
    Facts,
    PipelineLoop,
    PipelineStatement,
    SharedBuffer,
    SyncTotal,
    VariantResult,
)

_COMPARED = frozenset(
    {
        "pipeline_loops", "shared_buffers", "shared_memory", "barriers", "sync_ops",
        "sync_totals", "launch", "machine", "diagnostics",
    }
)  # fmt: skip
"""Fields of the facts that are compared in a way of their own."""
_NOT_COMPARED = frozenset({"lowering"})


def fact_changes(left: Dump, right: Dump) -> tuple[FactChange, ...]:
    """Every changed fact, the most interesting first; empty where all facts are equal."""
    if left.result.facts is None or right.result.facts is None:
        return tuple(_outcome(left.result, right.result))
    changes = result_changes(
        left.result.facts, right.result.facts, words_of(left.kernel_cu), words_of(right.kernel_cu)
    )
    compilers = left.result.variant.compiler, right.result.variant.compiler
    changes = tuple(sorted(marked_spelling(changes, *compilers), key=_interest))
    return with_declarations(changes, left.kernel_cu, right.kernel_cu)


def result_changes(
    left: Facts,
    right: Facts,
    left_words: frozenset[str] | None = None,
    right_words: frozenset[str] | None = None,
) -> tuple[FactChange, ...]:
    """Every changed fact of two records of facts, whoever made them.

    With the words of both CUDA texts, a parameter is only renamed where it is in the texts too.
    """
    renames = FactRenames(left_words, right_words)
    matched = match_facts(left, right, renames)
    comparison = FactComparison(left, right, renames)
    _loops(comparison, matched.loops)
    _memory(comparison, matched.buffers)
    _sync(comparison)
    comparison.records("barriers", "barriers", matched.barriers, _barrier_name, barrier_seen)
    _launch(comparison, matched)
    _diagnostics(comparison)
    comparison.found += machine_changes(left.machine, right.machine)
    _rest(comparison)
    return tuple(sorted(comparison.found, key=_interest))


def code_differs(changes: Iterable[FactChange]) -> bool:
    """Whether any change is more than a name, a moved line or another spelling."""
    return any(change.kind == "fact" for change in changes)


_GROUPS: Mapping[str, int] = {
    name: rank
    for rank, name in enumerate(
        ("outcome", "schedule", "memory", "sync", "barriers", "launch", "machine", "diagnostics")
    )
}
_KINDS: Mapping[str, int] = {"fact": 0, "spelling": 1, "rename": 2, "position": 3}


def _interest(change: FactChange) -> tuple[int, int, int, int]:
    """What comes first: real changes by group; within sync a wait's depth before all counts."""
    depth = 0 if change.path.endswith("[max_pending]") else 1
    return _KINDS[change.kind], int(change.follows), _GROUPS[change.group], depth


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


# one part of the facts each


def _loops(comparison: FactComparison, pairs: Sequence[Pair[PipelineLoop]]) -> None:
    comparison.records(
        "schedule", "pipeline_loops", pairs, lambda loop: loop.loop_var, loop_seen,
        label="loop {}", skip=frozenset({"statements"}),
    )  # fmt: skip
    used: Counter[str] = Counter()
    for left, right in both_sides(pairs):
        used[left.loop_var] += 1
        count = used[left.loop_var]
        name = left.loop_var if count == 1 else f"{left.loop_var}#{count}"
        _statements(comparison, name, left, right)


def _statements(
    comparison: FactComparison, name: str, left: PipelineLoop, right: PipelineLoop
) -> None:
    """Statements are compared column by column: a stage list is one fact, not three."""
    evidence = loop_seen(comparison.left, left), loop_seen(comparison.right, right)
    example = PipelineStatement(summary="", stage=None, order=None, async_group=None)
    for info in fields_of(PipelineStatement):
        mine, theirs = (
            tuple(getattr(statement, info.name) for statement in loop.statements)
            for loop in (left, right)
        )
        if mine != theirs:
            path = f"pipeline_loops[{name}].statements.{info.encode_name}"
            words = f"loop {name}"
            comparison.field(
                "schedule", path, words, example, info.name, (mine, theirs), evidence
            )  # fmt: skip


def _memory(comparison: FactComparison, buffers: Sequence[Pair[SharedBuffer]]) -> None:
    comparison.records("memory", "shared_buffers", buffers, lambda b: b.name, buffer_seen)
    left, right = comparison.left.shared_memory, comparison.right.shared_memory
    comparison.record("memory", "shared_memory", "", left, right, device_ir_seen)


def _sync(comparison: FactComparison) -> None:
    left, right = comparison.left.sync_totals, comparison.right.sync_totals
    none = SyncTotal(static=0, dynamic=0)
    for op in dict.fromkeys((*left, *right)):
        mine, theirs = left.get(op, none), right.get(op, none)
        comparison.record("sync", f"sync_totals[{op}]", op, mine, theirs, op_seen(op))
    used: Counter[str] = Counter()
    for pair in match_sites(comparison.left.sync_ops, comparison.right.sync_ops):
        op, place = pair.one.op, site_place(pair.one)
        key = " ".join([op, *place])
        used[key] += 1
        path = f"sync_ops[{key} #{used[key]}]"
        alone = pair.left is None or pair.right is None
        where = " ".join([" in the", *place]) if place else ""
        words = f"{op} site{where}" if alone else op
        comparison.pair("sync", path, words, pair, site_seen)


def _barrier_name(barrier: Barrier) -> str:
    """Barriers of one array are told apart by what they are for: their index is what changes."""
    return f"{barrier.name} {barrier.kind}"


def _launch(comparison: FactComparison, matched: MatchedFacts) -> None:
    left, right = comparison.left.launch, comparison.right.launch
    lists = frozenset({"params", "tma_descriptors", "tensors", "profilers"})
    comparison.record("launch", "launch", "", left, right, device_ir_seen, skip=lists)
    _parameter_order(comparison)
    comparison.records(
        "launch", "launch.tma_descriptors", matched.descriptors, lambda d: d.name,
        descriptor_seen, label="TMA descriptor {}",
    )  # fmt: skip
    if left.tensors is not None and right.tensors is not None:  # an old side never looked
        by = (lambda t: comparison.renames.in_left(t.name), lambda t: (t.dtype, t.shape))
        tensors = match(left.tensors, right.tensors, by=by)
        comparison.records(
            "launch", "launch.tensors", tensors, lambda t: t.name, device_ir_seen,
            label="tensor {}",
        )  # fmt: skip
    if left.profilers is not None and right.profilers is not None:
        keys = (lambda p: comparison.renames.in_left(p.tensor), lambda p: p.format)
        profilers = match(left.profilers, right.profilers, by=keys)
        comparison.records(
            "launch", "launch.profilers", profilers, lambda p: p.tensor, device_ir_seen,
            label="profiler {}",
        )  # fmt: skip
    comparison.records(
        "launch", "launch.params", matched.params, lambda p: p.name, device_ir_seen,
        label="parameter {}",
    )  # fmt: skip


def _parameter_order(comparison: FactComparison) -> None:
    """A change of its own only where both sides have the same parameters."""
    left, right = comparison.left.launch, comparison.right.launch
    mine = tuple(param.name for param in left.params)
    theirs = tuple(param.name for param in right.params)
    common = [name for name in mine if name in theirs], [name for name in theirs if name in mine]
    here = tuple(str(comparison.renames.in_left(name)) for name in theirs)
    moved = common[0] != common[1] or here != mine
    if mine != theirs and moved and sorted(mine) == sorted(here):
        comparison.add(
            "launch", "launch.params.order", "",
            f"parameter order {', '.join(mine)} → {', '.join(theirs)}", mine, theirs,
            device_ir_seen(), device_ir_seen(),
            kind=comparison.renames.order_kind(left.params, here),
        )  # fmt: skip


def _diagnostics(comparison: FactComparison) -> None:
    here = comparison.renames.in_left
    pairs = match(
        comparison.left.diagnostics,
        comparison.right.diagnostics,
        by=(
            lambda d: (d.code, d.severity, here(d.message), d.evidence),
            lambda d: (d.code, d.severity, here(d.message)),
            lambda d: (d.code, d.severity),
            lambda d: d.code,
            lambda d: d.message,
        ),
    )
    used: Counter[str] = Counter()
    for pair in pairs:
        one = pair.one
        used[one.code] += 1
        mark = "" if used[one.code] == 1 else f"#{used[one.code]}"
        path, words = f"diagnostics[{one.code}{mark}]", f"{one.severity} {one.code}"
        note = f": {one.message}"
        comparison.pair("diagnostics", path, words, pair, diagnostic_seen, note=note)


def _rest(comparison: FactComparison) -> None:
    """Facts that nobody above knows: a newer stagebench added them."""
    left, right = comparison.left, comparison.right
    known = _COMPARED | _NOT_COMPARED
    comparison.record("machine", "", "", left, right, lambda *_: (), skip=known)
