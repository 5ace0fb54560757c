"""What really runs?  Facts of the assembled kernel: PTX, SASS, resources, occupancy, arithmetic.

``None`` means "not looked at or not known" and prints as ``–``; ``0`` means "looked for and not
there".  Counts of PTX and SASS are read independently of the IR's.
"""

from __future__ import annotations

from typing import Literal

from stagebench.model.base import Extent, Record
from stagebench.model.diagnostic import Diagnostic

Limiter = Literal["shared_memory", "registers", "threads", "ctas", "barriers"]
MachineSection = Literal["prologue", "body", "epilogue"]


class Toolchain(Record, frozen=True, kw_only=True):
    """Which programs made the PTX and the machine code; each with its version."""

    assembler: str
    ptx_compiler: str
    ptx_assembler: str
    disassembler: str | None


class RoleRegisters(Record, frozen=True, kw_only=True):
    """Registers of one warp role of a kernel that moves registers between its roles.

    ``budget`` is what ``setmaxnreg`` gives each thread of the role (PTX ISA, "setmaxnreg");
    ``used`` is one more than the highest general register that the role's SASS names.
    """

    role: str
    budget: int
    used: int | None


class Resources(Record, frozen=True, kw_only=True):
    """What the assembler says the kernel takes, per thread where not said otherwise.

    ``registers`` is the launch budget where ``setmaxnreg`` is used, not a role's use.
    ``static_smem_bytes`` is per CTA; ``barriers`` the named barriers of a CTA; ``code_bytes`` the
    size of the kernel's section of machine code.
    """

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    static_smem_bytes: int
    barriers: int
    code_bytes: int | None
    role_registers: tuple[RoleRegisters, ...]


class Occupancy(Record, frozen=True, kw_only=True):
    """Theoretical occupancy of one SM: whole CTAs and their warps; ``limiters`` bind together."""

    ctas_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limiters: tuple[Limiter, ...]


class FrontierPoint(Record, frozen=True, kw_only=True):
    """How deep may the pipeline be on ``arch``, by shared memory alone?

    ``max_num_stages`` is the largest depth that fits into a CTA's limit,
    ``max_num_stages_two_ctas`` the largest at which two CTAs fit into an SM, if every versioned
    buffer grows by one version for each stage; ``None`` where that model does not describe the
    variant.
    """

    arch: str
    max_num_stages: int | None
    max_num_stages_two_ctas: int | None


class LevelCount(Record, frozen=True, kw_only=True):
    """``static`` instructions, ``executed`` by one thread that reaches them (see `SyncTotal`)."""

    static: int
    executed: Extent | None


class MachineSite(Record, frozen=True, kw_only=True):
    """One statement of the generated CUDA (or the code around it) that became instructions.

    ``cuda_line`` is the 1-based line of ``kernel.cu`` (``None``: the assembler's own).  ``file``
    and ``line`` are the Python line of the IR's site on that CUDA line, where there is one.
    ``ptx_lines`` are 1-based lines of ``kernel.ptx``, one for each copy that unrolling made;
    ``executed`` is the sum over the copies, by the thread that executes it most.
    """

    op: str
    opcode: str
    args: dict[str, Extent]
    cuda_line: int | None
    file: str | None
    line: int | None
    line_kind: Literal["exact", "synthetic"] | None
    ptx_lines: tuple[int, ...]
    executed: int | None
    sass: int


class RoleCount(Record, frozen=True, kw_only=True):
    """What the threads of one control path execute in one CTA.

    ``threads`` is how many take the path, ``first_thread`` the lowest linear thread index among
    them, ``warps`` the warps that they are of.  ``counts`` are executions by one of them, by op:
    the ops of `Facts.sync_totals`, and ``ld_global``, ``st_global``, ``ldmatrix`` and the like.
    """

    role: str
    first_thread: int
    threads: int
    warps: tuple[int, ...]
    counts: dict[str, int]


