"""Is rho Spearman's, is its interval sound, and is nothing claimed of too little?"""

import pytest

from stagebench.timing.rank_correlation import correlate, correlations, left_out, ranks
from tests.timing.building import broken, probed_at, stall, timing, without


def test_ranks_share_ties():
    """Equal values share the mean of their ranks."""
    assert ranks([10, 30, 20, 20]) == [1, 4, 2.5, 2.5]


def test_a_known_value():
    """The example of Kendall's book on ranks (mathematics and music): rho = -29/165, p ≈ 0.63."""
    iq = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110]
    tv = [7, 0, 27, 50, 28, 29, 20, 12, 6, 17]
    found = correlate("iq", iq, "tv", tv)
    assert found.n == 10
    assert found.rho == pytest.approx(-29 / 165)
    assert found.p_value == pytest.approx(0.63, abs=0.02)
    assert found.low < found.rho < found.high
    assert found.claim == "nothing can be claimed: it may be chance"


def test_a_perfect_order_of_five():
    """2 of the 120 orders are as strong; the interval has width though Fisher's would have none."""
    found = correlate("num_stages", [0, 1, 2, 3, 4], "kernel time", [9, 8, 7, 5, 1])
    assert found.rho == -1
    assert found.p_value == pytest.approx(2 / 120)
    assert found.low == -1
    assert 0 < found.high < 0.2  # five depths are too few to bound it away from 0
    assert found.claim == (
        "kernel time falls as num_stages rises; too few depths to say how strongly"
    )


def test_a_perfect_order_of_eight():
    """Enough to bound it: no reservation."""
    found = correlate("a", list(range(8)), "b", list(range(8)))
    assert found.low == pytest.approx(0.832, abs=0.02)
    assert found.high == 1
    assert found.claim == "b rises as a rises"


def test_four_depths_are_too_few():
    """A perfect order of four is chance once in twelve: no number, and why."""
    found = correlate("a", [1, 2, 3, 4], "b", [1, 2, 3, 4])
    assert (found.n, found.rho, found.low, found.p_value) == (4, None, None, None)
    assert found.claim == "4 depths are too few, 5 are needed"


def test_only_rows_that_have_both_count():
    """Six depths of which two are not known are four."""
    found = correlate("a", [1, 2, None, 4, 5, 6], "b", [1, 2, 3, 4, None, 6])
    assert (found.n, found.rho) == (4, None)


def test_a_quantity_that_does_not_vary():
    """No rank, no correlation; not zero."""
    found = correlate("a", [1, 1, 1, 1, 1], "b", [1, 2, 3, 4, 5])
    assert found.rho is None
    assert found.claim == "a is the same at every depth"


def test_ties_up_to_rounding_are_as_strong():
    """An exact test over orders must not lose the seen order to rounding."""
    values = [0.1 + 0.2, 0.3, 0.7, 0.9, 1.1, 1.3, 1.7, 1.9]
    assert correlate("a", values, "b", values).p_value <= 2 * 2 / 40320


def test_a_sweep():
    """Kernel time against depth and against every stall; a wrong depth is left out."""
    timings = [
        timing(depth, us, stall(wait), correct=depth != 6)
        for depth, us, wait in [
            (1, 580, 1419), (2, 316, 450), (3, 243, 120), (4, 232, 89), (5, 230, 80), (6, 1, 9_999),
        ]
    ]  # fmt: skip
    depth, data = correlations(timings)
    assert (depth.left, depth.right, depth.n, depth.rho) == ("num_stages", "kernel time", 5, -1)
    assert (data.left, data.rho) == ("consumers' wait for data", 1)
    assert left_out(timings) == {"output wrong": (6,)}
    assert data.claim.startswith("kernel time rises as consumers' wait for data rises;")


def test_the_same_every_time():
    """Above eight depths orders are sampled, with a fixed seed."""
    a, b = list(range(12)), [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    assert correlate("a", a, "b", b) == correlate("a", a, "b", b)


def test_waits_that_can_t_be_trusted_are_not_ranked():
    """Perturbed by the probes, or their records damaged: the time of the depth counts still."""
    timings = [timing(depth, 900 - depth, stall(100 * depth)) for depth in range(1, 8)]
    timings[0], timings[6] = probed_at(timings[0], 1.3), broken(timings[6])
    time, data = correlations(timings)
    assert (time.n, data.n) == (7, 5)
    assert left_out(timings) == {
        "waits perturbed by the probes": (1,),
        "waits not known, for the probes are damaged": (7,),
    }


def test_waits_of_which_nobody_knows_the_cost_are_not_ranked():
    """No control, no cost, or no probed build at all: left out, and why; the time counts still."""
    timings = [timing(depth, 900 - depth, stall(100 * depth)) for depth in range(1, 9)]
    timings[1] = without(timings[1], "control", "hangs")
    timings[2] = without(timings[2], "control")
    timings[3] = without(timings[3], "probed", "other_bits")
    time, data = correlations(timings)
    assert (time.n, data.n) == (8, 5)
    assert left_out(timings) == {
        "what the probes cost is not known, for the control build hangs": (2,),
        "what the probes cost is not known, for the control build was not timed": (3,),
        "waits not known, for the probed build computes other bits": (4,),
    }
