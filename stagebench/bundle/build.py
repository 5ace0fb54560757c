"""How does a run become a bundle?  Each lowered variant is assembled (if it was not) and packed.

So is each kernel of a launch plan, which was assembled to be read.

`stagebench.bundle.assembling` is the source of cubins that a run has not made yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from stagebench.bundle.errors import BundleError
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.launch_checks import integer_bounds
from stagebench.bundle.parts import VariantParts, launch_of, not_lowered
from stagebench.bundle.records import Bundle, CubinKind, ValueRange
from stagebench.bundle.write import write_bundle
from stagebench.model import Launch, Variant, VariantResult
from stagebench.probe.audit_records import Audit

Cubin = Callable[[], bytes]
"""Waits for a cubin; raises `BundleError` where there will be none."""
_ARCH = re.compile(r"sm_(\d+)([af]?)")


@dataclass(frozen=True)
class Candidate:
    """A variant as a run, or a launch plan, has it.

    ``ptx`` and ``cubin`` were made already, for its own arch.  ``contents`` and ``expected`` are as
    in `stagebench.bundle.parts.VariantParts`; ``audit`` is that of its probes.
    """

    result: VariantResult | GivenKernel
    kernel_cu: str | None
    ptx: str | None = None
    cubin: bytes | None = None
    extra_cubins: Mapping[CubinKind, bytes] = field(default_factory=dict)
    probe: bytes | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict)
    expected: Mapping[str, bytes] = field(default_factory=dict)
    audit: Audit | None = None

    @property
    def launch(self) -> Launch | None:
        """How it is launched; ``None`` where it did not lower."""
        return launch_of(self.result)

    @property
    def scalars(self) -> Mapping[str, int | float]:
        """The values of scalar arguments that it brings along."""
        return self.result.scalars if isinstance(self.result, GivenKernel) else {}


class CubinSource(Protocol):
    """Something that assembles candidates, several at a time."""

    def submit(self, candidate: Candidate, arch: str) -> Cubin:
        """Start assembling ``candidate`` for ``arch``."""


@dataclass(frozen=True)
class BuildOptions:
    """``device_arch`` is the device's (``sm_90``): code for a lower arch is assembled for it."""

    device_arch: str | None = None
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    values: Mapping[str, ValueRange] = field(default_factory=dict)


def build_bundle(
    path: Path,
    candidates: Sequence[Candidate],
    source: CubinSource,
    options: BuildOptions,
    *,
    poison: Mapping[str, bytes] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Bundle:
    """Assemble what has no cubin, pack everything; what fails is skipped with its reason."""
    waiting = [_submitted(one, source, options) for one in candidates]
    parts: list[VariantParts] = []
    failed: list[tuple[Variant, BundleError]] = []
    for index, (one, cubin) in enumerate(zip(candidates, waiting, strict=True)):
        if progress is not None:
            progress(index, len(candidates))
        try:
            if isinstance(cubin, BundleError):
                raise cubin
            parts.append(_parts(one, cubin(), options))
        except BundleError as exc:
            failed.append((one.result.variant, exc))
    return write_bundle(path, parts, failed=failed, poison=poison)


def cubin_arch(arch: str, device_arch: str | None) -> str:
    """What code for ``arch`` is assembled for: the device, unless it is tied to its own arch.

    PTX of a plain target runs on any later device; of an ``a`` or ``f`` target it does not (PTX
    ISA, ``.target``).
    """
    match = _ARCH.fullmatch(arch)
    if device_arch is None or match is None or match[2]:
        return arch
    device = _ARCH.fullmatch(device_arch)
    if device is None:
        raise BundleError(f"{device_arch!r} is no arch", hint="such as --device-arch sm_90")
    return device_arch if int(device[1]) >= int(match[1]) else arch


def _submitted(one: Candidate, source: CubinSource, options: BuildOptions) -> Cubin | BundleError:
    cubin = one.cubin
    if isinstance(one.result, GivenKernel):
        if one.result.problem is not None:
            return BundleError(one.result.problem)
    elif one.result.facts is None or one.kernel_cu is None:
        return not_lowered(one.result)
    arch = cubin_arch(one.result.variant.arch, options.device_arch)
    if cubin is not None and arch == one.result.variant.arch:
        made = cubin
        return lambda: made
    return source.submit(one, arch)


def _parts(one: Candidate, cubin: bytes, options: BuildOptions) -> VariantParts:
    launch = one.launch
    whole = {
        tensor.name
        for tensor in (launch.tensors if launch else None) or ()
        if integer_bounds(tensor.dtype) is not None
    }
    return VariantParts(
        result=one.result,
        cubins={"base": cubin, **one.extra_cubins},
        cubin_arch=cubin_arch(one.result.variant.arch, options.device_arch),
        probe=one.probe,
        audit=() if one.audit is None else one.audit.serious,
        scalars={**options.scalars, **one.scalars},
        values={name: value for name, value in options.values.items() if name in whole},
        contents=one.contents,
        expected=one.expected,
    )
