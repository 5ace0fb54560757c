"""How well is a median known?  A confidence interval from order statistics, for any distribution.

The k-th smallest and the k-th largest of n times enclose the median with probability
``1 − 2·P(Bin(n, ½) < k)`` (David and Nagaraja, Order Statistics, 7.1): no normality, no resampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median

from stagebench.model.timing import Measurement

LEVEL = 0.95


def measurement(times_us: Sequence[float]) -> Measurement:
    """Median and interval; ``level`` is `LEVEL`, or what so few runs can give if that is less."""
    ordered = sorted(times_us)
    rank, level = interval_rank(len(ordered))
    return Measurement(
        median_us=median(ordered),
        low_us=ordered[rank - 1],
        high_us=ordered[-rank],
        runs=len(ordered),
        level=level,
    )


def interval_rank(runs: int) -> tuple[int, float]:
    """The largest k (from 1) whose interval has at least `LEVEL`; ``(1, less)`` for few runs."""
    if runs < 1:
        raise ValueError("no time was measured")
    below = 0.0
    rank = 0
    for k in range(1, runs // 2 + 1):
        below += comb(runs, k - 1) / 2**runs  # P(Bin(runs, 1/2) < k)
        if 1 - 2 * below < LEVEL:
            break
        rank = k
    if rank == 0:
        return 1, max(0.0, 1 - 2 / 2**runs)
    return rank, LEVEL
