"""What did the compiler do?  The facts of schema 1 (DESIGN: "The JSON that scripts rely on").

Every count is an observation.  ``None`` means "not looked at or not known" and prints as ``–``;
``0`` means "looked for and not there".
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from stagebench.model.base import Extent, Record
from stagebench.model.diagnostic import Diagnostic
from stagebench.model.machine import MachineCode

ScheduledBy = Literal["software_pipeline", "warp_specialization", "none"]
Role = Literal["producer", "consumer", "all"]
Section = Literal["prologue", "body", "epilogue"]
LineKind = Literal["exact", "synthetic"]
ProfilerFormat = Literal["tvm", "flashinfer"]
SYNC_OPS = (
    "cp_async_copy", "cp_async_commit", "cp_async_wait",
    "tma_load", "tma_store", "tma_store_commit", "tma_store_wait", "tma_prefetch_descriptor",
    "mbarrier_init", "mbarrier_expect_tx", "mbarrier_arrive", "mbarrier_wait",
    "wgmma", "wgmma_fence", "wgmma_commit", "wgmma_wait", "mma_sync",
    "tcgen05_mma", "tcgen05_commit", "tcgen05_wait", "tcgen05_fence", "tcgen05_alloc",
    "tcgen05_dealloc",
    "syncthreads", "partial_barrier", "partial_barrier_arrive", "warp_sync",
    "cluster_sync", "cluster_arrive", "cluster_wait", "grid_sync", "griddepcontrol",
    "fence_proxy_async", "fence_barrier_init", "threadfence", "setmaxnreg",
)  # fmt: skip
"""The taxonomy of `SyncOp.op`, in the order in which people read it; what does not fit is
``unknown:<name>``."""


class PipelineStatement(Record, frozen=True, kw_only=True):
    """One statement of a pipelined loop's body, in source order.

    ``stage`` and ``order`` are the scheduler's; ``None`` where nobody scheduled the loop.
    ``async_group`` is the index of the commit group that the statement's copies belong to
    (``None``: not an asynchronous producer).  ``role`` is set where warp specialisation split
    the body.
    """

    summary: str
    stage: int | None
    order: int | None
    async_group: int | None
    role: Role | None = None
    line: int | None = None


class PipelineLoop(Record, frozen=True, kw_only=True):
    """A loop for which a depth was requested (``T.Pipelined``).

    ``num_stages`` is what was requested (``None``: only an explicit schedule was given);
    ``pipeline_depth`` is ``max(stage) + 1`` of the plan that took effect.  ``pass`` is the compiler
    pass that scheduled the loop; ``reason`` says in words why the depth had no effect, or less
    than asked, as far as the IR shows it.
    """

    loop_var: str
    extent: Extent
    num_stages: int | None
    scheduled_by: ScheduledBy
    pass_name: str | None = field(name="pass")
    pipeline_depth: int | None
    explicit_schedule: bool
    reason: str | None
    statements: tuple[PipelineStatement, ...]
    line: int | None = None


class SharedBuffer(Record, frozen=True, kw_only=True):
    """One buffer in shared (or tensor) memory, as declared and as allocated.

    ``shape`` is the declared one; ``num_versions`` is the product of the leading dimensions that
    passes put before it; ``versioned_by`` the passes that did, in order, joined with ``, ``.
    ``offset_bytes`` is its place in the merged dynamic arena (``None``: not in the arena).
    ``overlaps`` names the buffers that share bytes of the arena with it.
    """

    name: str
    scope: str
    dtype: str
    shape: tuple[Extent, ...]
    num_versions: int
    bytes_per_version: int | None
    total_bytes: int | None
    offset_bytes: int | None
    alignment_bytes: int | None
    overlaps: tuple[str, ...]
    versioned_by: str | None


STATIC_LIMIT_BYTES = 48 * 1024
"""What ``exceeds`` ``"static"`` is more than (see `stagebench.facts.arch`)."""


class SharedMemory(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Shared memory of one CTA, in bytes.

    ``limit_bytes`` is the opt-in limit per block of the arch (CUDA C++ Programming Guide,
    "Compute Capabilities", maximum shared memory per thread block), for static and dynamic
    together; ``None``: arch not in the table.  ``exceeds`` says which limit a variant that doesn't
    fit is over: ``static``, `STATIC_LIMIT_BYTES` of the static part alone, or ``total``.
    ``max_num_stages`` is the largest depth that still fits if every versioned buffer
    grows by one version per stage; ``None`` where that model does not describe this variant.
    """

    static_bytes: int
    dynamic_bytes: int
    total_bytes: int
    limit_bytes: int | None
    fits: bool | None
    max_num_stages: int | None
    exceeds: Literal["static", "total"] | None = None


class Barrier(Record, frozen=True, kw_only=True):
    """A run of mbarriers of one array with the same arrive count and use.

    ``first`` is the 0-based index of the run's first barrier in the array ``name``; ``count`` how
    many there are; ``arrive_count`` the arrivals each expects.  ``kind`` is ``full`` (a consumer
    waits on it for data), ``empty`` (a producer waits on it for a free slot) or ``other``.
    ``guards`` are the buffers whose data it counts; ``None`` where the IR names only the arena that
    they share (TileLang 0.1.9).
    """

    name: str
    first: int
    count: int
    arrive_count: Extent
    kind: Literal["full", "empty", "other"]
    guards: tuple[str, ...] | None


