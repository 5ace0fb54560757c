"""Does the buffer that a probed kernel writes decode to exactly what the walk predicts?"""

from __future__ import annotations

import numpy as np
import pytest

from stagebench.probe.plan import plan_probes
from stagebench.timing.decode import decode
from stagebench.timing.stalls import stalls
from tests.probe.image import Machine
from tests.probe.texts import LOOP, ROLES, SPIN, kernel, launch, layout_of


def _run(body, *, block=(64, 1, 1), grid=(2, 1, 1), max_ctas=64):
    plan, placed = plan_probes(kernel(body), launch(block, grid), max_ctas=max_ctas)
    layout = layout_of(plan.metadata, block, grid)
    return plan, decode(Machine(placed.probed.text, "k", layout).run(), plan.metadata)


def _counts(run, metadata):
    """Records by site, then by lane."""
    return [
        [int(np.sum((run.site == site.id) & (run.lane == lane))) for lane in range(len(run.cta))]
        for site in metadata.sites
    ]


@pytest.mark.parametrize(
    ("body", "block", "grid", "expected"),
    [
        (LOOP, (64, 1, 1), (2, 1, 1), [(5, 5), (5, 5), (1, 1)]),
        (SPIN, (64, 1, 1), (2, 1, 1), [(1, 1)]),
        (ROLES, (64, 1, 1), (2, 1, 1), [(1, 1), (0, 3), (1, 0)]),
        (ROLES, (8, 4, 2), (2, 2, 2), [(1, 1), (0, 0), (1, 1)]),
        (LOOP, (40, 1, 1), (3, 1, 1), [(5, 5), (5, 5), (1, 1)]),
    ],
    ids=["loop", "spin", "roles", "block of three dimensions", "half a warp"],
)
def test_counts(body, block, grid, expected):
    """Records of each site and warp are as predicted, nothing is wrong, nothing dropped."""
    plan, run = _run(body, block=block, grid=grid)
    ctas = grid[0] * grid[1] * grid[2]

    assert run.problems == ()
    assert [site.predicted for site in plan.metadata.sites] == expected
    assert _counts(run, plan.metadata) == [list(each) * ctas for each in expected]
    assert run.complete.all()
    assert len(run.calibration) == len(run.cta) == ctas * plan.metadata.warps_per_cta
    assert stalls(run, plan.metadata).problems == ()


def test_cap_is_exact():
    """A warp has room for its records and its calibration, and not for one more."""
    plan, _ = _run(LOOP)

    assert (plan.cap_from, plan.metadata.cap) == ("prediction", 7)
    assert plan.metadata.pairs == (0,)  # the loop's two waits share five records
    assert plan.predicted_records == ((7, 7),)
    assert plan.metadata.buffer_bytes == 2 * 2 * (64 + 16 * 7)


def test_stall_is_the_wait():
    """A record's cycles are those of the wait between the two reads."""
    _, run = _run(SPIN)

    assert set(run.cycles.tolist()) == {108}  # the poll, the branch out of the spin, the read
    assert set(run.calibration.tolist()) == {4}


def test_sampling():
    """Of nine CTAs every third is recorded, in lanes of its own."""
    plan, run = _run(LOOP, grid=(3, 3, 1), max_ctas=3)

    assert (plan.metadata.sampled_ctas, plan.metadata.cta_step) == (3, 3)
    assert run.problems == ()
    assert run.cta.tolist() == [0, 0, 3, 3, 6, 6]


GUARDED = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, %tid.x;
\tsetp.lt.u32 %p1, %r1, 32;
\t@%p1 bar.sync 1, 32;
\t@!%p1 bar.sync 2, 32;
\tbar.sync 0;
\tret;
"""


def test_guarded_waits():
    """A wait that its guard leaves out writes no record and counts none."""
    plan, run = _run(GUARDED)

    assert [site.predicted for site in plan.metadata.sites] == [(1, 0), (0, 1), (1, 1)]
    assert run.problems == ()
    assert _counts(run, plan.metadata) == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]]


OWN_GUARD = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tsetp.ne.u32 %p1, 1, 2;
\t@%p1 barrier.cta.red.and.pred.aligned %p1, 0, !%p1;
\tret;
"""


def test_wait_changes_its_guard():
    """Whether the wait was executed is what its guard said before it."""
    plan, placed = plan_probes(kernel(OWN_GUARD), launch())

    lines = [line.strip() for line in placed.probed.text.split("\n")]
    wait = lines.index("@%p1 barrier.cta.red.and.pred.aligned %p1, 0, !%p1;")
    assert lines.index("mov.pred %sb_probe_guard, %p1;") < wait
    assert [site.predicted for site in plan.metadata.sites] == [(1, 1)]


