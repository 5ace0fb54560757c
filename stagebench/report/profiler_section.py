"""Which regions does a kernel mark itself, where, and in which buffer are their times?"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model import Extent, Launch, ProfilerBuffer, SyncOp
from stagebench.report import quantities
from stagebench.report.explain_section import Section
from stagebench.report.quantities import UNKNOWN, known
from stagebench.visible_text import visible

_START, _END = "timer_start_cuda", "timer_end_cuda"


def profiler_section(profiler: ProfilerBuffer, launch: Launch, ops: Sequence[SyncOp]) -> Section:
    """What the buffer is, and a row for each event: where it starts and ends, and who marks it."""
    sizes = [tensor.shape for tensor in launch.tensors or () if tensor.name == profiler.tensor]
    words = quantities.shape(sizes[0]) if sizes else UNKNOWN
    groups = "1 group" if profiler.groups == 1 else f"{known(profiler.groups)} groups"
    marks = ", ".join(f"{name} ×{count}" for name, count in profiler.marks.items())
    lines = (
        f"{profiler.tensor}: {words} words in the format {profiler.format}, "
        f"{groups} in a CTA, a lane's records {known(profiler.stride)} "
        "words apart",
        f"it holds times and nothing else: the device IR names it in its marks alone ({marks}); "
        "zero before each run, never compared",
        *((f"groups: {visible(', '.join(profiler.group_names))}",) if profiler.group_names else ()),
    )
    rows = tuple(_row(event, profiler, ops) for event in profiler.events)
    head = ("event", "id", "roles", "starts", "ends", "CUDA")
    return Section(title="Profiler", lines=lines, rows=(head, *rows) if rows else ())


def _row(event: Extent, profiler: ProfilerBuffer, ops: Sequence[SyncOp]) -> tuple[str, ...]:
    mine = [op for op in ops if op.args.get("event") == event]
    starts = [op for op in mine if op.intrinsic.endswith(_START)]
    ends = [op for op in mine if op.intrinsic.endswith(_END)]
    named = isinstance(event, int) and event < len(profiler.event_names)
    return (
        visible(profiler.event_names[event]) if named and isinstance(event, int) else UNKNOWN,
        str(event),
        ", ".join(sorted({op.role for op in mine})) or UNKNOWN,
        _counts(starts),
        _counts(ends),
        ", ".join(
            f"{known(a.cuda_line)} to {known(b.cuda_line)}"
            for a, b in zip(starts, ends, strict=False)
        ),
    )


def _counts(ops: Sequence[SyncOp]) -> str:
    return f"{len(ops)} · {' + '.join(known(op.dynamic) for op in ops) or 0}"
