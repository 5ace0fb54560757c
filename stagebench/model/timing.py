"""How long did it take, and who waited for what?  Records of probes, stalls and what depth changed.

A *probe* times one wait of one warp (its leader lane) with the low 32 bits of ``%clock``; cycles
are cycles of the warp's SM.  ``None`` means "not measured or not known"; ``0`` means "measured, and
there was none".  `stagebench.timing.decode` documents the buffer that the probes write.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stagebench.model.audit_finding import AuditFinding
from stagebench.model.base import Extent, Record
from stagebench.model.bounds import Amount, Count, Microseconds, Share, Some
from stagebench.model.facts import LineKind, Section

RunVerdict = Literal["correct", "wrong", "race", "fails", "hangs", "not_run", "not_compared"]
"""``wrong``: differs from the reference by more than rounding; ``race``: runs on the same inputs
differ; ``fails``: the kernel, or its launch, ended in an error; ``hangs``: a launch did not come
back; ``not_run``: it could not be run (another arch, a damaged file, no memory);
``not_compared``: it ran, always the same, and there was nothing to compare it with."""
BAD: tuple[RunVerdict, ...] = ("wrong", "race", "fails", "hangs", "not_run")
"""Those that are shown in red, that have no time, and that a command's exit code tells of."""

BuildProblem = Literal["other_bits", "fails", "hangs", "not_run"]
"""Why nothing of a control or probed build is used; ``other_bits``: than the kernel's as compiled.
"""

StallCause = Literal["data", "slot", "compute", "barrier", "other"]
"""What a wait waits for: data (a full mbarrier, cp.async), a free slot (an empty mbarrier), the
tensor core (wgmma, tcgen05), other threads (``__syncthreads``, named and cluster barriers)."""

ProblemKind = Literal[
    "truncated",
    "trailing_bytes",
    "no_entry",
    "wrong_lane",
    "no_exit",
    "dropped",
    "ordinal_gap",
    "unknown_site",
    "torn_record",
    "clock_backwards",
    "outside_warp",
    "timer_backwards",
    "no_calibration",
    "count_mismatch",
]


class ProbeSite(Record, frozen=True, kw_only=True):
    """One probed wait of the PTX; ``id`` is its index in `ProbeMetadata.sites`.

    ``op`` and ``args`` are those of `Facts.sync_ops`; ``barrier_kind`` is that of the mbarrier it
    waits on.  ``name`` is what a timeline shows.  ``copy`` (0-based) of ``copies`` tells apart the
    PTX copies of one CUDA statement.  ``predicted`` is how often each warp of a CTA executes this
    copy, in the order of the warps: 0 where a warp never reaches it, ``None`` where the CPU walk
    can't tell (the whole: not walked).
    """

    id: int
    name: str
    op: str
    args: dict[str, Extent]
    role: str
    section: Section | None
    barrier_kind: Literal["full", "empty", "other"] | None
    file: str | None
    line: int | None
    line_kind: LineKind | None
    cuda_line: int | None
    ptx_line: int | None
    copy: int
    copies: int
    predicted: tuple[int | None, ...] | None


class ProbeMetadata(Record, frozen=True, kw_only=True):
    """What the probe builder says of a probed kernel: all that decoding its buffer needs.

    ``kernel`` is the entry's name, ``symbol`` the module-scope pointer to the buffer.  Of the
    grid's ``grid_ctas`` CTAs (by linear id) sampled CTA k is CTA k · ``cta_step``, for k below
    ``sampled_ctas``.  ``warp_roles`` is the role of each warp of a CTA.  A record whose site is
    ``calibration_site`` (one a warp, no site of ``sites``) times two back-to-back clock reads; that
    of a site in ``pairs`` holds the wait of the next site too, which has no record of its own.
    ``ordinal_bits`` of a record's tag are its index in the lane.  ``buffer_bytes`` is
    ``sampled_ctas`` · ``warps_per_cta`` · ``stride_bytes``; ``stride_bytes`` is 64 + 16 · ``cap``.
    Version 2: two waits may share a record (``pairs``), and ``ordinal_bits`` say how long its index
    is.
    """

    schema_version: Literal[2] = 2
    kernel: str
    symbol: str
    sites: tuple[ProbeSite, ...]
    calibration_site: int | None
    pairs: tuple[int, ...]
    ordinal_bits: int
    cap: int
    stride_bytes: int
    buffer_bytes: int
    warps_per_cta: int
    warp_roles: tuple[str, ...]
    grid_ctas: int
    sampled_ctas: int
    cta_step: int


class TimingProblem(Record, frozen=True, kw_only=True):
    """Something wrong with a probe buffer, and where: nothing of it is used silently.

    ``cta`` is the linear CTA id, ``record`` the 0-based index in the lane, ``count`` how many
    records (or bytes) it concerns.
    """

    kind: ProblemKind
    message: str
    cta: int | None
    warp: int | None
    record: int | None
    offset_bytes: int | None
    count: int | None