EARLY = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, %tid.x;
\tsetp.lt.u32 %p1, %r1, 32;
\tcp.async.wait_all;
\t@%p1 ret;
\tbar.sync 1, 32;
\texit;
"""


def test_early_exit():
    """A warp that leaves early has its exit and the records until then; the other has all."""
    plan, run = _run(EARLY)

    assert [site.predicted for site in plan.metadata.sites] == [(1, 1), (0, 1)]
    assert run.problems == ()
    assert run.finished.all()
    assert _counts(run, plan.metadata) == [[1, 1, 1, 1], [0, 1, 0, 1]]


def test_trap():
    """A warp that traps has its records and no exit, and that is said."""
    body = EARLY.replace("@%p1 ret;", "@%p1 trap;")
    plan, run = _run(body)

    assert [problem.kind for problem in run.problems] == ["no_exit"] * 2
    assert run.finished.tolist() == [False, True, False, True]
    assert _counts(run, plan.metadata)[0] == [1, 1, 1, 1]


CTA_LOOP = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\tmov.u32 %r1, 0;
\tmov.u32 %r2, %ctaid.x;
$L_loop:
\tbar.sync 0;
\tadd.s32 %r1, %r1, 1;
\tsetp.le.u32 %p1, %r1, %r2;
\t@%p1 bra $L_loop;
\tret;
"""


def test_ctas_differ():
    """Where CTAs execute different counts the site has none, each CTA its own, and all fits."""
    plan, run = _run(CTA_LOOP, grid=(3, 1, 1))

    assert [site.predicted for site in plan.metadata.sites] == [None]
    assert plan.predicted_records == ((2, 2), (3, 3), (4, 4))
    assert plan.metadata.cap == 4
    assert run.problems == ()
    assert _counts(run, plan.metadata) == [[1, 1, 2, 2, 3, 3]]


DATA = """\
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\t.reg .b64 %rd<2>;
\tld.global.u32 %r1, [%rd1];
$L_loop:
\tbar.sync 0;
\tsub.s32 %r1, %r1, 1;
\tsetp.gt.s32 %p1, %r1, 0;
\t@%p1 bra $L_loop;
\tret;
"""


def test_not_predicted():
    """A loop over data is not predicted, and says so; its room follows from the budget."""
    plan, _ = plan_probes(kernel(DATA), launch(), budget_bytes=4 * (64 + 16 * 9))

    assert plan.cap_from == "budget"
    assert plan.metadata.cap == 9
    assert [site.predicted for site in plan.metadata.sites] == [None]
    assert plan.predicted_records == ((None, None),)
    assert plan.not_predicted == ("PTX line 15: a branch that depends on data",)


def test_scalar():
    """A loop over a scalar argument is predicted from the value that is given."""
    body = DATA.replace("ld.global.u32 %r1, [%rd1]", "ld.param.u32 %r1, [n]")
    ptx = kernel(body, params=".param .u32 n")

    plan, _ = plan_probes(ptx, launch(params=("extent",)), scalars={"extent": 7})

    assert [site.predicted for site in plan.metadata.sites] == [(7, 7)]


def test_drops():
    """A buffer too small keeps the first records and counts all."""
    plan, placed = plan_probes(kernel(LOOP), launch(), budget_bytes=4 * (64 + 16 * 3))
    layout = layout_of(plan.metadata, (64, 1, 1), (2, 1, 1))
    run = decode(Machine(placed.probed.text, "k", layout).run(), plan.metadata)

    assert plan.cap_from == "budget"
    assert plan.predicted_records == ((7, 7),)
    assert [(one.kind, one.count) for one in run.problems] == [("dropped", 4)] * 4
    assert run.site.tolist() == [0, 1, 0, 1] * 4


ROW = """\
\t.reg .b32 %r<4>;
\tmov.u32 %r1, %tid.x;
\tcp.async.wait_group 0;
\tbar.sync 0;
\tbar.sync 1;
\tmov.u32 %r2, %r1;
\tbar.sync 2;
\tbar.sync 3;
\tret;
"""


def test_waits_in_a_row():
    """Three in a row are a pair and one; the next two, with work before them, are another pair."""
    plan, run = _run(ROW)

    assert plan.metadata.pairs == (0, 3)
    assert plan.predicted_records == ((4, 4),)
    assert run.problems == ()
    assert run.site.tolist() == [0, 1, 2, 3, 4] * 4
    ends, starts = (run.start + run.cycles).reshape(4, 5), run.start.reshape(4, 5)
    assert (ends[:, [0, 1, 3]] == starts[:, [1, 2, 4]]).all()  # they share the read between them
    assert (ends[:, 2] < starts[:, 3]).all()


@pytest.mark.parametrize("room", [1, 2, 3])
def test_a_row_that_does_not_fit(room):
    """Of the two records of a run those are kept that there is room for; all are counted."""
    plan, placed = plan_probes(kernel(ROW), launch(), budget_bytes=4 * (64 + 16 * room))
    layout = layout_of(plan.metadata, (64, 1, 1), (2, 1, 1))
    run = decode(Machine(placed.probed.text, "k", layout).run(), plan.metadata)

    assert [(one.kind, one.count) for one in run.problems] == [("dropped", 4 - room)] * 4
    assert run.site.tolist() == {1: [], 2: [0, 1], 3: [0, 1, 2]}[room] * 4
