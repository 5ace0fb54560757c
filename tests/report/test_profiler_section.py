"""Does the explanation say which regions are marked where, and why the buffer is no output?"""

import msgspec

from stagebench.model import LaunchTensor, ProfilerBuffer, SyncOp
from stagebench.report.profiler_section import profiler_section
from tests.dumping import building as dumps

PROFILER = ProfilerBuffer(
    tensor="times", format="tvm", groups=2, stride=8, events=(0, 1, 7),
    event_names=("load", "compute"), group_names=("producer", "consumers"),
    marks={"timer_init_cuda": 1, "timer_start_cuda": 3},
)  # fmt: skip


def mark(name, event, dynamic, line, role="all"):
    return SyncOp(
        op="threadfence", role=role, section=None, static=1, dynamic=dynamic,
        args={"scope": "cta", "event": event}, file=None, line=None, line_kind=None, loops=(),
        guards=(), intrinsic=f"tirx.{name}", cuda_line=line,
    )  # fmt: skip


def section(*ops, profiler=PROFILER):
    times = LaunchTensor(
        name="times", dtype="uint64", shape=(1 + 80,), strides=None, read=False, written=True
    )
    launch = msgspec.structs.replace(dumps.lowered().facts.launch, tensors=(times,))
    return profiler_section(profiler, launch, ops)


def test_each_event_with_its_marks():
    """Two places of one event, their executions and lines; an id without a name is a dash."""
    found = section(
        mark("timer_start_cuda", 0, 1, 10), mark("timer_end_cuda", 0, 1, 12),
        mark("timer_start_cuda", 1, 16, 20, "consumer"),
        mark("timer_start_cuda", 0, 16, 14), mark("timer_end_cuda", 0, 16, None),
        mark("timer_end_cuda", 1, 16, 29, "consumer"), mark("timer_finalize_cuda", None, 1, 40),
    )  # fmt: skip
    assert found.rows == (
        ("event", "id", "roles", "starts", "ends", "CUDA"),
        ("load", "0", "all", "2 · 1 + 16", "2 · 1 + 16", "10 to 12, 14 to –"),
        ("compute", "1", "consumer", "1 · 16", "1 · 16", "20 to 29"),
        ("–", "7", "–", "0 · 0", "0 · 0", ""),
    )


def test_why_it_is_no_output():
    """The evidence: who names the tensor, how often."""
    lines = section().lines
    assert lines[0].startswith("times: 81 words in the format tvm, 2 groups in a CTA")
    assert "marks alone (timer_init_cuda ×1, timer_start_cuda ×3)" in lines[1]
    assert lines[2] == "groups: producer, consumers"


def test_what_a_terminal_would_obey_is_spelt_out():
    """Names are the kernel author's: a line feed or an escape sequence is shown, not obeyed."""
    profiler = msgspec.structs.replace(
        PROFILER, event_names=("lo\nad", "\x1b[2J"), group_names=("a\rb", "c")
    )
    found = section(profiler=profiler)
    assert [row[0] for row in found.rows[1:3]] == ["lo\\x0aad", "\\x1b[2J"]
    assert found.lines[2] == "groups: a\\x0db, c"


def test_what_is_not_known_is_a_dash():
    """Marks that disagree on the stride, and no names."""
    profiler = msgspec.structs.replace(PROFILER, stride=None, group_names=(), events=())
    found = section(profiler=profiler)
    assert found.lines[0].endswith("a lane's records – words apart")
    assert (len(found.lines), found.rows) == (2, ())