class Walk(Record, frozen=True, kw_only=True):
    """A walk of the PTX's control flow, on integers and predicates alone.

    ``cta`` is the block index that was walked.  ``unknown_branches`` are the lines of
    ``kernel.cu`` whose branch depends on data: then the counts are ``None``.
    """

    cta: tuple[int, int, int]
    complete: bool
    paths: tuple[RoleCount, ...]
    unknown_branches: tuple[int, ...]
    bytes_loaded: int | None
    bytes_stored: int | None


NO_MACHINE_CODE = frozenset({"not-assembled", "machine-code-not-read"})
"""Codes of the diagnostics of a variant that has no machine code although it was asked for."""
NOT_WALKED = "not walked to the end: executions of the PTX are not known"
"""What stands in a `LevelRow` where only the static counts could be compared."""


class LevelRow(Record, frozen=True, kw_only=True):
    """One op at the four levels; ``None``: not read there.

    ``explanations`` name the rewrites that account for what differs between neighbours;
    ``agreed`` is false where something is left over.
    """

    op: str
    ir: LevelCount | None
    cuda: LevelCount | None
    ptx: LevelCount | None
    sass: LevelCount | None
    explanations: tuple[str, ...]
    agreed: bool


class MmaShape(Record, frozen=True, kw_only=True):
    """One kind of matrix instruction; ``executed`` by all warps (or warp-groups) of a CTA."""

    instruction: str
    m: int
    n: int
    k: int
    executed: int
    flops: int


class TimeFloor(Record, frozen=True, kw_only=True):
    """No run of the kernel on ``device`` can be faster; microseconds.

    ``source`` cites the device's rates.
    """

    device: str
    compute_us: float | None
    memory_us: float
    floor_us: float
    bound_by: Literal["compute", "memory"]
    source: str


class Arithmetic(Record, frozen=True, kw_only=True):
    """Work of the whole grid: matrix FLOPs as executed, bytes that cross global memory.

    ``mma`` is what the CTA executes that was walked; ``None``: not known.  ``compulsory_bytes``
    counts each tensor argument once; ``moved_bytes`` what the CTAs move, caches not counted.
    ``intensity`` is FLOPs per compulsory byte.
    """

    mma: tuple[MmaShape, ...] | None
    flops: int | None
    moved_bytes: int | None
    compulsory_bytes: int | None
    intensity: float | None
    floors: tuple[TimeFloor, ...]


class OverlapWindow(Record, frozen=True, kw_only=True):
    """The SASS between two consecutive waits, in program order: what can overlap them.

    ``wait`` is the instruction that ends the window; counts are instructions, static.  ``role`` is
    that of `RoleRegisters` whose code alone the wait is in; ``None``: no such role, or several.
    """

    section: MachineSection
    wait: str
    cuda_line: int | None
    instructions: int
    mma: int
    async_copies: int
    loads: int
    role: str | None = None


class MachineCode(Record, frozen=True, kw_only=True):
    """All facts of one assembled variant (the ``machine`` of the JSON contract).

    ``registers``, ``spill_bytes`` (stores and loads) and ``barriers`` repeat `Resources`;
    ``sync_ptx`` and ``sync_sass`` are by op.  ``unknown_opcodes`` were seen in PTX or SASS and
    are in no table of ours.
    """

    toolchain: Toolchain
    registers: int
    spill_bytes: int
    barriers: int
    resources: Resources
    occupancy: Occupancy | None
    frontier: tuple[FrontierPoint, ...]
    sync_ptx: dict[str, LevelCount]
    sync_sass: dict[str, LevelCount]
    sites: tuple[MachineSite, ...]
    walk: Walk | None
    levels: tuple[LevelRow, ...]
    arithmetic: Arithmetic | None
    overlap: tuple[OverlapWindow, ...]
    histogram: dict[str, int]
    unknown_opcodes: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
