"""Which variants of a profile does ``--only`` choose?  The same in its verdicts and its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from stagebench.bundle.selection import chosen
from stagebench.errors import UsageError
from stagebench.gpu.records import LibraryTime, Profile
from stagebench.model import Variant
from stagebench.timing.measured import Measured, MeasuredSweep, sweep_names
from stagebench.timing.sweep_timings import sweep_key


@dataclass(frozen=True)
class _Depth:
    """One depth of one sweep, whichever file it stands in."""

    sweep: bytes
    num_stages: int | None


def select(
    profile: Profile | None, measured: Measured, only: Sequence[str]
) -> tuple[Profile | None, Measured]:
    """What one of ``only`` means: a sweep (`sweep_names`), depths of it, or ids of variants.

    A depth's name is that of its sweep with ``num_stages=N`` behind the arch, as a variant's id is.
    Raises `UsageError` where one of ``only`` means nothing.
    """
    if not only:
        return profile, measured
    names = _names(profile, measured)
    kept: frozenset[_Depth] = frozenset()
    for text in only:
        found = chosen(text, names)
        if not found:
            told = ", ".join(sweep_names(measured)) or None
            raise UsageError(f"--only {text}: nothing has that in its name", hint=told)
        kept |= found
    some = tuple(
        _cut(sweep, kept)
        for sweep in measured.sweeps
        if any(_Depth(sweep_key(sweep.variant), one.num_stages) in kept for one in sweep.timings)
    )
    cut = replace(
        measured, sweeps=some, libraries=_libraries(measured.libraries, [s.variant for s in some])
    )
    return None if profile is None else _cut_profile(profile, kept), cut


def _names(profile: Profile | None, measured: Measured) -> Mapping[_Depth, frozenset[str]]:
    names: dict[_Depth, frozenset[str]] = {}
    for name, sweep in zip(sweep_names(measured), measured.sweeps, strict=True):
        key = sweep_key(sweep.variant)
        for timing in sweep.timings:
            depth = _Depth(key, timing.num_stages)
            names[depth] = frozenset({name, _depth_name(name, sweep, timing.num_stages)})
    if profile is not None:
        for one in profile.variants:
            depth = _depth(one.variant)
            names[depth] = names.get(depth, frozenset()) | {one.id}
        for left_out in profile.skipped:
            depth = _depth(left_out.variant)
            variant = left_out.variant
            name = f"{variant.kernel}/{variant.arch}/num_stages={variant.num_stages}"
            names[depth] = names.get(depth, frozenset()) | {name}
    return names


def _depth(variant: Variant) -> _Depth:
    return _Depth(sweep_key(variant), variant.num_stages)


def _cut(sweep: MeasuredSweep, kept: frozenset[_Depth]) -> MeasuredSweep:
    key = sweep_key(sweep.variant)
    indices = [n for n, one in enumerate(sweep.timings) if _Depth(key, one.num_stages) in kept]
    return replace(
        sweep,
        timings=tuple(sweep.timings[n] for n in indices),
        rates=tuple(sweep.rates[n] for n in indices),
    )


def _cut_profile(profile: Profile, kept: frozenset[_Depth]) -> Profile:
    variants = tuple(one for one in profile.variants if _depth(one.variant) in kept)
    return replace(
        profile,
        variants=variants,
        skipped=tuple(one for one in profile.skipped if _depth(one.variant) in kept),
        libraries=_libraries(profile.libraries, [one.variant for one in variants]),
    )


def _libraries(
    libraries: tuple[LibraryTime, ...], variants: Sequence[Variant]
) -> tuple[LibraryTime, ...]:
    """Those beside a kernel that is left: a case is its name and a digest of its parameters."""
    kernels = {variant.kernel for variant in variants}
    return tuple(one for one in libraries if one.case.rpartition("-")[0] in kernels)


def _depth_name(name: str, sweep: MeasuredSweep, num_stages: int | None) -> str:
    """``gemm/sm_90a/num_stages=3,block_N=64``."""
    kernel_and_arch = f"{sweep.variant.kernel}/{sweep.variant.arch}"
    axes = name[len(kernel_and_arch) + 1 :]
    return f"{kernel_and_arch}/num_stages={num_stages}" + (f",{axes}" if axes else "")
