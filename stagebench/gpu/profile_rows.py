"""What does a profile look like as a table?  Records in, cells out; verdicts come before times."""

from __future__ import annotations

from dataclasses import dataclass

from stagebench.bundle.records import CUBIN_KINDS
from stagebench.gpu.records import Profile, ProfiledVariant
from stagebench.model.timing import Measurement

_COLUMNS = ("variant", "verdict", "error", "base, µs", "CUPTI, µs", "control", "probed", "note")
_CUPTI = _COLUMNS.index("CUPTI, µs")
_NOT_KNOWN = "–"


@dataclass(frozen=True)
class ProfileRow:
    """One variant; ``bad``: to be shown as such."""

    cells: tuple[str, ...]
    bad: bool


def profile_rows(found: Profile) -> tuple[tuple[str, ...], tuple[ProfileRow, ...]]:
    """The columns' names, and a row for each variant in the order in which they ran.

    CUPTI has a column only where it was there.
    """
    rows = tuple(_row(one) for one in found.variants)
    if any(build.device_time for one in found.variants for build in one.builds):
        return _COLUMNS, rows
    shorter = (ProfileRow(_without_cupti(row.cells), row.bad) for row in rows)
    return _without_cupti(_COLUMNS), tuple(shorter)


def _without_cupti(cells: tuple[str, ...]) -> tuple[str, ...]:
    return cells[:_CUPTI] + cells[_CUPTI + 1 :]


def _row(one: ProfiledVariant) -> ProfileRow:
    verdict = one.correctness.verdict
    times = {build.kind: build.time for build in one.builds}
    errors = [c.relative_error for c in one.correctness.tensors]
    worst = max((error for error in errors if error is not None), default=None)
    shown = _NOT_KNOWN if worst is None else f"{worst:.1e}"
    if any(error is None for error in errors):
        shown = "not finite"
    base, control, probed = (times.get(kind) for kind in CUBIN_KINDS)
    alone = {build.kind: build.device_time for build in one.builds}.get("base")
    against = (_against(control, base), _against(probed, base))
    shown_times = (_time(base), _time(alone), *against)
    return ProfileRow(
        cells=(one.id, verdict, shown, *shown_times, _note(one)),
        bad=verdict in ("wrong", "race", "fails", "hangs"),
    )


def _time(time: Measurement | None) -> str:
    if time is None:
        return _NOT_KNOWN
    half = max(time.high_us - time.median_us, time.median_us - time.low_us)
    return f"{time.median_us:.1f} ± {half:.1f}"


def _against(time: Measurement | None, base: Measurement | None) -> str:
    """A build's median as a multiple of base's."""
    if time is None or base is None or base.median_us <= 0:
        return _NOT_KNOWN
    return f"×{time.median_us / base.median_us:.3f}"


def _note(one: ProfiledVariant) -> str:
    said = []
    if one.error is not None:
        said.append(one.error.message)
    if one.correctness.differing_runs:
        said.append(f"{one.correctness.differing_runs} of {one.correctness.runs} runs differ")
    said += [
        f"{tensor.tensor}: {tensor.fraction_wrong:.1%} of elements wrong"
        for tensor in one.correctness.tensors
        if not tensor.agrees
    ]
    for build in one.builds:
        if build.error is not None:
            said.append(f"{build.kind}: {build.error.message}")
        elif build.same_as_base is False:
            said.append(f"{build.kind}: other bits than base")
    said += one.notes
    if one.perturbed:
        said.append(f"perturbed: probes cost ×{one.probe_cost:.2f}")
    return "; ".join(said)
