"""Is a profiler's buffer that can't hold its records told before launch, and only then?"""

import msgspec
import pytest

from stagebench.facts.profilers import profiler_diagnostics
from stagebench.model import LaunchTensor, ProfilerBuffer
from tests.facts.building import kernel, nest, site

LANES = 8 * 8 * 2
ENOUGH = 1 + LANES * (2 * 16 + 1)
"""The consumers' records: a start and an end in each of 16 trips, and the last one."""
PROFILER = ProfilerBuffer(
    tensor="times", format="tvm", groups=2, stride=LANES, events=(0, 1),
    event_names=("load", "compute"), group_names=(),
    marks={"timer_end_cuda": 2, "timer_finalize_cuda": 2, "timer_init_cuda": 1,
           "timer_start_cuda": 2},
)  # fmt: skip


def mark(name, tx, **more):
    return site("threadfence", tx=tx, intrinsic=f"tirx.{name}", **more)


def body(**more):
    """A producer that marks once, consumers that mark in each trip, a fence of the author's own."""
    return (
        mark("timer_start_cuda", "tx < 128"), mark("timer_end_cuda", "tx < 128"),
        mark("timer_finalize_cuda", "tx < 128"),
        nest("k", 16, mark("timer_start_cuda", "!(tx < 128)", **more),
             mark("timer_end_cuda", "!(tx < 128)"), site("threadfence", intrinsic="tirx.fence")),
        mark("timer_finalize_cuda", "!(tx < 128)"),
    )  # fmt: skip


def said(words, *sites, **changes):
    """The diagnostics of a kernel with a buffer of so many words."""
    tensor = LaunchTensor(
        name="times", dtype="uint64", shape=(words,), strides=None, read=False, written=True
    )
    profiler = msgspec.structs.replace(PROFILER, **changes)
    seen = kernel(*(sites or body()), profilers=(profiler,), tensors=(tensor,))
    return [(d.severity, d.code) for d in profiler_diagnostics(seen)]


def test_a_buffer_that_is_just_large_enough():
    """The roles are lanes of their own: the busiest one decides."""
    assert said(ENOUGH) == []


def test_a_buffer_that_is_one_word_too_small():
    """The device has no bounds check: the last lane's last record is written past the end."""
    assert said(ENOUGH - 1) == [("error", "profiler-buffer-too-small")]


def test_marks_under_a_condition_are_only_a_bound():
    """Every branch taken, it would not fit: a warning."""
    assert said(ENOUGH - 1, *body(guards=("k > 3",))) == [("warning", "profiler-buffer-too-small")]


def test_a_thread_of_a_role_does_what_its_role_does():
    """A mark by one thread of a role comes on top of the role's own."""
    one_more = mark("timer_start_cuda", "!(tx < 128)")
    one_more = msgspec.structs.replace(one_more, partition=("!(tx < 128)", "tx == 128"))
    assert said(ENOUGH, *body(), one_more) == [("error", "profiler-buffer-too-small")]


def test_symbolic_trips_are_not_judged():
    """What is not known is neither enough nor too little."""
    assert said(1, nest("k", "n", mark("timer_start_cuda", None))) == []
    assert said("n") == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stride": LANES - 1}, [("error", "profiler-lanes-interleave")]),
        ({"stride": LANES}, []),
        ({"events": (0, 1023), "event_names": ()}, []),
        ({"events": (0, 1024), "event_names": ()}, [("error", "profiler-event-aliases")]),
        ({"events": (0, 2)}, [("note", "profiler-event-unnamed")]),
        ({"marks": {"timer_start_cuda": 2}}, [("note", "profiler-not-finalized")]),
        ({"groups": 1 << 14, "stride": 1 << 20}, []),
        ({"groups": (1 << 14) + 1, "stride": 1 << 21}, [("error", "profiler-lanes-alias")]),
        ({"groups": None, "stride": "n"}, []),
    ],
)
def test_what_a_record_can_hold(changes, expected):
    """Ids, lanes and strides at and beyond their limits."""
    assert said(1 << 40, **changes) == expected
