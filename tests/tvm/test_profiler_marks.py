"""Which tensors hold the times of a kernel's own marks, and what are the regions called?"""

from pathlib import Path

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
KERNELS = Path(__file__).with_name("kernels") / "profiled.py"
DEPTHS = (1, 2, 4)
SIZES = {"M": 256, "N": 128, "K": 256}
CTAS, TRIPS = 8, 8
ASKED = {
    **{("all", n): request("gemm_tirx_profiled", n, **SIZES) for n in DEPTHS},
    **{("48", n): request("gemm_tirx_profiled", n, group_threads=48, **SIZES) for n in DEPTHS},
    **{("tma", n): request("gemm_tirx_tma_profiled", n, **SIZES) for n in DEPTHS},
    "plain": request("gemm_tirx", 2, **SIZES),
    **{
        name: request("marked", path=KERNELS, **more)
        for name, more in {
            "user": {},
            "nameless": {"names": "none"},
            "stores": {"also_stores": True},
            "small": {"words": 4},
            **{bad: {"names": bad} for bad in ("misspelt", "numbers", "text", "empty")},
        }.items()
    },
}


@pytest.fixture(scope="module")
def found():
    """The lowerings by name."""
    return dict(zip(ASKED, lower(*ASKED.values()), strict=True))


def profiler(one):
    facts = one.result.facts
    assert facts is not None, one.result.failure
    (only,) = facts.launch.profilers
    (shape,) = (t.shape for t in facts.launch.tensors if t.name == only.tensor)
    return only, shape


def codes(one):
    """The diagnostics, but for the ring's own: it fills its slots behind a condition."""
    found = [d.code for d in one.result.facts.diagnostics]
    return [code for code in found if code != "every-branch-taken"]


@pytest.mark.parametrize("depth", DEPTHS)
def test_all_threads_are_one_group(found, depth):
    """A lane for each CTA; the buffer has exactly the words that its records need."""
    only, shape = profiler(found["all", depth])
    assert (only.tensor, only.format, only.groups, only.stride) == ("times_ptr", "tvm", 1, CTAS)
    assert only.event_names[:4] == ("load", "wait", "compute", "store")
    assert (only.events, only.group_names) == ((0, 1, 2, 3), ("threads 0-127",))
    regions = 3 * TRIPS + 1 + (depth > 1)
    assert shape == (1 + CTAS * (2 * regions + 1),)
    assert codes(found["all", depth]) == []


@pytest.mark.parametrize("depth", DEPTHS)
def test_groups_that_cut_warps_apart(found, depth):
    """Three groups of 48, 48 and 32 threads: a lane for each."""
    only, _ = profiler(found["48", depth])
    assert (only.groups, only.stride) == (3, 3 * CTAS)
    assert only.group_names == ("threads 0-47", "threads 48-95", "threads 96-127")
    assert codes(found["48", depth]) == []


@pytest.mark.parametrize("depth", DEPTHS)
def test_groups_that_are_warpgroups(found, depth):
    """Each role marks its own regions: the producer waits for free slots and loads."""
    only, _ = profiler(found["tma", depth])
    assert (only.groups, only.stride) == (2, 2 * CTAS)
    assert only.group_names == ("producer", "consumers")
    assert codes(found["tma", depth]) == []
    marks = {
        (op.role, only.event_names[op.args["event"]], op.dynamic)
        for op in found["tma", depth].result.facts.sync_ops
        if "event" in op.args
    }
    assert marks == {
        ("producer", "free", TRIPS), ("producer", "load", TRIPS), ("consumer", "wait", TRIPS),
        ("consumer", "compute", TRIPS), ("consumer", "store", 1),
    }  # fmt: skip


def test_the_evidence(found):
    """How often each intrinsic names the tensor, and the line of each mark in the CUDA text."""
    one = found["tma", 2]
    only, _ = profiler(one)
    assert only.marks == {
        "timer_end_cuda": 5, "timer_finalize_cuda": 2, "timer_init_cuda": 1, "timer_start_cuda": 5,
    }  # fmt: skip
    lines = one.kernel_cu.splitlines()
    marks = [op for op in one.result.facts.sync_ops if "timer" in op.intrinsic]
    assert len(marks) == 12
    for op in marks:
        assert op.intrinsic.removeprefix("tirx.") in lines[op.cuda_line - 1]


def test_a_kernel_of_ones_own(found):
    """The marks themselves are enough; that no lane is finalized is said."""
    only, shape = profiler(found["user"])
    assert (only.groups, only.stride, only.events, shape) == (2, 2, (0,), (64,))
    assert codes(found["user"]) == ["profiler-not-finalized"]
    nameless, _ = profiler(found["nameless"])
    assert (nameless.event_names, nameless.group_names) == ((), ())


def test_a_tensor_that_holds_more_than_times_is_a_tensor(found):
    """What the kernel itself stores too is compared like every output."""
    launch = found["stores"].result.facts.launch
    assert launch.profilers == ()
    assert [t.name for t in launch.tensors if t.written] == ["C_ptr", "times_ptr"]


def test_a_buffer_that_is_too_small(found):
    """Two lanes of two records need five words: the last is written past the end."""
    assert "profiler-buffer-too-small" in codes(found["small"])


def test_a_kernel_without_marks(found):
    """Looked for and not there."""
    assert found["plain"].result.facts.launch.profilers == ()


@pytest.mark.parametrize("bad", ["misspelt", "numbers", "text", "empty"])
def test_names_that_are_no_names_are_refused(found, bad):
    """A misspelt key or a number must not leave regions nameless quietly."""
    assert found[bad].result.facts is None
    assert "stagebench.profiler" in found[bad].result.failure.message
