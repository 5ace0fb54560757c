"""Is the interval of a median the textbook's?"""

import pytest

from stagebench.gpu.statistics import interval_rank, measurement


@pytest.mark.parametrize(
    ("runs", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (25, 8), (50, 18), (100, 40)]
)
def test_ranks(runs, rank):
    """The ranks of the 95 % sign-test interval as tables print them."""
    assert interval_rank(runs) == (rank, 0.95)


def test_few_runs_give_less():
    """With five runs the extremes enclose the median with 93.75 %, and that is what is said."""
    assert interval_rank(5) == (1, 0.9375)
    assert interval_rank(1) == (1, 0.0)


def test_a_measurement_by_value():
    """Median and order statistics, in whatever order the times came."""
    found = measurement([float(t) for t in (3, 1, 10, 2, 9, 5, 4, 8, 7, 6)])
    assert (found.median_us, found.low_us, found.high_us) == (5.5, 2.0, 9.0)
    assert (found.runs, found.level) == (10, 0.95)


def test_an_outlier_does_not_move_it():
    """One slow run changes neither the median nor the interval."""
    times = [float(t) for t in range(20)]
    slow = [*times[:-1], 1e6]
    assert measurement(slow) == measurement(times)


def test_no_time():
    """Nothing measured is no measurement."""
    with pytest.raises(ValueError, match="no time"):
        measurement([])
