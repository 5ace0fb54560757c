"""What did a device say?  ``profile.json``; times are microseconds, errors have the driver's names.

``None`` means "not measured"; 0 means "measured, and it was none".  A float that is not finite
(an output full of NaN) is ``None`` beside the counts that say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from stagebench.bundle.records import CubinKind, SkippedVariant
from stagebench.model import Record, Variant
from stagebench.model.audit_finding import AuditFinding
from stagebench.model.bounds import Amount, Count, Microseconds, Ratio, Share, Some
from stagebench.model.timing import BAD, BuildProblem, Measurement, RunVerdict

if TYPE_CHECKING:
    from typing_extensions import Self

PROFILE_SCHEMA_VERSION: Literal[1] = 1
PROFILE = "profile.json"

TIMEOUT = "timeout"
"""The name of the error of a launch that did not come back."""
HOST_TIMEOUT = "host_timeout"
"""The name of the error of a process that was silent for too long while no launch was waited for.
"""
OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"
_NOT_RUN = frozenset(
    {
        "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_ERROR_INVALID_PTX",
        "CUDA_ERROR_INVALID_SOURCE",
        "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "CUDA_ERROR_NOT_FOUND",
        OUT_OF_MEMORY,
        "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "another_arch",
        "bundle",
        "probe",
        "unknown_dtype",
    }
)
"""Errors that say nothing of what the kernel does: it could not be loaded, or not be given its
tensors."""


class RunError(Record, frozen=True, kw_only=True):
    """Why a variant (or one build of it) has no result.

    ``name`` is the driver's (``CUDA_ERROR_ILLEGAL_ADDRESS``) or one of ours: ``another_arch``,
    ``bundle``, ``probe``, ``timeout``, ``host_timeout``, ``process_died``, ``unknown_dtype``.
    ``build`` is the one that was loaded or ran (``None``: none of them, or told by an older
    version).
    """

    name: str
    message: str
    build: CubinKind | None = None

    @property
    def problem(self) -> Literal["fails", "hangs", "not_run"]:
        """What it says of its build."""
        if self.name == TIMEOUT:
            return "hangs"
        return "not_run" if self.build is None or self.name in _NOT_RUN else "fails"

    @property
    def told(self) -> str:
        """The message with its build: ``probed: hangs: a launch was not back after 4 s``."""
        if self.build is None:
            return self.message
        word = {"hangs": "hangs: ", "not_run": "not run: "}.get(self.problem, "")
        return f"{self.build}: {word}{self.message}"


class TensorComparison(Record, frozen=True, kw_only=True):
    """One output against the reference's, in float64.

    ``relative_error`` is ‖out − ref‖ / ‖ref‖, ``fraction_wrong`` the share of elements off by more
    than ``tolerance`` allows (`stagebench.gpu.correctness`); ``unwritten`` counts elements that
    still hold the poison.
    """

    tensor: str
    dtype: str
    elements: Count
    bit_equal: bool
    relative_error: Amount | None
    max_abs_error: Amount | None
    fraction_wrong: Share
    unwritten: Count
    tolerance: Amount
    agrees: bool


class Correctness(Record, frozen=True, kw_only=True):
    """What a variant computed.

    ``reference`` is the id it was compared with, ``expected`` where the experiment gave the
    result.  ``differing_runs`` of ``runs`` had other bits than the first; ``smem_poisoned`` and
    what that needs is `stagebench.gpu.poison`.
    """

    verdict: RunVerdict
    reference: str | None
    runs: Count
    differing_runs: Count
    smem_poisoned: bool
    tensors: tuple[TensorComparison, ...]


class BuildRun(Record, frozen=True, kw_only=True):
    """One build (base, control, probed) of a variant, on the same inputs.

    ``same_as_base`` says whether its outputs have base's bits; ``rotation`` is how many sets of
    tensors the timed launches went round, ``rotation_bytes`` their size.  ``time`` is between two
    device events around a launch, ``device_time`` the kernel alone, by CUPTI's activity records.
    """

    kind: CubinKind
    registers: Count | None
    local_bytes: Count | None
    static_smem_bytes: Count | None
    same_as_base: bool | None
    time: Measurement | None
    min_us: Microseconds | None
    device_time: Measurement | None = None
    rotation: Some | None
    rotation_bytes: Count | None
    error: RunError | None

    @property
    def problem(self) -> BuildProblem | None:
        """Why nothing of it is used; ``None``: it is sound."""
        if self.error is not None:
            return self.error.problem
        return "other_bits" if self.same_as_base is False else None

    @classmethod
    def untimed(
        cls,
        kind: CubinKind,
        *,
        registers: int | None = None,
        local_bytes: int | None = None,
        static_smem_bytes: int | None = None,
        same_as_base: bool | None = None,
        error: RunError | None = None,
    ) -> Self:
        """A build whose time is not known."""
        return cls(
            kind=kind,
            registers=registers,
            local_bytes=local_bytes,
            static_smem_bytes=static_smem_bytes,
            same_as_base=same_as_base,
            time=None,
            min_us=None,
            rotation=None,
            rotation_bytes=None,
            error=error,
        )

    @classmethod
    def failed(cls, kind: CubinKind, error: RunError) -> Self:
        """A build of which nothing but its error is known."""
        return cls.untimed(kind, error=error)


class KeptFile(Record, frozen=True, kw_only=True):
    """A file beside ``profile.json`` as it was written; ``digest`` is that of a bundle's files."""

    path: str
    size_bytes: int
    digest: str


