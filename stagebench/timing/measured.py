"""What did a device say of each sweep of depths?  ``timings.json``: all that is shown, no buffers.

Made from a profile, its probe buffers and the facts that travelled with the bundle; small enough to
be committed, and enough to show, draw and correlate again without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from stagebench.bundle.read import OpenBundle
from stagebench.dump.atomic_file import write_file
from stagebench.errors import DumpError, StagebenchError
from stagebench.gpu.profile_file import TIMINGS, read_probes
from stagebench.gpu.records import LibraryTime, Profile, ProfiledVariant
from stagebench.machine.occupancy import occupancy
from stagebench.model import Facts, MachineCode, Record, Variant, VariantResult
from stagebench.model.codec import decode, encode_pretty
from stagebench.model.timing import DepthFacts, Stalls, VariantTiming
from stagebench.timing.depth_facts import given_depth_facts
from stagebench.timing.rates import Rates, rates
from stagebench.timing.sweep_timings import BuildFacts, read_stalls, sweep_key, sweep_timings


class MeasuredSweep(Record, frozen=True, kw_only=True):
    """The depths of one kernel on one arch, ascending.

    ``variant`` is the shallowest; ``rates`` run along ``timings`` (``None``: work not known).
    """

    variant: Variant
    timings: tuple[VariantTiming, ...]
    rates: tuple[Rates | None, ...]


class Measured(Record, frozen=True, kw_only=True):
    """``timings.json``."""

    schema_version: Literal[1] = 1
    device: str
    sweeps: tuple[MeasuredSweep, ...]
    libraries: tuple[LibraryTime, ...]


def measure(
    found: Profile,
    folder: Path,
    bundle: OpenBundle | None,
    warn: Callable[[str], None] = lambda _: None,
) -> Measured:
    """Join a profile in ``folder`` with its probe buffers and the bundle's facts.

    Without the bundle nothing is known of what the compiler decided.  What of one variant can't be
    read is told by ``warn`` and not known in the result; the times of a device are never lost.
    """
    facts: Mapping[str, Facts] = {}
    machines: Mapping[str, MachineCode] = {}
    built: Mapping[str, BuildFacts] = {}
    given: Mapping[str, DepthFacts] = {}
    if bundle is not None:
        facts = _facts(found, bundle, warn)
        machines = _machines(found, facts, bundle, warn)
        built = _on_device(found, bundle)
        given = {
            name: given_depth_facts(machine, bundle.variant(name).launch)
            for name, machine in machines.items()
            if name not in facts
        }
    stalls = _all_stalls(found, folder, warn)
    sweeps = sweep_timings(found.variants, facts, stalls, built, given)
    by_depth = {
        (sweep_key(one.variant), one.variant.num_stages): machines.get(one.id)
        for one in found.variants
    }
    return Measured(
        device=found.device.name,
        sweeps=tuple(
            MeasuredSweep(
                variant=variant,
                timings=timings,
                rates=tuple(
                    rates(
                        by_depth.get((sweep_key(variant), t.num_stages)), found.device.name, t.base
                    )
                    for t in timings
                ),
            )
            for variant, timings in sweeps
        ),
        libraries=found.libraries,
    )


def write_measured(measured: Measured, folder: Path) -> None:
    """Write ``timings.json``."""
    write_file(folder / TIMINGS, encode_pretty(measured))


def sweep_names(measured: Measured) -> tuple[str, ...]:
    """A name for each sweep: ``kernel/arch``, and with it what else tells two sweeps apart.

    ``gemm/sm_90a``; ``gemm/sm_90a/block_N=64,compiler=tilelang==0.1.14``.
    """
    variants = [sweep.variant for sweep in measured.sweeps]
    names = []
    for variant in variants:
        same = [v for v in variants if (v.kernel, v.arch) == (variant.kernel, variant.arch)]
        own = [_values(v) for v in same if v.compiler == variant.compiler]
        axes = [
            f"{key}={value}"
            for key, value in _values(variant).items()
            if len({other.get(key) for other in own}) > 1
        ]
        if any(v.compiler != variant.compiler for v in same):
            axes.append(f"compiler={variant.compiler.name}=={variant.compiler.version}")
        names.append("/".join([variant.kernel, variant.arch, *([",".join(axes)] if axes else [])]))
    return tuple(names)


def _values(variant: Variant) -> dict[str, str]:
    """Parameters and pass configs but for the depth, as text."""
    values = {**variant.params, **variant.pass_configs}
    return {name: str(value) for name, value in values.items() if name != "num_stages"}


def _on_device(found: Profile, bundle: OpenBundle) -> dict[str, BuildFacts]:
    """Registers and occupancy of what really ran: sm_80 code is assembled for the device."""
    result = {}
    for one in found.variants:
        base = next((build for build in one.builds if build.kind == "base"), None)
        if base is None or base.registers is None:
            continue
        launch = bundle.variant(one.id).launch
        threads = 1
        for extent in launch.block:
            threads *= extent if isinstance(extent, int) else 1
        major, minor = found.device.compute_capability
        fit = occupancy(
            f"sm_{major}{minor}",
            threads,
            base.registers,
            base.static_smem_bytes or 0,
            launch.dynamic_smem_bytes,
        )
        result[one.id] = BuildFacts(base.registers, None if fit is None else fit.ctas_per_sm)
    return result


def _facts(found: Profile, bundle: OpenBundle, warn: Callable[[str], None]) -> Mapping[str, Facts]:
    facts: dict[str, Facts] = {}
    for one in found.variants:
        file = bundle.variant(one.id).facts
        if file is None:
            continue
        try:
            result = decode(bundle.load(file), VariantResult, file.path)
        except StagebenchError as exc:  # its times stay: what it is made of is not known
            warn(f"{one.id}: its facts can't be read: {exc.message}")
            continue
        if result.facts is not None:
            facts[one.id] = result.facts
    return facts


def _machines(
    found: Profile, known: Mapping[str, Facts], bundle: OpenBundle, warn: Callable[[str], None]
) -> Mapping[str, MachineCode]:
    """Machine code by id: of the facts, or of a kernel that has none."""
    machines = {name: facts.machine for name, facts in known.items() if facts.machine is not None}
    for one in found.variants:
        file = bundle.variant(one.id).machine
        if file is None:
            continue
        try:
            machines[one.id] = decode(bundle.load(file), MachineCode, file.path)
        except StagebenchError as exc:  # as of facts: its times stay
            warn(f"{one.id}: its machine code can't be read: {exc.message}")
    return machines


def _all_stalls(found: Profile, folder: Path, warn: Callable[[str], None]) -> Mapping[str, Stalls]:
    stalls: dict[str, Stalls] = {}
    for one in found.variants:
        try:
            read = _stalls(one, folder)
        except DumpError as exc:
            warn(f"{one.id}: its probes can't be read: {exc.message}")
            continue
        if read is not None:
            stalls[one.id] = read
    return stalls


def _stalls(one: ProfiledVariant, folder: Path) -> Stalls | None:
    probes = read_probes(folder, one)
    if probes is None:
        return None
    return read_stalls(*probes, str(one.probe_metadata))
