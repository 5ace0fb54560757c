"""How much shared memory, does it fit, and up to which depth would it?"""

import msgspec
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


@pytest.mark.parametrize(
    ("arch", "static", "dynamic", "exceeds"),
    [
        ("sm_80", 49152, 0, None),
        ("sm_80", 49153, 0, "static"),
        ("sm_80", 0, 49153, None),
        ("sm_80", 49152, 166912 - 49152, None),
        ("sm_80", 49152, 166913 - 49152, "total"),
        ("sm_80", 200_000, 0, "static"),
        ("sm_90", 49153, 0, "static"),
        ("sm_90a", 49153, 0, None),
        ("sm_90a", 232448, 0, None),
        ("sm_90a", 232449, 0, "total"),
        ("sm_120a", 101376, 0, None),
        ("sm_120a", 101377, 0, "total"),
    ],
)
def test_static_memory_has_a_limit_of_its_own(arch, static, dynamic, exceeds):
    """48 KiB, but for architecture-specific targets; dynamic memory is held to the total alone."""
    found = measure(arch=arch, static=static, dynamic=dynamic)
    assert (found.exceeds, found.fits) == (exceeds, exceeds is None)


def test_what_exceeds_is_written_only_where_something_does():
    """Facts that fit are written as they were before there was the field."""
    assert "exceeds" not in msgspec.to_builtins(measure(static=49152))
    assert msgspec.to_builtins(measure(static=49153))["exceeds"] == "static"


@pytest.mark.parametrize(
    ("arch", "more", "wanted"),
    [("sm_80", 0, 3), ("sm_80", 1, 2), ("sm_90", 0, 3), ("sm_90a", 0, 14), ("sm_80", 49153, 0)],
)
def test_the_deepest_static_ring(arch, more, wanted):
    """16 KiB a stage in static memory: three stages fill it, and what else is there counts."""
    rings = [buffer("lhs", 128, 64, leading=(7,), scope="shared")]
    seen = observation(
        requests=[request(num_stages=7)],
        buffers=rings,
        allocations=(
            allocation("lhs", 7 * 16384, scope="shared"), allocation("b", more, scope="shared"),
        ),
    )  # fmt: skip
    found = shared_memory(seen, shared_buffers(seen), arch=arch, num_stages=7)
    assert found.max_num_stages == wanted


def test_static_rings_that_share_bytes_have_no_deepest():
    """Two buffers in memory that holds one of them: a further stage's bytes can't be told."""
    rings = [buffer(name, 128, 64, leading=(2,), scope="shared") for name in ("lhs", "rhs")]
    found = measure(buffers=rings, static=2 * 16384, dynamic=0, arena=())
    assert found.max_num_stages is None


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
