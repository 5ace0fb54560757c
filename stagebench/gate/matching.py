"""Which baseline belongs to which variant?  By its place, else by what it is.

A kernel whose file or function was renamed keeps its baselines: a variant without one takes the
only unclaimed baseline that is the same but for the kernel's name.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.gate.baselines import Baseline
from stagebench.gate.judge import same_but_kernel
from stagebench.model import VariantResult


def match_baselines(
    names: Sequence[str], results: Sequence[VariantResult], baselines: Sequence[Baseline]
) -> list[Baseline | None]:
    """The baseline of each variant; ``names`` are the folders where they should be."""
    by_name = {baseline.name: baseline for baseline in baselines}
    found: list[Baseline | None] = [by_name.get(name) for name in names]
    free = [b for b in baselines if not any(b is taken for taken in found)]
    for same_kernel in (True, False):
        for index, result in enumerate(results):
            if found[index] is not None or not free:
                continue
            alike = [b for b in free if _alike(b, result, same_kernel=same_kernel)]
            rivals = [
                other
                for other, theirs in enumerate(results)
                if found[other] is None and _alike(alike[0], theirs, same_kernel=same_kernel)
            ] if alike else []  # fmt: skip
            if len(alike) == len(rivals) == 1:
                found[index] = alike[0]
                free.remove(alike[0])
    return found


def _alike(baseline: Baseline, result: VariantResult, *, same_kernel: bool) -> bool:
    theirs = baseline.dump.result.variant
    kernel = theirs.kernel == result.variant.kernel or not same_kernel
    return kernel and same_but_kernel(theirs, result.variant)
