"""How is a variant's result put together from what was and what was not measured?"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from stagebench.bundle.records import CUBIN_KINDS, BundledVariant, CubinKind
from stagebench.gpu.records import BuildRun, Correctness, ProfiledVariant, RunError
from stagebench.model.timing import BAD, Verdict

PERTURBED_ABOVE = 1.15
"""Probed over control, from which on what the probes say is not trusted as a time.

A probed kernel that is as much *faster* is another schedule of the assembler's (a clock read keeps
it from one that spills, say): its waits are not the control's either.
"""


def is_perturbed(probe_cost: float) -> bool:
    """Is the probed kernel another one than the control, slower or faster?"""
    return not 1 / PERTURBED_ABOVE <= probe_cost <= PERTURBED_ABOVE


def not_run(variant: BundledVariant, verdict: Verdict, error: RunError) -> ProfiledVariant:
    """A variant of which nothing was measured."""
    nothing = Correctness(
        verdict=verdict,
        reference=None,
        runs=0,
        differing_runs=0,
        smem_poisoned=False,
        tensors=(),
    )
    return msgspec.structs.replace(profiled(variant, nothing, (), None), error=error)


def ended(
    variant: BundledVariant, found: ProfiledVariant | None, error: RunError
) -> ProfiledVariant:
    """A variant whose kernel as compiled can't go on; what was ``found`` before is kept.

    An error of no build (its process died while no kernel ran) is no verdict on the kernel.
    """
    if found is None:
        return not_run(variant, error.problem, error)
    correctness = found.correctness
    if error.build is not None:
        correctness = msgspec.structs.replace(correctness, verdict=error.problem)
    return msgspec.structs.replace(found, correctness=correctness, error=error)


def profiled(
    variant: BundledVariant,
    correctness: Correctness,
    builds: tuple[BuildRun, ...],
    probe_file: str | None,
    outputs: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ProfiledVariant:
    """A variant that ran, with what its probes cost."""
    medians = {
        one.kind: one.time.median_us
        for one in builds
        if one.time is not None and one.problem is None
    }
    audit = variant.audit if any(one.kind == "probed" for one in builds) else ()
    control = _ratio(medians.get("control"), medians.get("base"))
    probe = _ratio(medians.get("probed"), medians.get("control"))
    return ProfiledVariant(
        id=variant.id,
        variant=variant.variant,
        correctness=correctness,
        builds=builds,
        control_cost=control,
        probe_cost=probe,
        perturbed=True if audit else None if probe is None else is_perturbed(probe),
        probe_file=probe_file,
        probe_metadata=None,
        error=None,
        outputs=outputs,
        notes=notes,
        audit=audit,
    )


def with_failed(result: ProfiledVariant, failed: Mapping[CubinKind, RunError]) -> ProfiledVariant:
    """The result with the builds that took their process with them, in the order of builds."""
    builds = {one.kind: one for one in result.builds}
    builds |= {kind: BuildRun.failed(kind, error) for kind, error in failed.items()}
    return msgspec.structs.replace(
        result, builds=tuple(builds[kind] for kind in CUBIN_KINDS if kind in builds)
    )


def with_first_verdict(result: ProfiledVariant, first: ProfiledVariant | None) -> ProfiledVariant:
    """The verdict of the first time that the kernel was judged, unless it got worse since."""
    if first is None or result.correctness.verdict in BAD:
        return result
    return msgspec.structs.replace(result, correctness=first.correctness)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None
