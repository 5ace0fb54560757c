"""How is a variant's result put together from what was and what was not measured?"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from stagebench.bundle.records import CUBIN_KINDS, BundledVariant, CubinKind
from stagebench.gpu.records import BuildRun, Correctness, ProfiledVariant, RunError
from stagebench.model.timing import BAD, RunVerdict

PERTURBED_ABOVE = 1.15
"""Probed over control, from which on what the probes say is not trusted as a time.

A probed kernel that is as much *faster* is another schedule of the assembler's (a clock read keeps
it from one that spills, say): its waits are not the control's either.
"""


def is_perturbed(probe_cost: float) -> bool:
    """Is the probed kernel another one than the control, slower or faster?"""
    return not 1 / PERTURBED_ABOVE <= probe_cost <= PERTURBED_ABOVE


def not_run(variant: BundledVariant, verdict: RunVerdict, error: RunError) -> ProfiledVariant:
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
    audit = variant.audit if any(one.kind == "probed" for one in builds) else ()
    found = ProfiledVariant(
        id=variant.id,
        variant=variant.variant,
        correctness=correctness,
        builds=builds,
        control_cost=None,
        probe_cost=None,
        perturbed=None,
        probe_file=probe_file,
        probe_metadata=None,
        error=None,
        outputs=outputs,
        notes=notes,
        audit=audit,
    )
    return _with_costs(found)


def with_failed(result: ProfiledVariant, failed: Mapping[CubinKind, RunError]) -> ProfiledVariant:
    """The result with the builds that came to nothing, in the order of builds.

    They faulted, hung, took their process with them, could not be read or loaded, or their probes
    could not be kept: what was found of them before, and against them, does not count.
    """
    builds = {one.kind: one for one in result.builds}
    builds |= {kind: BuildRun.failed(kind, error) for kind, error in failed.items()}
    ordered = tuple(builds[kind] for kind in CUBIN_KINDS if kind in builds)
    return _with_costs(msgspec.structs.replace(result, builds=ordered))


def _with_costs(result: ProfiledVariant) -> ProfiledVariant:
    """What control and probes cost, by the times of sound builds; no probes of one that is not."""
    sound = {one.kind: one.time for one in result.builds if one.problem is None}
    medians = {kind: time.median_us for kind, time in sound.items() if time is not None}
    control = _ratio(medians.get("control"), medians.get("base"))
    probe = _ratio(medians.get("probed"), medians.get("control"))
    perturbed = True if result.audit else None if probe is None else is_perturbed(probe)
    return msgspec.structs.replace(
        result,
        control_cost=control,
        probe_cost=probe,
        perturbed=perturbed if "probed" in sound else None,
        probe_file=result.probe_file if "probed" in sound else None,
    )


def with_first_verdict(result: ProfiledVariant, first: ProfiledVariant | None) -> ProfiledVariant:
    """The verdict of the first time that the kernel was judged, unless it got worse since."""
    if first is None or result.correctness.verdict in BAD:
        return result
    return msgspec.structs.replace(result, correctness=first.correctness)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None