class SiteStall(Record, frozen=True, kw_only=True):
    """Stalls of one statement, its PTX copies together; cycles between the two clock reads.

    ``executions`` are the records that were kept, of all sampled warps; ``predicted`` what the CPU
    walk expects of the same warps.  ``share`` is the stalls' part of the time of the warps that
    execute it, over the lanes whose records are complete (``None``: no such lane).
    """

    site: ProbeSite
    cause: StallCause
    executions: Some
    predicted: Count | None
    warps: Some
    mean_cycles: Amount
    p50_cycles: Amount
    p95_cycles: Amount
    max_cycles: Count
    total_cycles: Count
    share: Share | None


class SectionTime(Record, frozen=True, kw_only=True):
    """Where the time of a role's warps went in one section, as a sum over the warps, in cycles.

    ``busy`` is ``cycles`` less the causes.  ``section`` is ``None`` for the whole kernel.
    """

    section: Section | None
    cycles: Count
    busy_cycles: int
    stall_cycles: dict[StallCause, Count]


class RoleTime(Record, frozen=True, kw_only=True):
    """Where the warps of one role spent their time; only lanes with all their records count.

    ``sections`` are prologue, body, epilogue, split at the first and the last record of a site of
    the body; empty where no site is known to be of the body.
    """

    role: str
    warps: Some
    whole: SectionTime
    sections: tuple[SectionTime, ...]


class Stalls(Record, frozen=True, kw_only=True):
    """All that one probed run says: by site (worst first), by role, and what is wrong with it.

    ``read_cycles`` is the median cost of the two clock reads themselves, part of every stall.
    """

    sites: tuple[SiteStall, ...]
    roles: tuple[RoleTime, ...]
    read_cycles: Amount | None
    problems: tuple[TimingProblem, ...]


class Measurement(Record, frozen=True, kw_only=True):
    """A median with its confidence interval: ``level`` 0.95 of ``runs`` runs; microseconds."""

    median_us: Microseconds
    low_us: Microseconds
    high_us: Microseconds
    runs: Some
    level: Share


class DepthFacts(Record, frozen=True, kw_only=True):
    """What the compiler decided at one depth, as far as it can change time.

    A kernel without an IR has neither ``versions`` nor ``barriers``, and ``wait_depths`` of its
    PTX; ``None``: not known.

    ``versions`` is by buffer; ``wait_depths`` the distinct ``max_pending`` of cp.async and wgmma
    waits by op, in program order; ``smem_bytes`` of a CTA; ``ctas_per_sm`` the theoretical
    occupancy.
    """

    versions: dict[str, Count] | None
    wait_depths: dict[str, tuple[Extent, ...]]
    barriers: Count | None
    smem_bytes: Count
    registers: Count | None
    ctas_per_sm: Count | None


class VariantTiming(Record, frozen=True, kw_only=True):
    """One depth of one kernel: facts beside time.

    ``num_stages`` is ``None`` for a kernel that has no parameter for it: it is alone in its sweep.
    ``base`` is the kernel as compiled, ``control`` without the unrolling that probes cost,
    ``probed`` with probes.  ``verdict`` is what the device said of it (``None``: told by an older
    version, of which ``correct`` is all that is kept: false where the output was wrong).
    ``refused`` are builds of which nothing is used, ``audit`` what makes the machine code of the
    builds with probes another kernel than the one as compiled.
    """

    num_stages: Count | None
    facts: DepthFacts | None
    base: Measurement | None
    control: Measurement | None
    probed: Measurement | None
    stalls: Stalls | None
    correct: bool | None
    verdict: RunVerdict | None = None
    refused: dict[Literal["control", "probed"], BuildProblem] = msgspec.field(default_factory=dict)
    audit: tuple[AuditFinding, ...] = ()

    @property
    def bad(self) -> bool:
        """Is its time no result?"""
        return self.verdict in BAD if self.verdict is not None else self.correct is False


class FactStep(Record, frozen=True, kw_only=True):
    """One fact that differs between two depths, as text; ``None``: not known there."""

    name: str
    left: str | None
    right: str | None


class StallStep(Record, frozen=True, kw_only=True):
    """Mean cycles that a role waits for one cause per execution of the body's wait."""

    role: str
    cause: StallCause
    left_cycles: float | None
    right_cycles: float | None


class DepthStep(Record, frozen=True, kw_only=True):
    """One step ``left → right`` of ``num_stages``: what changed, what it cost or gained, in words.

    ``outcome`` is ``within_noise`` where the confidence intervals of the two times overlap and
    ``unknown`` where one of them is missing, or a depth is wrong, fails or hangs.
    """

    left: int
    right: int
    facts: tuple[FactStep, ...]
    left_us: float | None
    right_us: float | None
    stalls: tuple[StallStep, ...]
    outcome: Literal["faster", "slower", "within_noise", "unknown"]
    verdict: str


class Correlation(Record, frozen=True, kw_only=True):
    """Spearman's rank correlation of two quantities over the depths of a sweep.

    ``rho``, its interval at ``level`` and ``p_value`` are ``None`` where ``n`` is too small or one
    quantity does not vary; ``claim`` says so, or what follows, in words.
    """

    left: str
    right: str
    n: int
    rho: float | None
    low: float | None
    high: float | None
    level: float
    p_value: float | None
    claim: str
