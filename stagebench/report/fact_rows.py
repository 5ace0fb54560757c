"""Which rows does a table of variants have, and what stands in them?

Facts of several variants in, one line of text per fact and variant out.  Nothing here knows about
colours or widths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from stagebench.model import Extent, Facts, PipelineLoop, SharedBuffer, SyncOp
from stagebench.model.facts import STATIC_LIMIT_BYTES
from stagebench.report import quantities
from stagebench.report.fact_row import NONE, FactRow, Group
from stagebench.report.machine_rows import machine_rows
from stagebench.report.quantities import UNKNOWN
from stagebench.report.sync_order import sync_rank

SCHEDULERS = {
    "software_pipeline": "software pipeline",
    "warp_specialization": "warp specialisation",
    "none": "nobody",
}

_WAITS = ("cp_async_wait", "wgmma_wait", "tma_store_wait")
_KINDS = ("full", "empty", "other")
_SEVERITIES = ("error", "warning", "note")


Column = Sequence[Facts | None]
"""The facts of each variant, ``None`` where it failed."""


def fact_rows(column_facts: Column) -> tuple[FactRow, ...]:
    """Every row, the most interesting first; none where nothing was lowered."""
    if all(facts is None for facts in column_facts):
        return ()
    return (
        *_schedule(column_facts),
        *_versions(column_facts),
        *_shared_memory(column_facts),
        *_barriers(column_facts),
        *_sync_totals(column_facts),
        *machine_rows(column_facts),
        *_launch(column_facts),
        *_diagnostics(column_facts),
    )


def _row(
    label: str,
    group: Group,
    column_facts: Column,
    read: Callable[[Facts], str | None],
) -> FactRow:
    values = tuple(None if facts is None else read(facts) for facts in column_facts)
    return FactRow(label=label, group=group, values=values)


def _lowered(column_facts: Column) -> Iterable[Facts]:
    return (facts for facts in column_facts if facts is not None)


def _says_something(row: FactRow, *nothing: str) -> bool:
    return any(value is not None and value not in nothing for value in row.values)


# schedule


LoopKey = tuple[str, int]
"""A loop's variable and which of the loops with that variable it is."""


_THE_LOOP: LoopKey = ("", 0)
"""The loop of variants that have one each, under whatever name."""


def loop_of(facts: Facts, key: LoopKey) -> PipelineLoop | None:
    """The requested loop of one variant that `loop_names` means by a key."""
    if key == _THE_LOOP:
        return facts.pipeline_loops[0] if facts.pipeline_loops else None
    return _loops_by_key(facts).get(key)


def _loops_by_key(facts: Facts) -> dict[LoopKey, PipelineLoop]:
    found: dict[LoopKey, PipelineLoop] = {}
    for loop in facts.pipeline_loops:
        nth = sum(1 for var, _ in found if var == loop.loop_var)
        found[loop.loop_var, nth] = loop
    return found


def loop_names(column_facts: Column) -> dict[LoopKey, str]:
    """Every requested loop and its name; the name is empty where no variant has several."""
    found = [_loops_by_key(facts) for facts in _lowered(column_facts)]
    distinct = list(dict.fromkeys(key for loops in found for key in loops))
    if not distinct:
        return {}
    if all(len(loops) < 2 for loops in found):
        return {_THE_LOOP: ""}
    return {(var, nth): var if nth == 0 else f"{var} (no. {nth + 1})" for var, nth in distinct}


