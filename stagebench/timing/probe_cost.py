"""What did the probes cost, and are the waits that they saw those of the kernel without them?

The control build has everything that probes cost indirectly (loops that are not unrolled) and no
probe, so that probed over control is the cost of the probes alone.
"""

from __future__ import annotations

from stagebench.gpu.results import is_perturbed
from stagebench.model.timing import VariantTiming


def probe_cost(timing: VariantTiming) -> float | None:
    """Time with probes over that of the control; ``None`` where one was not measured."""
    if timing.control is None or timing.probed is None or timing.control.median_us <= 0:
        return None
    return timing.probed.median_us / timing.control.median_us


def perturbed(timing: VariantTiming) -> bool | None:
    """Whether the probed kernel is another one: its waits say nothing of the first.

    By its time, or by what the audit saw in its machine code.
    """
    if timing.audit:
        return True
    cost = probe_cost(timing)
    return None if cost is None else is_perturbed(cost)
