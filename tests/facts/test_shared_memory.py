"""How much shared memory, does it fit, and up to which depth would it?"""

import pytest

from stagebench.errors import UsageError
from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES, check_arch
from stagebench.facts.buffers import shared_buffers
from stagebench.facts.shared_memory import shared_memory
from tests.facts.building import allocation, arena, buffer, observation, request


def measure(*, arch="sm_80", num_stages=2, dynamic=65536, static=0, buffers=None, **more):
    """The fact for two 16 KiB tiles in a ring; ``more`` are fields of the kernel or requests."""
    if buffers is None:
        buffers = [buffer(name, 128, 64, leading=(num_stages,)) for name in ("lhs", "rhs")]
    seen = observation(
        requests=more.pop("requests", [request(num_stages=num_stages)]),
        buffers=buffers,
        arena=more.pop("arena", arena(lhs=0, rhs=16384 * (num_stages or 0))),
        allocations=(allocation("bar", static, scope="shared.barrier"),) if static else (),
        dynamic_smem_bytes=dynamic,
        **more,
    )
    return shared_memory(seen, shared_buffers(seen), arch=arch, num_stages=num_stages)


def test_static_and_dynamic_bytes_add_up():
    """Barriers are static, tiles dynamic; the limit is on both together."""
    found = measure(arch="sm_90a", static=32)
    assert (found.static_bytes, found.dynamic_bytes, found.total_bytes) == (32, 65536, 65568)
    assert (found.limit_bytes, found.fits) == (232448, True)


@pytest.mark.parametrize(("static", "fits"), [(0, True), (1, False)])
def test_the_limit_itself_still_fits(static, fits):
    """Exactly the limit fits, one byte more does not, and static bytes count."""
    assert measure(dynamic=166912, static=static).fits is fits


def test_an_arch_without_a_limit():
    """Where the limit is not known nothing is claimed."""
    found = measure(arch="sm_199")
    assert (found.limit_bytes, found.fits, found.max_num_stages) == (None, None, None)


@pytest.mark.parametrize(
    ("arch", "static", "wanted"),
    [("sm_80", 0, 5), ("sm_86", 0, 3), ("sm_90a", 32, 7), ("sm_75", 0, 2)],
)
def test_the_deepest_that_fits(arch, static, wanted):
    """32 KiB a stage: as many as the arch's limit holds."""
    assert measure(arch=arch, static=static).max_num_stages == wanted


def test_the_deepest_where_this_depth_does_not_fit():
    """A variant over the limit is told how deep it may be."""
    found = measure(num_stages=6, dynamic=6 * 32768)
    assert (found.fits, found.max_num_stages) == (False, 5)


def test_bytes_that_no_stage_needs_are_set_aside():
    """A buffer with one version is paid once, whatever the depth."""
    buffers = [buffer("lhs", 128, 64, leading=(2,)), buffer("once", 128, 256)]
    found = measure(buffers=buffers, dynamic=2 * 16384 + 65536, arena=arena(lhs=0, once=32768))
    assert found.max_num_stages == (166912 - 65536) // 16384


def test_nothing_fits_even_at_depth_0():
    """The frontier is never negative."""
    buffers = [buffer("lhs", 128, 64, leading=(2,))]
    assert measure(buffers=buffers, dynamic=400_000, arena=arena(lhs=0)).max_num_stages == 0


RING = {"leading": (2,)}


@pytest.mark.parametrize(
    "changes",
    [
        {"requests": []},
        {"requests": [request(), request(loop_var="j")]},
        {"requests": [request(num_stages=0)]},
        {"num_stages": None, "buffers": [buffer("lhs", **RING), buffer("rhs", **RING)]},
        {"num_stages": 3, "buffers": [buffer("lhs", **RING), buffer("rhs", **RING)]},
        {"buffers": [buffer("lhs"), buffer("rhs")]},
        {"buffers": [buffer("lhs", **RING), buffer("rhs", **RING)], "arena": ()},
        {"buffers": [buffer("lhs", **RING), buffer("rhs", **RING)], "arena": arena(lhs=0, rhs=64)},
        {"buffers": [buffer("lhs", 64, "n", **RING)], "arena": arena(lhs=0)},
    ],
    ids=[
        "no loop", "two loops", "depth 0", "depth unknown", "versions are not the depth",
        "nothing versioned", "not in the arena", "shared bytes", "unknown size",
    ],
)  # fmt: skip
def test_no_frontier_where_the_model_does_not_hold(changes):
    """One loop, versions equal to the depth, nobody's bytes shared: else no answer is given."""
    assert measure(**changes).max_num_stages is None


@pytest.mark.parametrize(
    ("arch", "kib"), [("sm_80", 163), ("sm_86", 99), ("sm_90a", 227), ("sm_100a", 227)]
)
def test_limits(arch, kib):
    """The limits are those of the programming guide."""
    assert SHARED_MEMORY_LIMIT_BYTES[check_arch(arch)] == kib * 1024


@pytest.mark.parametrize(
    ("arch", "hint"), [("sm_99", "sm_90"), ("sm80", "sm_80"), ("SM_80", "sm_80"), ("", None)]
)
def test_an_unknown_arch_is_answered_with_the_nearest(arch, hint):
    """A misspelt arch is an error that lists what is known and what may have been meant."""
    with pytest.raises(UsageError, match=f"unknown arch '{arch}'") as caught:
        check_arch(arch)
    assert "sm_100a" in caught.value.message
    assert caught.value.hint is None if hint is None else hint in caught.value.hint
