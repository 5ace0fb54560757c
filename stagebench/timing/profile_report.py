"""What does ``profile --json`` tell?  What was measured, and what follows from it, as it is shown.

What follows is computed from the times whenever they are shown: a reader of the file may use it,
this one makes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stagebench.gpu.records import Profile
from stagebench.model import Record
from stagebench.model.timing import Correlation, DepthStep, StallCause, VariantTiming
from stagebench.timing.correlate import depth_steps
from stagebench.timing.measured import Measured, sweep_names
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.probe_cost import Doubt, doubt, probe_cost
from stagebench.timing.rank_correlation import correlations, left_out


class TileWait(Record, frozen=True, kw_only=True):
    """How long one warp of a role waits for one cause, in cycles per tile."""

    role: str
    cause: StallCause
    cycles_per_tile: float


class DepthWaits(Record, frozen=True, kw_only=True):
    """The waits of one depth (none: it was not probed, or its probes are damaged).

    ``probe_cost`` is probed over control; ``doubt`` says why these waits may not be those of the
    kernel without probes, ``None`` where they are.
    """

    num_stages: int | None
    waits: tuple[TileWait, ...]
    probe_cost: float | None
    doubt: Doubt | None


class SweepReading(Record, frozen=True, kw_only=True):
    """What follows from the times of one sweep; ``name`` is what ``--only`` chooses it by.

    ``depths`` run along its timings.  A step's ``verdict`` is the sentence that is shown, the other
    fields its parts.  ``correlations`` are of kernel time with depth and with each wait;
    ``left_out`` are the depths that they leave out, by why.
    """

    name: str
    depths: tuple[DepthWaits, ...]
    steps: tuple[DepthStep, ...]
    correlations: tuple[Correlation, ...]
    left_out: dict[str, tuple[int, ...]]


class ProfileReport(Record, frozen=True, kw_only=True):
    """What `profile --json` tells; ``profile`` is ``None`` where only the times were kept.

    ``readings`` run along ``timings.sweeps``; empty in a report of an older version.
    """

    schema_version: Literal[1] = 1
    profile: Profile | None
    timings: Measured
    readings: tuple[SweepReading, ...] = ()


def profile_report(profile: Profile | None, measured: Measured) -> ProfileReport:
    """Everything that is shown, as a record."""
    return ProfileReport(
        profile=profile,
        timings=measured,
        readings=tuple(
            _reading(name, sweep.timings)
            for name, sweep in zip(sweep_names(measured), measured.sweeps, strict=True)
        ),
    )


def _reading(name: str, timings: Sequence[VariantTiming]) -> SweepReading:
    return SweepReading(
        name=name,
        depths=tuple(_depth(timing) for timing in timings),
        steps=depth_steps(timings),
        correlations=correlations(timings),
        left_out=left_out(timings),
    )


def _depth(timing: VariantTiming) -> DepthWaits:
    return DepthWaits(
        num_stages=timing.num_stages,
        waits=tuple(
            TileWait(role=role, cause=cause, cycles_per_tile=cycles)
            for (role, cause), cycles in sorted(stall_by_cause(timing.stalls).items())
        ),
        probe_cost=probe_cost(timing),
        doubt=doubt(timing),
    )
