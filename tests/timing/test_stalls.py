"""Who waited where, for what, and how long?  By value, on buffers of a few records."""

import pytest

from stagebench.timing.decode import decode
from stagebench.timing.stalls import cause, stalls
from tests.timing.building import lane, metadata, site

FULL = site(0, barrier_kind="full", predicted=(0, 3))
EMPTY = site(1, barrier_kind="empty", role="producer", predicted=(2, 0))
WGMMA = site(2, op="wgmma_wait", args={"max_pending": 0}, predicted=(0, 3))
EXIT = site(3, op="syncthreads", role="all", section="epilogue", predicted=(1, 1))
SITES = (FULL, EMPTY, WGMMA, EXIT)
META = metadata(SITES)

PRODUCER = lane([(1, 100, 50), (1, 400, 150), (3, 9_000, 1_000)], calibration=4)
CONSUMER = lane(
    [(0, 200, 300), (2, 600, 100), (0, 800, 200), (2, 1_100, 50), (0, 1_200, 100),
     (2, 2_000, 500), (3, 9_990, 10)],
    warp=1, calibration=4,
)  # fmt: skip


def read(data, meta=META):
    return stalls(decode(data, meta), meta)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"op": "mbarrier_wait", "barrier_kind": "full"}, "data"),
        ({"op": "mbarrier_wait", "barrier_kind": "empty"}, "slot"),
        ({"op": "mbarrier_wait", "barrier_kind": "other"}, "other"),
        ({"op": "mbarrier_wait", "barrier_kind": None}, "other"),
        ({"op": "cp_async_wait"}, "data"),
        ({"op": "wgmma_wait"}, "compute"),
        ({"op": "tcgen05_wait"}, "compute"),
        ({"op": "syncthreads"}, "barrier"),
        ({"op": "partial_barrier"}, "barrier"),
        ({"op": "cluster_wait"}, "barrier"),
        ({"op": "cluster_sync"}, "barrier"),
        ({"op": "tma_store_wait"}, "other"),
        ({"op": "unknown:new_wait", "barrier_kind": "full"}, "other"),
    ],
)
def test_causes(changed, expected):
    """What is waited for follows from the op and the mbarrier's use; nothing is guessed."""
    assert cause(site(0, **changed)) == expected


def test_stalls_by_site():
    """Counts, percentiles and shares of one statement; the worst comes first."""
    found = read(PRODUCER + CONSUMER)
    assert [stall.site.id for stall in found.sites] == [3, 2, 0, 1]
    full = found.sites[2]
    assert (full.cause, full.executions, full.predicted, full.warps) == ("data", 3, 3, 1)
    assert (full.mean_cycles, full.p50_cycles, full.p95_cycles) == (200.0, 200.0, 290.0)
    assert (full.max_cycles, full.total_cycles) == (300, 600)
    assert full.share == 600 / 10_000
    assert found.sites[0].share == 1_010 / 20_000  # of both warps
    assert found.read_cycles == 20.0
    assert found.problems == ()


def test_time_by_role():
    """Busy is what no wait took; prologue and epilogue lie outside the body's records."""
    producer, consumer = read(PRODUCER + CONSUMER).roles
    assert (producer.role, producer.warps, consumer.role) == ("producer", 1, "consumer")
    assert producer.whole.cycles == 10_000
    assert producer.whole.busy_cycles == 10_000 - 200 - 1_000
    assert producer.whole.stall_cycles == {
        "data": 0, "slot": 200, "compute": 0, "barrier": 1_000, "other": 0,
    }  # fmt: skip
    prologue, body, epilogue = consumer.sections
    assert [part.cycles for part in consumer.sections] == [200, 2_300, 7_500]
    assert (prologue.busy_cycles, body.busy_cycles, epilogue.busy_cycles) == (200, 1_050, 7_490)
    assert body.stall_cycles["data"] == 600
    assert body.stall_cycles["compute"] == 650
    assert epilogue.stall_cycles["barrier"] == 10
    assert sum(part.cycles for part in consumer.sections) == consumer.whole.cycles


