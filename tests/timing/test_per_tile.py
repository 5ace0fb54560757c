"""Are cycles per tile what they are called, for waits in the loop and outside of it?"""

import pytest
from msgspec import structs

from stagebench.model.timing import Stalls
from stagebench.timing.correlate import depth_steps
from stagebench.timing.per_tile import stall_by_cause
from tests.timing.building import stall, timing


def several(*found):
    return stall_by_cause(Stalls(sites=found, roles=(), read_cycles=20.0, problems=()))


def test_a_wait_before_the_loop_is_shared_out_over_the_tiles():
    """29 cycles once in a kernel of 64 tiles are half a cycle per tile, not 29."""
    found = several(
        stall(100, executions=4 * 64),
        stall(29, cause="barrier", role="all", section="prologue", executions=4),
        stall(53, cause="other", section="prologue", executions=4),
    )
    assert found["consumer", "data"] == pytest.approx(100)
    assert found["all", "barrier"] == pytest.approx(29 / 64)
    assert found["consumer", "other"] == pytest.approx(53 / 64)


def test_two_waits_of_a_tile_add_up():
    """Also where one of them is not executed in every trip."""
    found = several(stall(10, executions=4 * 64, id_=0), stall(20, executions=4 * 32, id_=1))
    assert found["consumer", "data"] == pytest.approx(10 + 20 / 2)


def test_one_more_copy_of_a_wait_is_no_more_tiles():
    """Attention waits for its first K before the loop by the statement that is in the loop too."""
    found = several(
        stall(474, cause="compute", executions=4 * 32, id_=0),
        stall(412, cause="compute", executions=4 * 32, id_=1),
        stall(102, executions=4 * 33, id_=2),
        stall(46, executions=4 * 32, id_=3),
    )
    assert found["consumer", "compute"] == pytest.approx(474 + 412)
    assert found["consumer", "data"] == pytest.approx(102 * 33 / 32 + 46)


def test_two_waits_that_differ_are_told_by_the_other_roles():
    """Of one role's 33 and 32 the producers' 32 is the number of tiles."""
    found = several(
        stall(10, executions=4 * 33, id_=0),
        stall(20, executions=4 * 32, id_=1),
        stall(30, cause="slot", role="producer", executions=4 * 32, id_=2),
    )
    assert found["consumer", "data"] == pytest.approx(10 * 33 / 32 + 20)


def test_roles_of_different_size():
    """Two producer warps beside eight consumers: cycles of one warp, by its own trips."""
    producer = structs.replace(stall(50, cause="slot", role="producer", executions=2 * 64), warps=2)
    consumer = structs.replace(stall(100, executions=8 * 64), warps=8)
    both = structs.replace(
        stall(30, cause="barrier", role="all", section="prologue", executions=10), warps=10
    )
    found = several(producer, consumer, both)
    assert found["producer", "slot"] == pytest.approx(50)
    assert found["consumer", "data"] == pytest.approx(100)
    assert found["all", "barrier"] == pytest.approx(30 / 64)


def test_without_sections_the_commonest_wait_tells_the_tiles():
    """As in a kernel without an IR."""
    found = several(
        stall(100, role="all", section=None, executions=4 * 64),
        stall(29, cause="barrier", role="all", section=None, executions=4),
    )
    assert found["all", "data"] == pytest.approx(100)
    assert found["all", "barrier"] == pytest.approx(29 / 64)


def test_a_new_wait_is_told_and_a_part_of_a_cycle_is_not():
    """Plain copies to a producer: what consumers wait for now is the news, not the barrier."""
    (step,) = depth_steps(
        [
            timing(0, 356.0, stall(4, cause="barrier", role="all", executions=4 * 64)),
            timing(
                1, 596.0, stall(1439, executions=4 * 64),
                stall(29, cause="barrier", role="all", section="prologue", executions=4),
            ),
        ]
    )  # fmt: skip
    assert "consumers now wait: 1439 cycles per tile" in step.verdict
    assert "warps wait at barriers 4 → 0 cycles per tile" in step.verdict
    (back,) = depth_steps(
        [timing(1, 10.0, stall(50)), timing(2, 9.0, stall(50, cause="slot", role="producer"))]
    )
    assert "consumers no longer wait: 50 cycles per tile before" in back.verdict


def test_a_depth_that_was_not_probed_has_no_news():
    """Nothing was looked at there: that is no wait that ended."""
    bare = structs.replace(timing(2, 9.0), stalls=None)
    (step,) = depth_steps([timing(1, 10.0, stall(50)), bare])
    assert step.stalls == ()
    assert "wait" not in step.verdict
