"""What is in a bundle?  ``bundle.json``, and how it names the files beside it.

Paths are relative to ``bundle.json``, digests BLAKE2b (RFC 7693) of 16 bytes over the stored bytes.
Everything symbolic was resolved when the bundle was made: what is launched is integers.
"""

from __future__ import annotations

from typing import Literal

from stagebench.model import Launch, Record, Variant
from stagebench.model.audit_finding import AuditFinding

BUNDLE_SCHEMA_VERSION: Literal[2] = 2
BUNDLE = "bundle.json"

CubinKind = Literal["base", "control", "probed"]
"""As compiled; without the unrolling that probes cost; with probes."""
CUBIN_KINDS: tuple[CubinKind, ...] = ("base", "control", "probed")

TensorRole = Literal["input", "output", "inout", "unused", "profiler"]
"""``profiler``: the kernel's own marks of regions write times to it, and nothing else does.  It is
all zero before each run (0: an empty slot) and no run's is compared with another's; the variant's
``launch.profilers`` has the record of that tensor that says how to read it.
"""


class BundledFile(Record, frozen=True, kw_only=True):
    """A file of the bundle: ``stored_bytes`` and ``digest`` are of the file, compressed or not."""

    path: str
    digest: str
    stored_bytes: int
    content_bytes: int
    compression: Literal["none", "zlib"]


class ValueRange(Record, frozen=True, kw_only=True):
    """Integers from ``low`` up to, not including, ``high``: what an index tensor may hold."""

    low: int
    high: int


class BundledTensor(Record, frozen=True, kw_only=True):
    """One tensor that the kernel is launched with; ``strides`` in elements, ``None``: compact.

    ``values`` bounds the seeded random integers; ``contents`` are the experiment's own values (raw,
    in the tensor's dtype and layout), ``expected`` what the experiment says must come out (raw
    float64, compact).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    role: TensorRole
    values: ValueRange | None = None
    contents: BundledFile | None = None
    expected: BundledFile | None = None


class BundledScalar(Record, frozen=True, kw_only=True):
    """The value of one scalar argument."""

    name: str
    dtype: str
    value: int | float


class BundledVariant(Record, frozen=True, kw_only=True):
    """One variant that can be launched.

    ``id`` is its folder in the bundle.  ``case`` is shared by the variants that must agree: the
    same kernel with the same parameters, at any depth and on any arch; they get the same inputs.
    ``references`` are ids of the same compiler to compare with, the best first: depth 0 of the
    same arch, depth 0 of another, then the other depths of the same arch.  ``cubin_arch`` is what
    the cubins were assembled for (sm_80 code may be assembled for sm_90).  ``launch`` has integers
    only.  ``facts`` is a `VariantResult`; a kernel of a launch plan has none (``None``), and
    instead ``machine``: a `MachineCode`, all that can be known without an IR (``None``: not read).
    ``audit`` is what the machine code of control and probed has that makes them another kernel than
    base: none where the audit passed, or there are no probes.
    """

    id: str
    variant: Variant
    case: str
    references: tuple[str, ...]
    cubin_arch: str
    launch: Launch
    tensors: tuple[BundledTensor, ...]
    scalars: tuple[BundledScalar, ...]
    cubins: dict[CubinKind, BundledFile]
    facts: BundledFile | None
    probe: BundledFile | None
    machine: BundledFile | None = None
    audit: tuple[AuditFinding, ...] = ()


class SkippedVariant(Record, frozen=True, kw_only=True):
    """A variant that is not in the bundle, and why."""

    variant: Variant
    reason: str


class Bundle(Record, frozen=True, kw_only=True):
    """``bundle.json``.  ``poison`` are cubins that fill shared memory, by arch."""

    schema_version: Literal[2] = BUNDLE_SCHEMA_VERSION
    variants: tuple[BundledVariant, ...]
    skipped: tuple[SkippedVariant, ...]
    poison: dict[str, BundledFile]


class BundleReport(Record, frozen=True, kw_only=True):
    """What `bundle --json` tells: the index that was written, and what else was said, as text.

    What the audits of builds for probes found is each variant's ``audit``.
    """

    schema_version: Literal[1] = 1
    bundle: Bundle
    notes: tuple[str, ...]