class ProfiledVariant(Record, frozen=True, kw_only=True):
    """One variant on the device.

    ``probe_file`` is the raw probe buffer of one launch, ``probe_metadata`` what decodes it, both
    beside ``profile.json``, and ``probe_kept`` tells them from those of others (empty: told by an
    older version); so are ``outputs``, one ``.npy`` for each tensor that was kept of the
    first run.  ``control_cost`` is control / base, ``probe_cost`` probed / control (medians of
    sound builds); more than 1.15 either way, or with a finding of the ``audit`` (the bundle's: what
    makes the builds for probes another kernel), what the probes say is ``perturbed`` (``None``: not
    known, for control or probed has no time that counts).
    """

    id: str
    variant: Variant
    correctness: Correctness
    builds: tuple[BuildRun, ...]
    control_cost: Ratio | None
    probe_cost: Ratio | None
    perturbed: bool | None
    probe_file: str | None
    probe_metadata: str | None
    error: RunError | None
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    audit: tuple[AuditFinding, ...] = ()
    probe_kept: tuple[KeptFile, ...] = ()

    @property
    def bad(self) -> bool:
        """Is it wrong, or did one of its builds not run or not compute the same?"""
        return (
            self.correctness.verdict in BAD
            or self.error is not None
            or any(build.problem is not None for build in self.builds)
        )


class Device(Record, frozen=True, kw_only=True):
    """The device as it was found: clocks (kHz) are read, never set."""

    name: str
    compute_capability: tuple[Some, Count]
    driver_version: Count
    sms: Some
    memory_bytes: Count
    l2_bytes: Count
    max_smem_per_cta_bytes: Count
    clock_khz: Count | None
    memory_clock_khz: Count | None


class LibraryTime(Record, frozen=True, kw_only=True):
    """The same matrix product by a library: ``case`` is that of the variants it stands beside."""

    case: str
    library: str
    version: str
    m: Some
    n: Some
    k: Some
    dtype: str
    time: Measurement


class Profile(Record, frozen=True, kw_only=True):
    """``profile.json``.

    Of one that is not ``complete``, ``no_turn`` are the ids of the variants that did not run
    (``None``: told by an older version).
    """

    schema_version: Literal[1] = PROFILE_SCHEMA_VERSION
    device: Device
    seed: int
    complete: bool
    variants: tuple[ProfiledVariant, ...]
    skipped: tuple[SkippedVariant, ...]
    libraries: tuple[LibraryTime, ...]
    notes: tuple[str, ...]
    no_turn: tuple[str, ...] | None = None
