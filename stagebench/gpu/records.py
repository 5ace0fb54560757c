"""What did a device say?  ``profile.json``; times are microseconds, errors have the driver's names.

``None`` means "not measured"; 0 means "measured, and it was none".  A float that is not finite
(an output full of NaN) is ``None`` beside the counts that say so.
"""

from __future__ import annotations

from typing import Literal

from stagebench.bundle.records import CubinKind, SkippedVariant
from stagebench.model import Record, Variant
from stagebench.model.timing import Measurement

PROFILE_SCHEMA_VERSION: Literal[1] = 1
PROFILE = "profile.json"

Verdict = Literal["correct", "wrong", "race", "fails", "hangs", "not_compared"]
"""``wrong``: differs from the reference by more than rounding; ``race``: runs on the same inputs
differ; ``fails``: the device or the driver refused; ``hangs``: not done in time;
``not_compared``: it ran and there was nothing to compare with, or it could not be run here."""
BAD: tuple[Verdict, ...] = ("wrong", "race", "fails", "hangs")
"""Those that are shown in red, and that a command's exit code tells of."""


class RunError(Record, frozen=True, kw_only=True):
    """Why a variant (or one build of it) has no result.

    ``name`` is the driver's (``CUDA_ERROR_ILLEGAL_ADDRESS``) or one of ours: ``another_arch``,
    ``bundle``, ``timeout``, ``process_died``, ``unknown_dtype``.
    """

    name: str
    message: str


class TensorComparison(Record, frozen=True, kw_only=True):
    """One output against the reference's, in float64.

    ``relative_error`` is ‖out − ref‖ / ‖ref‖, ``fraction_wrong`` the share of elements off by more
    than ``tolerance`` allows (`stagebench.gpu.correctness`); ``unwritten`` counts elements that
    still hold the poison.
    """

    tensor: str
    dtype: str
    elements: int
    bit_equal: bool
    relative_error: float | None
    max_abs_error: float | None
    fraction_wrong: float
    unwritten: int
    tolerance: float
    agrees: bool


class Correctness(Record, frozen=True, kw_only=True):
    """What a variant computed.

    ``reference`` is the id it was compared with, ``expected`` where the experiment gave the
    result.  ``differing_runs`` of ``runs`` had other bits than the first; ``smem_poisoned`` and
    what that needs is `stagebench.gpu.poison`.
    """

    verdict: Verdict
    reference: str | None
    runs: int
    differing_runs: int
    smem_poisoned: bool
    tensors: tuple[TensorComparison, ...]


class BuildRun(Record, frozen=True, kw_only=True):
    """One build (base, control, probed) of a variant, on the same inputs.

    ``same_as_base`` says whether its outputs have base's bits; ``rotation`` is how many sets of
    tensors the timed launches went round, ``rotation_bytes`` their size.  ``time`` is between two
    device events around a launch, ``device_time`` the kernel alone, by CUPTI's activity records.
    """

    kind: CubinKind
    registers: int | None
    local_bytes: int | None
    static_smem_bytes: int | None
    same_as_base: bool | None
    time: Measurement | None
    min_us: float | None
    device_time: Measurement | None = None
    rotation: int | None
    rotation_bytes: int | None
    error: RunError | None


class ProfiledVariant(Record, frozen=True, kw_only=True):
    """One variant on the device.

    ``probe_file`` is the raw probe buffer of one launch, ``probe_metadata`` what decodes it, both
    beside ``profile.json``; so are ``outputs``, one ``.npy`` for each tensor that was kept of the
    first run.  ``control_cost`` is control / base, ``probe_cost`` probed / control (medians); more
    than 1.15 either way, the probed times are ``perturbed``.
    """

    id: str
    variant: Variant
    correctness: Correctness
    builds: tuple[BuildRun, ...]
    control_cost: float | None
    probe_cost: float | None
    perturbed: bool | None
    probe_file: str | None
    probe_metadata: str | None
    error: RunError | None
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Device(Record, frozen=True, kw_only=True):
    """The device as it was found: clocks (kHz) are read, never set."""

    name: str
    compute_capability: tuple[int, int]
    driver_version: int
    sms: int
    memory_bytes: int
    l2_bytes: int
    max_smem_per_cta_bytes: int
    clock_khz: int | None
    memory_clock_khz: int | None


class LibraryTime(Record, frozen=True, kw_only=True):
    """The same matrix product by a library: ``case`` is that of the variants it stands beside."""

    case: str
    library: str
    version: str
    m: int
    n: int
    k: int
    dtype: str
    time: Measurement


class Profile(Record, frozen=True, kw_only=True):
    """``profile.json``."""

    schema_version: Literal[1] = PROFILE_SCHEMA_VERSION
    device: Device
    seed: int
    complete: bool
    variants: tuple[ProfiledVariant, ...]
    skipped: tuple[SkippedVariant, ...]
    libraries: tuple[LibraryTime, ...]
    notes: tuple[str, ...]
