"""What did the compiler do to this one variant?  A dump as sections of lines and rows, in full.

Records in, text out; colours and widths are `stagebench.report.explain_view`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagebench.dump.directory import Timing
from stagebench.dump.files import Dump
from stagebench.errors import DumpError
from stagebench.model import (
    Barrier,
    Diagnostic,
    Evidence,
    Extent,
    Facts,
    Failure,
    PassRun,
    PipelineLoop,
    SharedBuffer,
    SharedMemory,
    SyncOp,
    Variant,
)
from stagebench.model.facts import STATIC_LIMIT_BYTES
from stagebench.report import identity, quantities
from stagebench.report.explain_section import Section
from stagebench.report.expressions import readable
from stagebench.report.fact_row import NONE
from stagebench.report.fact_rows import SCHEDULERS, wait_depths
from stagebench.report.failure_words import FAILURES
from stagebench.report.machine_sections import levels_section, machine_sections
from stagebench.report.profiler_section import profiler_section
from stagebench.report.quantities import UNKNOWN, known
from stagebench.report.sync_order import sync_rank
from stagebench.report.tma_rows import descriptor_rows

_BAR = 40
_NAMELESS = ("barrier", "descriptor")  # what they are is in the value


def sections(
    dump: Dump, timing: Timing | None = None, *, show_all: bool = False
) -> tuple[Section, ...]:
    """Every section that has something to say, in reading order."""
    result = dump.result
    head = _identity(result.variant, dump)
    if result.facts is None:
        failed = tuple(_failure(result.failure)) if result.failure else ()
        return tuple(section for section in (head, *failed) if section.lines or section.rows)
    facts = result.facts
    found = (
        head,
        _diagnostics(facts.diagnostics),
        *_schedule(facts.pipeline_loops),
        _shared_memory(facts.shared_memory, facts.shared_buffers),
        _barriers(facts.barriers),
        _sync_sites(facts.sync_ops),
        _sync_totals(facts),
        *_launch(facts),
        *machine_sections(facts),
        _passes(facts.lowering.passes, timing, show_all=show_all),
    )
    return tuple(section for section in found if section.lines or section.rows)


def level_sections(dump: Dump) -> tuple[Section, ...]:
    """Who it is and its four levels; raises `DumpError` where it was not assembled."""
    facts = dump.result.facts
    if facts is None or facts.machine is None:
        raise DumpError(
            f"{dump.folder} has no facts of machine code",
            hint="`stagebench sweep --machine` assembles what it lowers",
        )
    return (_identity(dump.result.variant, dump), levels_section(facts.machine))


def _identity(variant: Variant, dump: Dump) -> Section:
    named = [
        ("arch", variant.arch),
        (variant.stage_param or "num_stages", identity.depth(variant) or "as written"),
        ("parameters", ", ".join(identity.parameters(variant)) or NONE),
        ("compiler", identity.compiler(variant)),
        ("dump", dump.folder),
    ]
    return Section(title=variant.kernel, rows=tuple(named))


def _failure(failure: Failure) -> Iterable[Section]:
    where = f" in {failure.pass_name}" if failure.pass_name else ""
    detail = failure.detail or ""
    lines = [failure.message]
    if detail.strip() and detail.strip() != failure.message.strip():
        lines += ["", *detail.rstrip().splitlines()]
    yield Section(
        title=f"Failed: {FAILURES[failure.kind]}{where}", lines=tuple(lines), alarming=True
    )
    yield _diagnostics(failure.diagnostics)


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> Section:
    rows: tuple[tuple[str, ...], ...] = tuple(
        (
            diagnostic.severity,
            diagnostic.code,
            diagnostic.message,
            ", ".join(filter(None, (_evidence(item) for item in diagnostic.evidence))),
        )
        for diagnostic in diagnostics
    )
    if not rows:
        return Section(title="Diagnostics")
    head: tuple[str, ...] = ("severity", "code", "message", "evidence")
    if not any(row[3] for row in rows):
        head, rows = head[:3], tuple(row[:3] for row in rows)
    return Section(
        title="Diagnostics",
        rows=(head, *rows),
        alarming=any(diagnostic.severity == "error" for diagnostic in diagnostics),
    )


def _evidence(evidence: Evidence) -> str:
    place = evidence.artifact + (f":{evidence.line}" if evidence.line is not None else "")
    by = f" ({evidence.pass_name})" if evidence.pass_name else ""
    return place + by


# schedule


def _schedule(loops: Sequence[PipelineLoop]) -> Iterable[Section]:
    if not loops:
        yield Section(title="Schedule", lines=("no loop asks for a depth",))
    for loop in loops:
        yield Section(
            title=f"Schedule of loop {loop.loop_var}",
            lines=_schedule_lines(loop),
            rows=_statements(loop),
        )


def _schedule_lines(loop: PipelineLoop) -> tuple[str, ...]:
    asked = f"num_stages={loop.num_stages}" if loop.num_stages is not None else "no depth"
    if loop.explicit_schedule:
        asked += " and explicit stage and order lists"
    line = "" if loop.line is None else f", line {loop.line}"
    by = SCHEDULERS[loop.scheduled_by]
    if loop.pass_name:
        by += f" ({loop.pass_name})"
    depth = f", pipeline_depth {loop.pipeline_depth}" if loop.pipeline_depth is not None else ""
    lines = [f"{loop.extent} trips{line}; asked for: {asked}", f"scheduled by {by}{depth}"]
    if loop.reason:
        lines.append(f"not as asked – {loop.reason}")
    return tuple(lines)


def _statements(loop: PipelineLoop) -> tuple[tuple[str, ...], ...]:
    """One row per statement; columns that say nothing about this kind of schedule are left out."""
    planned = loop.scheduled_by == "software_pipeline"
    rows = [
        ("statement", "stage", "order", "group", "role", "line"),
        *(
            (
                statement.summary,
                known(statement.stage),
                known(statement.order),
                NONE if planned and statement.async_group is None else known(statement.async_group),
                statement.role or UNKNOWN,
                known(statement.line),
            )
            for statement in loop.statements
        ),
    ]
    kept = [
        index
        for index in range(len(rows[0]))
        if index == 0 or any(row[index] != UNKNOWN for row in rows[1:])
    ]
    return tuple(tuple(row[index] for index in kept) for row in rows)


# memory


def _shared_memory(memory: SharedMemory, buffers: Sequence[SharedBuffer]) -> Section:
    lines = [memory_bar(memory)]
    lines.append(
        f"static {quantities.size(memory.static_bytes)}, "
        f"dynamic {quantities.size(memory.dynamic_bytes)}; deepest num_stages that fits: "
        f"{known(memory.max_num_stages)}"
    )
    by: dict[str, list[str]] = {}
    for buffer in buffers:
        if buffer.versioned_by:
            by.setdefault(buffer.versioned_by, []).append(buffer.name)
    lines += [f"versions of {', '.join(names)} made by {passes}" for passes, names in by.items()]
    usual = all(buffer.scope == "shared.dyn" for buffer in buffers)
    rows = tuple(
        (
            buffer.name,
            *(() if usual else (buffer.scope,)),
            buffer.dtype,
            quantities.shape(buffer.shape),
            str(buffer.num_versions),
            quantities.size(buffer.bytes_per_version),
            quantities.size(buffer.total_bytes),
            known(buffer.offset_bytes),
            ", ".join(buffer.overlaps) or NONE,
        )
        for buffer in buffers
    )
    head = (
        "buffer", *(() if usual else ("scope",)), "dtype", "declared", "versions", "each", "total",
        "offset", "overlaps",
    )  # fmt: skip
    return Section(
        title="Shared memory",
        lines=tuple(lines),
        rows=(head, *rows) if rows else (),
        alarming=memory.fits is False,
    )


def memory_bar(memory: SharedMemory) -> str:
    """``[████░░░░] 96 of 227 KiB, 42 %``."""
    if not memory.limit_bytes:
        return f"{quantities.size(memory.total_bytes)}; this arch's limit is not known"
    share = memory.total_bytes / memory.limit_bytes
    filled = min(_BAR, max(int(share * _BAR), 1 if memory.total_bytes else 0))
    bar = "█" * filled + "░" * (_BAR - filled)
    used = f"{quantities.size(memory.total_bytes)} of {quantities.size(memory.limit_bytes)}"
    over = memory.total_bytes - memory.limit_bytes
    verdict = f", over the limit by {quantities.size(over)}" if over > 0 else ""
    if memory.exceeds == "static":
        over = memory.static_bytes - STATIC_LIMIT_BYTES
        limit = quantities.size(STATIC_LIMIT_BYTES)
        verdict = f", static over its limit of {limit} by {quantities.size(over)}"
    return f"[{bar}] {used}, {share:.0%}{verdict}"


# barriers and sync


def _barriers(barriers: Sequence[Barrier]) -> Section:
    if not barriers:
        return Section(title="Barriers")
    rows = (
        (
            _slots(barrier),
            barrier.kind,
            str(barrier.count),
            str(barrier.arrive_count),
            UNKNOWN if barrier.guards is None else ", ".join(barrier.guards) or NONE,
        )
        for barrier in barriers
    )
    return Section(
        title="Barriers", rows=(("barrier", "kind", "count", "arrivals", "guards"), *rows)
    )


def _slots(barrier: Barrier) -> str:
    last = barrier.first + barrier.count - 1
    span = str(barrier.first) if barrier.count == 1 else f"{barrier.first}–{last}"
    return f"{barrier.name}[{span}]"


def _sync_sites(sites: Sequence[SyncOp]) -> Section:
    """Every site in program order; a heading where the role or the section changes."""
    rows: list[tuple[str, ...]] = []
    place: tuple[str, str | None] | None = None
    for site in sites:
        if (site.role, site.section) != place:
            place = (site.role, site.section)
            who = "all threads" if site.role == "all" else site.role
            rows.append((who + (f", {site.section}" if site.section else ""),))
        rows.append(
            (
                "  " + site.op,
                " ".join(site.loops),
                known(site.dynamic),
                ", ".join(
                    [*(_argument(name, value) for name, value in site.args.items()), *_guards(site)]
                ),
                quantities.python_line(site.line, site.line_kind),
                known(site.cuda_line),
            )
        )
    if not rows:
        return Section(title="Sync sites")
    head = ("op", "loops", "executed", "arguments", "Python", "CUDA")
    return Section(title="Sync sites, in program order", rows=(head, *rows))


def _argument(name: str, value: Extent) -> str:
    text = readable(value) if isinstance(value, str) else str(value)
    return text if name in _NAMELESS else f"{name}={text}"


def _guards(site: SyncOp) -> list[str]:
    """The conditions around a site that its role and the election of one thread don't say."""
    own = site.guards[1:] if site.role != "all" else site.guards
    return [f"if {readable(guard)}" for guard in own if "tl_shuffle_elect" not in guard]