class SyncOp(Record, frozen=True, kw_only=True):
    """One call site of the generated kernel.

    ``static`` is 1; ``dynamic`` is how often one thread that reaches the site executes it in one
    CTA, every branch taken: an expression of names that are bound outside of all loops where a trip
    count is symbolic, ``None`` where there is none.
    ``loops`` is the nest, outermost first, each ``var<extent``.  ``line`` is the 1-based Python
    line in ``file`` (a name without its folder): ``exact`` where the statement itself carries it,
    ``synthetic`` where a pass injected the statement and the line is that of the nearest enclosing
    statement that has one.  ``cuda_line`` is the 1-based line of ``kernel.cu`` that the site was
    matched to.
    """

    op: str
    role: Role
    section: Section | None
    static: int
    dynamic: Extent | None
    args: dict[str, Extent]
    file: str | None
    line: int | None
    line_kind: LineKind | None
    loops: tuple[str, ...]
    guards: tuple[str, ...]
    intrinsic: str
    cuda_line: int | None


class SyncTotal(Record, frozen=True, kw_only=True):
    """Sums over the sites of one op: ``static`` call sites, ``dynamic`` executions.

    ``dynamic`` is ``None`` where that of one site is.
    """

    static: int
    dynamic: Extent | None


class TmaDescriptor(Record, frozen=True, kw_only=True):
    """Every field of one tiled or im2col tensor map, as the host code passes it to the driver.

    Shapes are innermost first, as ``cuTensorMapEncodeTiled`` takes them; strides are in bytes and
    start with dimension 0.  Enumerations are the driver's integers.
    """

    name: str
    kind: str
    tensor: str
    data_type: int
    rank: int
    global_shape: tuple[Extent, ...]
    global_strides_bytes: tuple[Extent, ...]
    box: tuple[Extent, ...]
    element_strides: tuple[Extent, ...]
    interleave: int
    swizzle: int
    l2_promotion: int
    oob_fill: int
    fields: tuple[Extent, ...]


class LaunchParam(Record, frozen=True, kw_only=True):
    """One argument of the device function, in device order; bind by name."""

    name: str
    kind: Literal["tensor", "scalar", "tma_descriptor"]
    dtype: str


class LaunchTensor(Record, frozen=True, kw_only=True):
    """One tensor of the host function, in its order.

    ``strides`` are in elements, outermost first (``None``: compact, row by row).  ``read`` and
    ``written`` say whether the device function may: a pointer that it hands to something whose
    effect is not known counts as both.
    """

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...] | None
    read: bool
    written: bool


class ProfilerBuffer(Record, frozen=True, kw_only=True):
    """A tensor that the kernel's own marks of regions write records of time to, and nothing else.

    ``format`` is how its words are laid out (`stagebench.trace.profiler_words`); ``groups`` of a
    CTA and the ``stride`` between two records of a lane, in words, are what the kernel passes to
    the marks (``None``: they disagree).  ``events`` are the ids that are marked, ascending, and
    ``marks`` how many call sites each intrinsic has in the device IR: the evidence that the tensor
    holds times.  Names are the author's, by id and by group; empty where none are given.
    """

    tensor: str
    format: ProfilerFormat
    groups: Extent | None
    stride: Extent | None
    events: tuple[Extent, ...]
    event_names: tuple[str, ...]
    group_names: tuple[str, ...]
    marks: dict[str, int]


class Launch(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How to launch the kernel.  Extents are x, y, z.

    ``tensors`` is ``None`` where nobody looked: facts that an earlier stagebench wrote.  So is
    ``profilers``, for compilers that have no such marks too; what is ``None`` is not written.
    """

    function: str
    grid: tuple[Extent, Extent, Extent]
    block: tuple[Extent, Extent, Extent]
    cluster: tuple[Extent, Extent, Extent] | None
    dynamic_smem_bytes: int
    params: tuple[LaunchParam, ...]
    tma_descriptors: tuple[TmaDescriptor, ...]
    tensors: tuple[LaunchTensor, ...] | None = None
    profilers: tuple[ProfilerBuffer, ...] | None = None


class PassRun(Record, frozen=True, kw_only=True):
    """One run of a compiler pass, in the order in which passes started.

    ``depth`` is the nesting (0: outermost); ``snapshot`` the digest of the IR text after the pass
    (the key into the dump's snapshots); ``changed`` whether the IR after it differs from the IR
    before it.  ``ir_bytes`` is the length of that text.
    """

    sequence: int
    name: str
    depth: int
    pass_phase: str | None
    changed: bool
    snapshot: str | None
    ir_bytes: int | None


class LoweringCost(Record, frozen=True, kw_only=True):
    """``seconds`` is ``None`` in everything that is compared or committed: times live apart."""

    seconds: float | None
    passes: tuple[PassRun, ...]


class Facts(Record, frozen=True, kw_only=True):
    """All facts of one lowered variant."""

    pipeline_loops: tuple[PipelineLoop, ...]
    shared_buffers: tuple[SharedBuffer, ...]
    shared_memory: SharedMemory
    barriers: tuple[Barrier, ...]
    sync_ops: tuple[SyncOp, ...]
    sync_totals: dict[str, SyncTotal]
    launch: Launch
    machine: MachineCode | None
    diagnostics: tuple[Diagnostic, ...]
    lowering: LoweringCost