def _schedule(column_facts: Column) -> Iterable[FactRow]:
    names = loop_names(column_facts)
    if not names:
        yield _row("scheduled by", "schedule", column_facts, lambda _: SCHEDULERS["none"])
    readers: tuple[tuple[str, Callable[[PipelineLoop], str]], ...] = (
        ("scheduled by", lambda loop: SCHEDULERS[loop.scheduled_by]),
        ("pass", lambda loop: loop.pass_name or NONE),
        ("stage", _stages),
        ("order", _orders),
        ("statements by role", _roles),
        ("explicit schedule", lambda loop: "given" if loop.explicit_schedule else NONE),
    )
    for key, name in names.items():
        for what, read in readers:
            row = _row(
                f"loop {name}: {what}" if name else what,
                "schedule",
                column_facts,
                _of_loop(key, read, absent=SCHEDULERS["none"] if what == "scheduled by" else NONE),
            )
            if what in ("pass", "statements by role"):
                row = msgspec.structs.replace(row, implied=_is_implied(row))
            if what == "scheduled by" or _says_something(row, NONE):
                yield row


def _is_implied(row: FactRow) -> bool:
    known = {value for value in row.values if value is not None}
    return NONE in known and len(known) == 2


def _of_loop(
    key: LoopKey, read: Callable[[PipelineLoop], str], *, absent: str
) -> Callable[[Facts], str]:
    def value(facts: Facts) -> str:
        loop = loop_of(facts, key)
        return absent if loop is None else read(loop)

    return value


def _stages(loop: PipelineLoop) -> str:
    stages = [statement.stage for statement in loop.statements]
    return NONE if all(stage is None for stage in stages) else quantities.run_lengths(stages)


def _orders(loop: PipelineLoop) -> str:
    orders = [statement.order for statement in loop.statements]
    return NONE if all(order is None for order in orders) else quantities.number_list(orders)


def _roles(loop: PipelineLoop) -> str:
    roles = [statement.role for statement in loop.statements]
    counts = [
        f"{roles.count(role)} {short}"
        for role, short in (("producer", "prod."), ("consumer", "cons."), ("all", "all"))
        if role in roles
    ]
    return " ".join(counts) or NONE


# memory


def _versions(column_facts: Column) -> Iterable[FactRow]:
    names = dict.fromkeys(
        buffer.name for facts in _lowered(column_facts) for buffer in facts.shared_buffers
    )
    merged: dict[tuple[str | None, ...], list[str]] = {}
    for name in names:
        row = _row("", "memory", column_facts, _of_buffer(name))
        merged.setdefault(row.values, []).append(name)
    for values, members in merged.items():
        yield FactRow(label="versions of " + ", ".join(members), group="memory", values=values)


def _of_buffer(name: str) -> Callable[[Facts], str]:
    def value(facts: Facts) -> str:
        found = [buffer for buffer in facts.shared_buffers if buffer.name == name]
        return ", ".join(_version(buffer) for buffer in found) or NONE

    return value


def _version(buffer: SharedBuffer) -> str:
    return f"{buffer.num_versions} × {quantities.size(buffer.bytes_per_version)}"


def _shared_memory(column_facts: Column) -> Iterable[FactRow]:
    limits = {facts.shared_memory.limit_bytes for facts in _lowered(column_facts)}
    limit = next(iter(limits)) if len(limits) == 1 else None
    label = "shared memory" + (f" / {quantities.size(limit)}" if limit else "")

    def used(facts: Facts) -> str:
        memory = facts.shared_memory
        text = quantities.size(memory.total_bytes)
        if memory.exceeds == "static":
            return f"{text}, static {_more(memory.static_bytes, STATIC_LIMIT_BYTES)}"
        if memory.fits is False and memory.limit_bytes is not None:
            return _more(memory.total_bytes, memory.limit_bytes)
        return text

    row = _row(label, "memory", column_facts, used)
    over = (facts is not None and facts.shared_memory.fits is False for facts in column_facts)
    yield msgspec.structs.replace(row, over_limit=tuple(over))
    deepest = _row(
        "deepest that fits",
        "memory",
        column_facts,
        lambda facts: _optional(facts.shared_memory.max_num_stages),
    )
    if _says_something(deepest):
        yield deepest


