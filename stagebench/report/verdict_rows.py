"""What did each variant compute, and how long did it take?  Verdicts come before times.

Variants that differ in depth alone stand together under what they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stagebench.bundle.records import CUBIN_KINDS
from stagebench.gpu.records import Profile, ProfiledVariant, TensorComparison
from stagebench.gpu.results import is_perturbed
from stagebench.model.timing import Measurement
from stagebench.report import identity, quantities
from stagebench.timing.ailments import finding_told

_COLUMNS = ("num_stages", "verdict", "error", "base, µs", "CUPTI, µs", "control", "probed", "note")
_CUPTI = _COLUMNS.index("CUPTI, µs")
_NOT_KNOWN = "–"
_LEAST_SHARE = 0.01
"""Below it, wrong elements are counted: one of a million is not 0.0 %."""


@dataclass(frozen=True)
class VerdictRow:
    """One variant; ``bad``: to be shown as such."""

    cells: tuple[str, ...]
    bad: bool


@dataclass(frozen=True)
class VerdictTable:
    """The columns' names, and the rows by what their variants share, depths ascending."""

    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[VerdictRow, ...]], ...]


def verdict_table(found: Profile) -> VerdictTable:
    """A row for each variant; CUPTI has a column only where it was there."""
    timed = any(build.device_time for one in found.variants for build in one.builds)

    def kept(cells: tuple[str, ...]) -> tuple[str, ...]:
        return cells if timed else cells[:_CUPTI] + cells[_CUPTI + 1 :]

    groups: dict[str, list[ProfiledVariant]] = {}
    for one in found.variants:
        groups.setdefault(_shared(one, found), []).append(one)
    return VerdictTable(
        columns=kept(_COLUMNS),
        groups=tuple(
            (
                heading,
                tuple(
                    VerdictRow(kept(_cells(one)), one.bad)
                    for one in sorted(variants, key=lambda one: one.variant.num_stages or 0)
                ),
            )
            for heading, variants in groups.items()
        ),
    )


def _shared(one: ProfiledVariant, found: Profile) -> str:
    """Kernel, arch and the values that tell this variant from others, but for its depth."""
    kernel = one.variant.kernel
    told = identity.differing([v.variant for v in found.variants if v.variant.kernel == kernel])
    values = {**one.variant.params, **one.variant.pass_configs}
    words = [kernel, one.variant.arch]
    words += [f"{name}={identity.value_text(values[name])}" for name in told if name in values]
    if len({each.variant.compiler for each in found.variants}) > 1:
        words.append(identity.compiler(one.variant))
    return " · ".join(words)


def _cells(one: ProfiledVariant) -> tuple[str, ...]:
    verdict = one.correctness.verdict
    times = {build.kind: build.time for build in one.builds if build.problem is None}
    shown = _error(one.correctness.tensors)
    base, control, probed = (times.get(kind) for kind in CUBIN_KINDS)
    alone = {build.kind: build.device_time for build in one.builds}.get("base")
    against = (_against(control, base), _against(probed, base))
    shown_times = (quantities.measured(base), quantities.measured(alone), *against)
    depth = identity.depth(one.variant) or _NOT_KNOWN
    return depth, verdict, shown, *shown_times, _note(one)


def _error(tensors: Sequence[TensorComparison]) -> str:
    """The largest relative error; a reference of zeros has none, then the largest difference."""
    if any(one.max_abs_error is None for one in tensors):
        return "not finite"
    zero = [one.max_abs_error for one in tensors if one.relative_error is None]
    if zero:
        return f"{max(error for error in zero if error is not None):.1e} abs"
    errors = [one.relative_error for one in tensors if one.relative_error is not None]
    return f"{max(errors):.1e}" if errors else _NOT_KNOWN


def _wrong(tensor: TensorComparison) -> str:
    wrong = round(tensor.fraction_wrong * tensor.elements)
    share = tensor.fraction_wrong
    many = f"{share:.1%} of" if share >= _LEAST_SHARE else f"{wrong} of {tensor.elements}"
    return f"{tensor.tensor}: {many} elements wrong"


def _against(time: Measurement | None, base: Measurement | None) -> str:
    """A build's median as a multiple of base's."""
    if time is None or base is None or base.median_us <= 0:
        return _NOT_KNOWN
    return f"×{time.median_us / base.median_us:.3f}"


def _note(one: ProfiledVariant) -> str:
    said = []
    if one.error is not None:
        said.append(one.error.told)
    if one.correctness.differing_runs:
        said.append(f"{one.correctness.differing_runs} of {one.correctness.runs} runs differ")
    said += [_wrong(tensor) for tensor in one.correctness.tensors if not tensor.agrees]
    for build in one.builds:
        if build.error is not None:
            said.append(build.error.told)
        elif build.same_as_base is False:
            said.append(f"{build.kind}: other bits than base: not used")
    said += one.notes
    perturbed = [finding_told(found) for found in one.audit]
    if one.probe_cost is not None and is_perturbed(one.probe_cost):
        perturbed.insert(0, f"probed is ×{one.probe_cost:.2f} of control")
    if perturbed:
        said.append(f"perturbed: {', '.join(perturbed)}")
    elif one.probe_file is not None and one.perturbed is None:
        said.append("what the probes cost is not known: waits may be perturbed")
    return "; ".join(said)
