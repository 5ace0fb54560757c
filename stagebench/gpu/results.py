"""How is a variant's result put together from what was and what was not measured?"""

from __future__ import annotations

from stagebench.bundle.records import BundledVariant
from stagebench.gpu.records import BuildRun, Correctness, ProfiledVariant, RunError, Verdict

PERTURBED_ABOVE = 1.15
"""Probed over control, from which on what the probes say is not trusted as a time.

A probed kernel that is as much *faster* is another schedule of the assembler's (a clock read keeps
it from one that spills, say): its waits are not the control's either.
"""


def is_perturbed(probe_cost: float) -> bool:
    """Is the probed kernel another one than the control, slower or faster?"""
    return not 1 / PERTURBED_ABOVE <= probe_cost <= PERTURBED_ABOVE


def not_run(variant: BundledVariant, verdict: Verdict, error: RunError) -> ProfiledVariant:
    """A variant without a result."""
    return ProfiledVariant(
        id=variant.id,
        variant=variant.variant,
        correctness=Correctness(
            verdict=verdict,
            reference=None,
            runs=0,
            differing_runs=0,
            smem_poisoned=False,
            tensors=(),
        ),
        builds=(),
        control_cost=None,
        probe_cost=None,
        perturbed=None,
        probe_file=None,
        probe_metadata=None,
        error=error,
    )


def profiled(
    variant: BundledVariant,
    correctness: Correctness,
    builds: tuple[BuildRun, ...],
    probe_file: str | None,
    outputs: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ProfiledVariant:
    """A variant that ran, with what its probes cost."""
    medians = {one.kind: one.time.median_us for one in builds if one.time is not None}
    control = _ratio(medians.get("control"), medians.get("base"))
    probe = _ratio(medians.get("probed"), medians.get("control", medians.get("base")))
    return ProfiledVariant(
        id=variant.id,
        variant=variant.variant,
        correctness=correctness,
        builds=builds,
        control_cost=control,
        probe_cost=probe,
        perturbed=None if probe is None else is_perturbed(probe),
        probe_file=probe_file,
        probe_metadata=None,
        error=None,
        outputs=outputs,
        notes=notes,
    )


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None
