"""What did the probes cost, and are the waits that they saw those of the kernel without them?

The control build has everything that probes cost indirectly (loops that are not unrolled) and no
probe, so that probed over control is the cost of the probes alone.
"""

from __future__ import annotations

from typing import Literal

from stagebench.gpu.results import is_perturbed
from stagebench.model.timing import VariantTiming
from stagebench.timing.ailments import refusals
from stagebench.timing.per_tile import damaged

Doubt = Literal["refused", "damaged", "perturbed", "cost_unknown"]
"""Why waits are not known to be the kernel's own: nothing of the probed build is used, records are
missing, probes make it another kernel, or nobody knows whether they do."""


def probe_cost(timing: VariantTiming) -> float | None:
    """Time with probes over that of the control; ``None`` where one was not measured."""
    if timing.control is None or timing.probed is None or timing.control.median_us <= 0:
        return None
    return timing.probed.median_us / timing.control.median_us


def perturbed(timing: VariantTiming) -> bool | None:
    """Whether the probed kernel is another one: its waits say nothing of the first.

    By its time, or by what the audit saw in its machine code; ``None``: not known.
    """
    if timing.audit:
        return True
    cost = probe_cost(timing)
    return None if cost is None else is_perturbed(cost)


def doubt(timing: VariantTiming) -> Doubt | None:
    """Why its waits can't be taken for the kernel's; ``None``: they can, or none were seen."""
    if "probed" in timing.refused:
        return "refused"
    if damaged(timing.stalls):
        return "damaged"
    if timing.stalls is None or not timing.stalls.sites:
        return None
    found = perturbed(timing)
    if found is None:
        return "cost_unknown"
    return "perturbed" if found else None


def why_cost_unknown(timing: VariantTiming) -> str:
    """In words: ``the control build hangs``, ``the probed build was not timed``."""
    found = dict(refusals(timing))
    for build, time in (("probed", timing.probed), ("control", timing.control)):
        if build in found:
            return f"the {build} build {found[build]}"
        if time is None:
            return f"the {build} build was not timed"
    return "the control build has no time"