def _sync_totals(facts: Facts) -> Section:
    rows = []
    for op in sorted(facts.sync_totals, key=sync_rank):
        total = facts.sync_totals[op]
        sites = [site for site in facts.sync_ops if site.op == op]
        pending = wait_depths(sites) if any("max_pending" in site.args for site in sites) else ""
        rows.append((op, str(total.static), known(total.dynamic), pending))
    if not rows:
        return Section(title="Sync totals", lines=("no sync op: looked for and not found",))
    return Section(
        title="Sync totals", rows=(("op", "call sites", "executed", "<pending>×sites"), *rows)
    )


# launch


def _launch(facts: Facts) -> Iterable[Section]:
    launch = facts.launch
    cluster = NONE if launch.cluster is None else quantities.extents(launch.cluster, keep=3)
    lines = (
        f"{launch.function}({', '.join(f'{p.name}: {p.dtype}' for p in launch.params)})",
        f"grid {quantities.extents(launch.grid, keep=3)}, "
        f"block {quantities.extents(launch.block, keep=3)}, cluster {cluster}, "
        f"dynamic shared memory {quantities.size(launch.dynamic_smem_bytes)}",
    )
    yield Section(title="Launch", lines=lines)
    yield Section(title="TMA descriptors", rows=descriptor_rows(launch.tma_descriptors))
    for profiler in launch.profilers or ():
        yield profiler_section(profiler, launch, facts.sync_ops)


# passes


def _passes(passes: Sequence[PassRun], timing: Timing | None, *, show_all: bool) -> Section:
    took = dict(enumerate(timing.pass_seconds)) if timing else {}
    changed = [run for run in passes if run.changed]
    shown = passes if show_all else changed
    lines = [f"{quantities.count(len(passes), 'pass run')}, {len(changed)} changed the IR"]
    if timing is not None:
        lines.append(
            f"lowered in {quantities.seconds(timing.lower)}, of which observing took "
            f"{quantities.seconds(timing.observe)}; kernel loaded in "
            f"{quantities.seconds(timing.load)}, facts in {quantities.seconds(timing.facts)}"
        )
    rows = [
        (
            str(run.sequence),
            "  " * run.depth + run.name,
            *(("yes" if run.changed else "no",) if show_all else ()),
            quantities.seconds(took.get(run.sequence)),
            quantities.size(run.ir_bytes),
        )
        for run in shown
    ]
    if len(shown) < len(passes):
        rows.append(("", f"{len(passes) - len(shown)} more that changed nothing"))
    head = ("#", "pass", *(("changed",) if show_all else ()), "time", "IR text after it")
    return Section(title="Passes", lines=tuple(lines), rows=(head, *rows) if shown else ())