def _more(used: int, limit: int) -> str:
    """``256 KiB > 227``; in bytes where that would not show the difference."""
    used_kib, limit_kib = quantities.kib(used), quantities.kib(limit)
    return f"{used} B > {limit}" if used_kib == limit_kib else f"{used_kib} KiB > {limit_kib}"


def _optional(value: int | None) -> str | None:
    return None if value is None else str(value)


# barriers and sync ops


def _barriers(column_facts: Column) -> Iterable[FactRow]:
    for kind in _KINDS:
        row = _row(f"{kind} barriers×arrivals", "barriers", column_facts, _of_barriers(kind))
        if _says_something(row, "0"):
            yield row


def _of_barriers(kind: str) -> Callable[[Facts], str]:
    def value(facts: Facts) -> str:
        counts: dict[str, int] = {}
        for barrier in facts.barriers:
            if barrier.kind == kind:
                arrivals = str(barrier.arrive_count)
                counts[arrivals] = counts.get(arrivals, 0) + barrier.count
        return ", ".join(f"{count}×{arrivals}" for arrivals, count in counts.items()) or "0"

    return value


def _sync_totals(column_facts: Column) -> Iterable[FactRow]:
    ops = {op for facts in _lowered(column_facts) for op in facts.sync_totals}
    for op in sorted(ops, key=sync_rank):
        yield _row(op, "sync", column_facts, _of_op(op))
        if op in _WAITS:
            yield _row(f"{op} <pending>", "sync", column_facts, _of_waits(op))


def _of_op(op: str) -> Callable[[Facts], str]:
    def value(facts: Facts) -> str:
        total = facts.sync_totals.get(op)
        return "0" if total is None else f"{total.static} · {quantities.known(total.dynamic)}"

    return value


def _of_waits(op: str) -> Callable[[Facts], str]:
    def value(facts: Facts) -> str:
        sites = [site for site in facts.sync_ops if site.op == op]
        return wait_depths(sites) or "0"

    return value


def wait_depths(sites: Sequence[SyncOp]) -> str:
    """Call sites by how many groups may stay in flight, in program order: ``<1>×1 <0>×1``.

    Four or more that count down by one are joined: ``<3…0>×1``.
    """
    counts: dict[Extent, int] = {}
    for site in sites:
        depth = site.args.get("max_pending", UNKNOWN)
        counts[depth] = counts.get(depth, 0) + site.static
    runs: list[list[tuple[Extent, int]]] = []
    for depth, count in counts.items():
        above, same = runs[-1][-1] if runs else (None, 0)
        if isinstance(above, int) and above - 1 == depth and same == count:
            runs[-1].append((depth, count))
        else:
            runs.append([(depth, count)])
    return " ".join(_countdown(run) for run in runs)


def _countdown(run: Sequence[tuple[Extent, int]]) -> str:
    if len(run) >= 4:
        return f"<{run[0][0]}…{run[-1][0]}>×{run[0][1]}"
    return " ".join(f"<{depth}>×{count}" for depth, count in run)


# launch and diagnostics


def _launch(column_facts: Column) -> Iterable[FactRow]:
    yield _row("threads", "launch", column_facts, lambda f: quantities.extents(f.launch.block))
    yield _row("grid", "launch", column_facts, lambda f: quantities.extents(f.launch.grid))
    cluster = _row(
        "cluster",
        "launch",
        column_facts,
        lambda f: NONE if f.launch.cluster is None else quantities.extents(f.launch.cluster),
    )
    if _says_something(cluster, NONE):
        yield cluster


def _diagnostics(column_facts: Column) -> Iterable[FactRow]:
    for severity in _SEVERITIES:
        row = _row(f"{severity}s", "diagnostics", column_facts, _of_severity(severity))
        if _says_something(row, "0"):
            yield row


def _of_severity(severity: str) -> Callable[[Facts], str]:
    return lambda facts: str(sum(1 for d in facts.diagnostics if d.severity == severity))
