"""What goes into a bundle for one variant, before it is written?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stagebench.bundle.errors import BundleError
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.records import CubinKind, ValueRange
from stagebench.model import Launch, VariantResult
from stagebench.model.audit_finding import AuditFinding


@dataclass(frozen=True)
class VariantParts:
    """One lowered variant, or a kernel of a launch plan, with its cubins.

    ``cubins`` has ``base`` at least; ``probe`` is the probe builder's metadata as JSON, kept as it
    is, ``audit`` what was found in the builds for it.  ``scalars`` give symbolic extents and scalar
    arguments their values.  ``contents`` and ``expected`` are raw bytes by tensor
    (`stagebench.bundle.records.BundledTensor`).
    """

    result: VariantResult | GivenKernel
    cubins: Mapping[CubinKind, bytes]
    cubin_arch: str
    probe: bytes | None = None
    audit: tuple[AuditFinding, ...] = ()
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    values: Mapping[str, ValueRange] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict)
    expected: Mapping[str, bytes] = field(default_factory=dict)


def launch_of(result: VariantResult | GivenKernel) -> Launch | None:
    """How it is launched; ``None`` where it did not lower."""
    if isinstance(result, GivenKernel):
        return result.launch
    return None if result.facts is None else result.facts.launch


def not_lowered(result: VariantResult | GivenKernel) -> BundleError:
    """What to say of a variant that has no kernel."""
    failure = None if isinstance(result, GivenKernel) else result.failure
    return BundleError(
        f"it did not lower: {failure.message if failure else 'no facts'}",
        hint="`stagebench explain RUN` shows why; sweep again once it lowers",
    )
