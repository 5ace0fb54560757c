"""Does one quantity rise or fall with another over the depths of a sweep?  Spearman, with care.

``rho`` is Pearson's correlation of the ranks, equal values sharing their mean rank.  Its interval
is Fisher's with the variance of Bonett and Wright (Psychometrika 65, 2000, "Sample size
requirements for estimating Pearson, Kendall and Spearman correlations"):
atanh(rho) ± 1.96 · √((1 + rho²/2) / (n - 3)).  At ``rho`` = ±1, where that has no
width, the inner end is that of the next value that n depths without ties can have.  The p-value is
two-sided: exact, over all orders, up to n = 8, else over 20 000 seeded random orders.  Fewer than
five depths give no rho: even a perfect order of four comes about by chance once in twelve times.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from stagebench.model.timing import Correlation, VariantTiming
from stagebench.timing.ailments import ailment
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.probe_cost import Doubt, doubt, why_cost_unknown

LEAST_DEPTHS = 5
_EXACT = 8
_SAMPLES = 20_000
_LEVEL, _Z = 0.95, 1.959964
_ROUNDING = 1e-9

_DOUBTS: Mapping[Doubt, str] = {
    "damaged": "waits not known, for the probes are damaged",
    "perturbed": "waits perturbed by the probes",
}


def correlations(timings: Sequence[VariantTiming]) -> tuple[Correlation, ...]:
    """Kernel time against depth, then every stall against kernel time; nothing without a depth.

    What is left out is `left_out`.
    """
    sound = [timing for timing in timings if not timing.bad]
    times = [None if each.base is None else each.base.median_us for each in sound]
    depths = [None if each.num_stages is None else float(each.num_stages) for each in sound]
    if all(depth is None for depth in depths):
        return ()
    by_cause = [{} if doubt(each) else stall_by_cause(each.stalls) for each in sound]
    found = [correlate("num_stages", depths, "kernel time", times)]
    for role, cause in dict.fromkeys(key for stalls in by_cause for key in stalls):
        cycles = [stalls.get((role, cause)) for stalls in by_cause]
        who = "warps" if role == "all" else f"{role}s"
        found.append(correlate(f"{who}' wait for {cause}", cycles, "kernel time", times))
    return tuple(found)


def left_out(timings: Sequence[VariantTiming]) -> dict[str, tuple[int, ...]]:
    """Depths that `correlations` does not rank, by why: wrong, hanging; the waits of others."""
    found: dict[str, list[int]] = {}
    for each in timings:
        why = _why_left_out(each)
        if why is not None and each.num_stages is not None:
            found.setdefault(why, []).append(each.num_stages)
    return {why: tuple(sorted(depths)) for why, depths in found.items()}


def _why_left_out(timing: VariantTiming) -> str | None:
    if timing.bad:
        return ailment(timing).why
    found = doubt(timing)
    if found == "refused":
        return f"waits not known, for {why_cost_unknown(timing)}"
    if found == "cost_unknown":
        return f"what the probes cost is not known, for {why_cost_unknown(timing)}"
    return None if found is None else _DOUBTS[found]


def correlate(
    left: str, a: Sequence[float | None], right: str, b: Sequence[float | None]
) -> Correlation:
    """The rank correlation of two columns over the rows in which both are known."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    n = len(pairs)
    if n < LEAST_DEPTHS:
        return _none(left, right, n, f"{_depths(n)} too few, {LEAST_DEPTHS} are needed")
    x, y = ranks([x for x, _ in pairs]), ranks([y for _, y in pairs])
    for name, column in ((left, x), (right, y)):
        if len(set(column)) == 1:
            return _none(left, right, n, f"{name} is the same at every depth")
    rho = max(-1.0, min(1.0, statistics.correlation(x, y)))
    low, high = _interval(rho, n)
    p = _p_value(x, y, rho)
    return Correlation(
        left=left,
        right=right,
        n=n,
        rho=rho,
        low=low,
        high=high,
        level=_LEVEL,
        p_value=p,
        claim=_claim(left, right, rho, low, high, p),
    )


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(values)
    first = {value: order.index(value) for value in set(values)}
    return [first[value] + (order.count(value) + 1) / 2 for value in values]


def _interval(rho: float, n: int) -> tuple[float, float]:
    perfect = abs(rho) > 1 - _ROUNDING
    inner = math.copysign(1 - 12 / (n * (n * n - 1)), rho) if perfect else rho
    half = _Z * math.sqrt((1 + inner * inner / 2) / (n - 3))
    low, high = math.tanh(math.atanh(inner) - half), math.tanh(math.atanh(inner) + half)
    if perfect:
        return (low, 1.0) if rho > 0 else (-1.0, high)
    return low, high


def _p_value(x: Sequence[float], y: Sequence[float], rho: float) -> float:
    """How often a random order of ``y`` correlates as strongly, in either direction."""
    orders: Iterable[Sequence[float]]
    if len(x) <= _EXACT:
        orders = permutations(y)
    else:
        dice = random.Random(0)  # noqa: S311 - a permutation test, and the same one every time
        orders = (dice.sample(y, len(y)) for _ in range(_SAMPLES))
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    centred = [value - mean_x for value in x]
    scale = math.sqrt(
        sum(value * value for value in centred) * sum((value - mean_y) ** 2 for value in y)
    )
    least = (abs(rho) - _ROUNDING) * scale
    total = strong = 0
    for order in orders:
        total += 1
        strong += abs(sum(map(float.__mul__, centred, order))) >= least
    if len(x) > _EXACT:  # the order that was seen is one of the possible ones
        return (strong + 1) / (total + 1)
    return strong / total


def _depths(n: int) -> str:
    return "1 depth is" if n == 1 else f"{n} depths are"


def _claim(left: str, right: str, rho: float, low: float, high: float, p: float) -> str:
    """The p-value says whether there is a relation, the interval whether its strength is known."""
    if p >= 1 - _LEVEL:
        return "nothing can be claimed: it may be chance"
    relation = f"{right} {'rises' if rho > 0 else 'falls'} as {left} rises"
    if low > 0 or high < 0:
        return relation
    return f"{relation}; too few depths to say how strongly"


def _none(left: str, right: str, n: int, claim: str) -> Correlation:
    return Correlation(
        left=left, right=right, n=n, rho=None, low=None, high=None, level=_LEVEL, p_value=None,
        claim=claim,
    )  # fmt: skip
