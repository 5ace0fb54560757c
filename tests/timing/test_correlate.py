"""Is each step's verdict what its numbers say, and no more?"""

from pathlib import Path

import pytest
from msgspec import structs

from stagebench.dump.files import read_dump
from stagebench.timing.correlate import depth_steps
from stagebench.timing.depth_facts import depth_facts
from stagebench.timing.per_tile import stall_by_cause
from tests.timing.building import stall, timing


def verdict(left, right):
    (step,) = depth_steps([left, right])
    return step.verdict


def test_the_step_of_the_design():
    """One more slot, shorter waits, a faster kernel, the same occupancy: in one sentence."""
    (step,) = depth_steps([timing(3, 243.0, stall(120)), timing(2, 316.0, stall(450))])
    assert step.verdict == (
        "2 → 3: one more slot; consumers wait 450 → 120 cycles per tile; "
        "kernel 316 → 243 µs; occupancy unchanged"
    )
    assert step.outcome == "faster"
    assert [(f.name, f.left, f.right) for f in step.facts] == [
        ("versions of A_shared", "2", "3"),
        ("versions of B_shared", "2", "3"),
        ("barriers", "4", "6"),
        ("shared memory, bytes", "65536", "98304"),
    ]
    assert [(s.role, s.cause, s.left_cycles, s.right_cycles) for s in step.stalls] == [
        ("consumer", "data", 450, 120)
    ]


def test_slower_with_lower_occupancy():
    """Registers and occupancy are named where they change."""
    left = timing(3, 330.0, ctas_per_sm=2, registers=128)
    right = timing(4, 365.0, ctas_per_sm=1, registers=140)
    assert verdict(left, right) == (
        "3 → 4: one more slot; kernel 330 → 365 µs; registers 128 → 140; "
        "occupancy 2 → 1 CTAs per SM"
    )


def test_intervals_that_overlap_are_noise():
    """315 ± 2 and 312 ± 2 overlap; 315 ± 1 and 312 ± 1 don't; touching counts as overlap."""
    assert "no difference beyond noise" in verdict(
        timing(2, 315, spread=2), timing(3, 312, spread=2)
    )
    (clear,) = depth_steps([timing(2, 315, spread=1), timing(3, 312, spread=1)])
    assert clear.outcome == "faster"
    (touching,) = depth_steps([timing(2, 315, spread=1), timing(3, 313, spread=1)])
    assert touching.outcome == "within_noise"


def test_a_wrong_output_has_no_time():
    """A kernel that computes something else is not faster."""
    (step,) = depth_steps([timing(2, 316.0), timing(3, 100.0, correct=False)])
    assert step.outcome == "unknown"
    assert "3 is wrong or has a race: no verdict on time" in step.verdict
    assert "100" not in step.verdict


def test_what_is_not_known_is_said():
    """No time, no facts, no machine code: words, never zeros."""
    bare = structs.replace(timing(3, None), facts=None)
    assert verdict(timing(2, 316.0), bare) == (
        "2 → 3: what changed in the IR is not known; kernel time not measured; occupancy not known"
    )


def test_slots_that_do_not_change_alike():
    """No slot changed; two more; some changed otherwise."""
    assert "1 → 2: no slot more or fewer" in verdict(
        timing(1, 9.0), structs.replace(timing(2, 9.0), facts=timing(1, 9.0).facts)
    )
    assert "2 → 4: 2 more slots" in verdict(timing(2, 9.0), timing(4, 9.0))
    odd = timing(3, 9.0)
    odd = structs.replace(
        odd, facts=structs.replace(odd.facts, versions={"A_shared": 3, "B_shared": 1})
    )
    assert "A_shared 2 → 3 versions, B_shared 2 → 1 versions" in verdict(timing(2, 9.0), odd)


def test_small_times_keep_their_decimals():
    """9.87 and 12.3 µs are not rounded to the same digits as 316."""
    assert "kernel 9.87 → 12.30 µs" in verdict(
        timing(1, 9.87, spread=0.1), timing(2, 12.3, spread=0.1)
    )
    assert "kernel 19.9 → 12.3 µs" in verdict(
        timing(1, 19.87, spread=0.1), timing(2, 12.3, spread=0.1)
    )


def test_cycles_per_tile():
    """K and V are waited for once a trip each: their means add up; the prologue is left out."""
    found = timing(
        2, 1.0, stall(100, id_=0), stall(50, id_=1), stall(9_999, id_=2, section="prologue"),
        stall(7, id_=3, cause="slot", role="producer", section="prologue"),
    ).stalls  # fmt: skip
    assert stall_by_cause(found) == {("consumer", "data"): 150, ("producer", "slot"): 7}
    assert stall_by_cause(None) == {}


def test_only_one_depth_has_no_step():
    """Nothing to compare."""
    assert depth_steps([timing(2, 316.0)]) == ()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_steps_are_between_neighbouring_depths(order):
    """In the order of depth, whatever the order they come in."""
    timings = [timing(depth, 10.0) for depth in (1, 2, 4)]
    steps = depth_steps([timings[index] for index in order])
    assert [(step.left, step.right) for step in steps] == [(1, 2), (2, 4)]


def test_depth_facts_of_a_variant():
    """Versions, wait depths in program order, barriers; no registers without machine code."""
    folder = Path(__file__).parents[2] / "dumps" / "num_stages_gemm" / "gemm"
    sm_80 = depth_facts(read_facts(folder / "sm_80" / "num_stages=3"))
    assert sm_80.wait_depths == {"cp_async_wait": (2, 1, 0)}
    assert sm_80.versions == {"A_shared": 3, "B_shared": 3}
    assert (sm_80.barriers, sm_80.registers, sm_80.ctas_per_sm) == (0, None, None)
    sm_90a = depth_facts(read_facts(folder / "sm_90a" / "num_stages=3"))
    assert (sm_90a.barriers, sm_90a.wait_depths) == (6, {"wgmma_wait": (0,)})


def read_facts(folder):
    return structs.replace(read_dump(folder).result.facts, machine=None)


@pytest.mark.parametrize(
    ("left", "right", "spread", "told"),
    [
        (103.7, 103.9, 0.05, "kernel 103.7 → 103.9 µs"),  # not 104 → 104
        (103.71, 103.74, 0.01, "kernel 103.71 → 103.74 µs"),
        (356.0, 596.0, 1.0, "kernel 356 → 596 µs"),
        (103.7, 103.9, 1.0, "kernel 104 → 104 µs, no difference beyond noise"),
    ],
)
def test_a_difference_that_is_claimed_is_seen(left, right, spread, told):
    """As many decimals as tell the two apart; none more where nothing is claimed."""
    (step,) = depth_steps([timing(2, left, spread=spread), timing(3, right, spread=spread)])
    assert told in step.verdict
