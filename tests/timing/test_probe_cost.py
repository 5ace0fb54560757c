"""When do the probes make another kernel, and who says so?"""

import pytest
from msgspec import structs

from stagebench.report.profile_rows import depth_rows
from stagebench.timing.correlate import depth_steps
from stagebench.timing.probe_cost import perturbed, probe_cost
from stagebench.timing.rank_correlation import correlations
from tests.timing.building import measured, stall, timing, without


def probed(depth, us, ratio, *found):
    return structs.replace(
        timing(depth, us, *found), control=measured(100.0), probed=measured(100.0 * ratio)
    )


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(1.02, False), (1.15, False), (1.16, True), (0.88, False), (0.86, True)],
)
def test_the_limit(ratio, expected):
    """1.15 × the control is the most, and as much faster is another schedule too."""
    found = probed(2, 10.0, ratio)
    assert perturbed(found) is expected
    assert probe_cost(found) == pytest.approx(ratio)


def test_not_measured_is_not_known():
    """Without a control there is no cost, and none is shown."""
    bare = timing(2, 10.0)
    assert probe_cost(bare) is None
    assert perturbed(bare) is None
    assert "probes cost" not in [row[0] for row in depth_rows([bare])]


def test_the_verdict_and_the_table_say_so():
    """The step names the depth whose waits are another kernel's."""
    timings = [probed(2, 316.0, 1.02, stall(450)), probed(3, 243.0, 1.30, stall(120))]
    (step,) = depth_steps(timings)
    assert "probes slow 3 down ×1.30, so that its waits are perturbed" in step.verdict
    assert ("probes cost", "×1.02", "×1.30 perturbed") in depth_rows(timings)


def test_a_cost_that_nobody_knows_is_no_cost_of_nothing():
    """With the control build refused, what was waited may be the probes' own doing: it is said."""
    timings = [probed(2, 316.0, 1.02, stall(450)), probed(3, 243.0, 1.02, stall(120))]
    timings[1] = without(timings[1], "control", "other_bits")
    (step,) = depth_steps(timings)
    told = "waits of 3 may be perturbed, for the control build computes other bits"
    assert told in step.verdict
    assert ("probes cost", "×1.02", "– (control computes other bits)") in depth_rows(timings)
    alone = without(timings[0], "control")
    assert ("probes cost", "– (the control build was not timed)") in depth_rows([alone])


def test_a_faster_probed_kernel_is_told_as_another_one():
    """As attention at depth 0 on a Hopper GPU, where clock reads avoid a schedule that spills."""
    (step,) = depth_steps([probed(0, 1058.0, 0.81), probed(1, 903.0, 1.01)])
    assert "probed, 0 is another schedule (×0.81): waits are perturbed" in step.verdict


def test_perturbed_stalls_do_not_correlate():
    """Kernel time keeps all five depths; the stalls of the perturbed one are left out."""
    timings = [
        probed(depth, 100.0 - depth, 1.5 if depth == 4 else 1.0, stall(50 - depth))
        for depth in range(5)
    ]
    depth, data = correlations(timings)
    assert (depth.n, data.n, data.rho) == (5, 4, None)