def test_a_role_without_a_site_of_the_body_has_no_sections():
    """Not known is not zero."""
    meta = metadata((site(0, op="cp_async_wait", section=None),), roles=("all",))
    (role,) = read(lane([(0, 100, 50)], calibration=1), meta).roles
    assert role.sections == ()
    assert role.whole.stall_cycles["data"] == 50


def test_copies_of_one_statement_are_one():
    """Two PTX copies of a CUDA line add up, with their predictions; another line does not."""
    sites = (
        site(0, cuda_line=62, line=47, name="a [1/2]", copies=2, predicted=(2,)),
        site(1, cuda_line=62, line=47, name="a [2/2]", copy=1, copies=2, predicted=(1,)),
        site(2, cuda_line=63, line=47, predicted=(1,)),
    )
    meta = metadata(sites, roles=("all",))
    data = lane([(0, 100, 10), (1, 200, 20), (0, 300, 30), (2, 400, 5)], calibration=3)
    found = read(data, meta)
    assert [(s.site.id, s.executions, s.predicted, s.total_cycles) for s in found.sites] == [
        (0, 3, 3, 60),
        (2, 1, 1, 5),
    ]
    assert found.problems == ()


def test_sites_without_a_cuda_line_stand_alone():
    """Two unknown lines are not one statement."""
    sites = tuple(site(i, cuda_line=None, line=None, name="x") for i in (0, 1))
    meta = metadata(sites, roles=("all",))
    found = read(lane([(0, 100, 10), (1, 200, 20)], calibration=2), meta)
    assert [stall.executions for stall in found.sites] == [1, 1]


def test_other_counts_than_predicted_are_a_problem():
    """One execution too few: the site, the warp, both numbers."""
    short = lane([(1, 100, 50), (3, 9_000, 1_000)], calibration=4)
    (problem,) = read(short + CONSUMER).problems
    assert (problem.kind, problem.cta, problem.warp, problem.count) == ("count_mismatch", 0, 0, 1)
    assert problem.message == "site 1: 1 executions recorded, 2 predicted"


def test_a_site_that_never_ran_though_predicted_is_a_problem():
    """No record at all is a mismatch, not an absent row."""
    found = read(lane([(3, 9_000, 1_000)], calibration=4) + CONSUMER)
    assert "site 1: 0 executions recorded, 2 predicted" in [p.message for p in found.problems]
    assert 1 not in [stall.site.id for stall in found.sites]


def test_unknown_predictions_are_not_compared():
    """``None`` for a warp, or for the site, is no prediction of zero."""
    sites = (site(0, predicted=(None,)), site(1, predicted=None))
    meta = metadata(sites, roles=("all",))
    found = read(lane([(0, 100, 10), (1, 200, 10)], calibration=2), meta)
    assert [stall.predicted for stall in found.sites] == [None, None]
    assert found.problems == ()


def test_lanes_that_dropped_records_do_not_count_as_time():
    """Their records are shown; shares and roles come from complete lanes, or are not known."""
    waits = [(1, 100 * k, 10) for k in range(1, 12)]
    found = read(lane(waits, calibration=4) + CONSUMER)
    assert [role.role for role in found.roles] == ["consumer"]
    slot = next(stall for stall in found.sites if stall.cause == "slot")
    assert (slot.executions, slot.predicted, slot.share) == (7, 2, None)
    assert [problem.kind for problem in found.problems] == ["dropped"]


def test_an_empty_buffer():
    """Nothing is known, and it is said."""
    found = read(b"")
    assert (found.sites, found.roles, found.read_cycles) == ((), (), None)
    assert [problem.kind for problem in found.problems] == ["truncated"]


def test_a_kernel_without_a_wait():
    """Every warp still writes its calibration: no site, all of its time busy."""
    meta = metadata((), roles=("all",))
    found = read(lane([], calibration=0), meta)
    assert (found.sites, found.problems, found.read_cycles) == ((), (), 20.0)
    assert [(role.role, role.whole.busy_cycles) for role in found.roles] == [("all", 10_000)]
