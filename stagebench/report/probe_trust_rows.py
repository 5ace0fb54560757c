"""Which waits of a sweep count for nothing, and why?  Said even where no site is shown."""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.model.timing import VariantTiming
from stagebench.report import identity, quantities
from stagebench.report.profile_rows import problem_lines
from stagebench.timing.rank_correlation import left_out


def damage_lines(timings: Sequence[VariantTiming]) -> tuple[str, ...]:
    """One line for each depth whose probes are damaged: how many problems, and which."""
    lines = []
    for timing in timings:
        problems = () if timing.stalls is None else timing.stalls.problems
        if problems:
            depth = timing.num_stages
            which = identity.AS_WRITTEN if depth is None else f"depth {depth}"
            many = quantities.count(len(problems), "problem")
            told = "; ".join(problem_lines(problems))
            lines.append(f"{many} in the probes of {which}, whose waits are left out: {told}")
    return tuple(lines)


def unranked_depths(timings: Sequence[VariantTiming]) -> tuple[str, ...]:
    """Which depths the rank correlations leave out: a line for each reason."""
    return tuple(
        f"not ranked: {'depth' if len(depths) == 1 else 'depths'} "
        f"{', '.join(map(str, depths))} ({why})"
        for why, depths in left_out(timings).items()
    )
