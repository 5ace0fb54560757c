"""What did a compiler adapter see?  Compiler-neutral readings that `stagebench.facts` derives from.

An adapter (one per compiler, in the worker) turns IR objects into these records and nothing else;
spelling differences between compilers and releases end there.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from stagebench.model.base import Extent, Record
from stagebench.model.facts import (
    LaunchParam,
    LaunchTensor,
    LineKind,
    PassRun,
    ProfilerBuffer,
    TmaDescriptor,
)


class SeenLoop(Record, frozen=True, kw_only=True):
    """A loop of the generated kernel; ``start`` and ``end`` bound its sites in walk order.

    ``extent`` is its own trip count, as written.  ``executions`` is how often its body runs in all
    trips of all loops around it: exactly, where an extent depends on the loops around; ``None``
    where that can't be told.
    """

    var: str
    extent: Extent
    executions: Extent | None
    pipelined: bool
    start: int
    end: int


class SeenSite(Record, frozen=True, kw_only=True):
    """One synchronising call of the generated kernel, in walk order.

    ``op`` is the taxonomy's name; ``loops`` are indices into `SeenKernel.loops`, outermost first;
    ``partition`` names the thread range that the site is in (branches on the thread index alone),
    outermost first; ``guards`` are the other enclosing conditions, of which ``thread_guards``
    depend on what is made of the thread index alone (a warp's number).  ``buffer`` is the shared
    buffer that a copy writes or reads (``buffer_unnamed``: the IR names only the arena that all
    share; it is ``None`` then), ``barrier`` the mbarrier array that the call names, and ``slots``
    the inclusive bounds of its index (evaluated over its first rounds, else as the compiler's own
    analysis proves them).
    """

    op: str
    intrinsic: str
    args: dict[str, Extent]
    loops: tuple[int, ...]
    partition: tuple[str, ...]
    guards: tuple[str, ...]
    thread_guards: tuple[str, ...] = ()
    buffer: str | None
    buffer_unnamed: bool = False
    barrier: str | None
    slots: tuple[int, int] | None
    file: str | None
    line: int | None
    line_kind: LineKind | None


class SeenArenaSlot(Record, frozen=True, kw_only=True):
    """A buffer's place in the merged dynamic shared memory."""

    name: str
    offset_bytes: int


class SeenAllocation(Record, frozen=True, kw_only=True):
    """An allocation in the final device IR (``scope`` as the compiler spells it)."""

    name: str
    scope: str
    dtype: str
    elements: int | None
    bytes: int | None


class SeenKernel(Record, frozen=True, kw_only=True):
    """The final device function, as code generation takes it.

    ``profilers`` is ``None`` for a compiler that has no marks of regions.
    """

    function: str
    grid: tuple[Extent, Extent, Extent]
    block: tuple[Extent, Extent, Extent]
    cluster: tuple[Extent, Extent, Extent] | None
    dynamic_smem_bytes: int
    params: tuple[LaunchParam, ...]
    tma_descriptors: tuple[TmaDescriptor, ...]
    tensors: tuple[LaunchTensor, ...]
    sites: tuple[SeenSite, ...]
    loops: tuple[SeenLoop, ...]
    allocations: tuple[SeenAllocation, ...]
    arena: tuple[SeenArenaSlot, ...]
    alignments: dict[str, int]
    profilers: tuple[ProfilerBuffer, ...] | None = None


class SeenStatement(Record, frozen=True, kw_only=True):
    """A statement of a loop for which a depth was requested, before anybody scheduled it."""

    summary: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    is_copy: bool
    line: int | None


class SeenLoopRequest(Record, frozen=True, kw_only=True):
    """A loop for which a depth (or an explicit schedule) was requested, and what became of it.

    ``outcome`` is the annotation's fate: ``planned`` (a stage and order list replaced it),
    ``specialized`` (the loop was split over warp roles), ``removed`` (the annotation went away and
    nothing replaced it) or ``kept`` (it was still there when tile operators were lowered).
    ``pass`` is the pass whose result shows it.  ``injected_by`` is the pass that turned a plan into
    a pipeline; ``None``: the plan was made and discarded.
    """

    loop_var: str
    extent: Extent
    num_stages: int | None
    explicit_order: tuple[int, ...] | None
    explicit_stage: tuple[int, ...] | None
    file: str | None
    line: int | None
    statements: tuple[SeenStatement, ...]
    outcome: Literal["planned", "specialized", "removed", "kept"]
    pass_name: str | None = field(name="pass")
    injected_by: str | None
    stage: tuple[int, ...] | None
    order: tuple[int, ...] | None
    async_groups: tuple[int, ...] | None
    producer_writes: tuple[str, ...]


class SeenBuffer(Record, frozen=True, kw_only=True):
    """A shared buffer as declared, and each pass that put leading dimensions before its shape."""

    name: str
    scope: str
    dtype: str
    element_bits: int
    shape: tuple[Extent, ...]
    leading: tuple[int, ...]
    versioned_by: tuple[str, ...]


class Observation(Record, frozen=True, kw_only=True):
    """All that was seen of one lowering, CUDA text and pass snapshots apart.

    ``other_kernels`` are the device functions beside ``kernel``; ``other_reference`` is how the
    facts of one of them are asked for (``file.py:Module.NAME``), where they can be.
    """

    kernel: SeenKernel
    other_kernels: tuple[str, ...]
    other_reference: str | None = None
    requests: tuple[SeenLoopRequest, ...]
    buffers: tuple[SeenBuffer, ...]
    passes: tuple[PassRun, ...]
    warnings: tuple[str, ...]
