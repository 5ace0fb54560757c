"""Where did the time go, and what did depth change?  Stalls, roles and correlations as rows.

Records in, rows out; the first row is the head.  What costs most comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.bundle.records import SkippedVariant
from stagebench.gpu.records import LibraryTime
from stagebench.model import Variant
from stagebench.model.timing import (
    Correlation,
    RoleTime,
    SectionTime,
    SiteStall,
    Stalls,
    TimingProblem,
    VariantTiming,
)
from stagebench.report import identity, quantities
from stagebench.report.quantities import UNKNOWN
from stagebench.timing.ailments import ailment, refusals
from stagebench.timing.correlate import fact_values
from stagebench.timing.measured import MeasuredSweep
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.probe_cost import doubt, perturbed, probe_cost, why_cost_unknown
from stagebench.timing.stalls import CAUSES

Rows = tuple[tuple[str, ...], ...]

_FEW_CYCLES = 9.95
"""Below it a cycle has a decimal: a wait outside of the loop is a part of one in each tile."""
_LEAST_SHOWN = 0.05
_STALL_HEAD = (
    "wait", "for", "role", "section", "Python", "CUDA", "n", "mean", "p50", "p95", "max", "share",
)  # fmt: skip


def stall_rows(stalls: Stalls) -> Rows:
    """One row per statement, most cycles first; all numbers but ``n`` and ``share`` are cycles."""
    if not stalls.sites:
        return ()
    return (_STALL_HEAD, *(_stall_row(stall) for stall in stalls.sites))


def _stall_row(stall: SiteStall) -> tuple[str, ...]:
    site = stall.site
    depth = site.args.get("max_pending")
    return (
        site.op if depth is None else f"{site.op}<{depth}>",
        stall.cause,
        site.role,
        site.section or UNKNOWN,
        quantities.python_line(stall.site.line, stall.site.line_kind),
        UNKNOWN if site.cuda_line is None else str(site.cuda_line),
        _executions(stall),
        f"{stall.mean_cycles:.0f}",
        f"{stall.p50_cycles:.0f}",
        f"{stall.p95_cycles:.0f}",
        str(stall.max_cycles),
        _share(stall.share),
    )


def _executions(stall: SiteStall) -> str:
    """``1024``; where the prediction is another number, both: ``1024 of 2048``."""
    if stall.predicted is None or stall.predicted == stall.executions:
        return str(stall.executions)
    return f"{stall.executions} of {stall.predicted}"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1%}"


def role_rows(roles: Sequence[RoleTime]) -> Rows:
    """The whole kernel by role, then each role's sections; shares of that row's own time."""
    if not roles:
        return ()
    head = ("role", "section", "warps", "cycles", "busy", *CAUSES)
    rows = []
    for role in roles:
        rows.append(_role_row(role, role.whole))
        rows += [_role_row(role, section) for section in role.sections]
    kept = [
        index
        for index, name in enumerate(head)
        if name not in CAUSES or any(row[index] not in ("0", UNKNOWN) for row in rows)
    ]
    return tuple(tuple(row[index] for index in kept) for row in (head, *rows))


def _role_row(role: RoleTime, time: SectionTime) -> tuple[str, ...]:
    whole = time.section is None
    return (
        role.role if whole else "",
        "all" if whole else str(time.section),
        str(role.warps) if whole else "",
        f"{time.cycles / role.warps:.0f}",
        _part(time.busy_cycles, time.cycles),
        *(_part(time.stall_cycles.get(cause, 0), time.cycles) for cause in CAUSES),
    )


def _part(cycles: int, of: int) -> str:
    """A share; ``0`` is measured and nothing, ``–`` a share of no time."""
    if of == 0:
        return UNKNOWN
    return "0" if cycles == 0 else f"{cycles / of:.1%}"


def depth_rows(timings: Sequence[VariantTiming]) -> Rows:
    """One column per depth: time, stalls by role and cause, then the facts that differ.

    A fact that is the same at every one of several depths is left out.
    """
    ordered = sorted(timings, key=_order)
    if not ordered:
        return ()
    head = ("num_stages", *(_depth(timing.num_stages) for timing in ordered))
    rows = [("kernel, µs", *(_time(timing) for timing in ordered))]
    stalls = [stall_by_cause(timing.stalls) for timing in ordered]
    for key in sorted({key for column in stalls for key in column}):
        label = f"{key[0]} waits for {key[1]}, cycles per tile"
        rows.append((label, *(_cycles(column.get(key)) for column in stalls)))
    costs = [_probe_cost(timing) for timing in ordered]
    if any(cost != UNKNOWN for cost in costs):
        rows.append(("probes cost", *costs))
    facts = [fact_values(timing.facts) for timing in ordered]
    for name in dict.fromkeys(name for column in facts for name in column):
        values = tuple(column.get(name) or UNKNOWN for column in facts)
        if len(set(values)) > 1 or len(ordered) == 1:
            rows.append((name, *values))
    return (head, *rows)


def _probe_cost(timing: VariantTiming) -> str:
    """``×1.04``, ``×1.31 perturbed``; of a build that is refused, or not timed, why."""
    if timing.refused:
        return f"{UNKNOWN} ({', '.join(' '.join(pair) for pair in refusals(timing))})"
    if doubt(timing) == "cost_unknown":
        return f"{UNKNOWN} ({why_cost_unknown(timing)})"
    cost = probe_cost(timing)
    shown = UNKNOWN if cost is None else f"×{cost:.2f}"
    return f"{shown} perturbed" if perturbed(timing) else shown


def _order(timing: VariantTiming) -> int:
    return -1 if timing.num_stages is None else timing.num_stages


def _depth(num_stages: int | None) -> str:
    return identity.AS_WRITTEN if num_stages is None else str(num_stages)


def rate_rows(sweep: MeasuredSweep) -> Rows:
    """One column per depth; none where no depth's work is known."""
    if all(rate is None for rate in sweep.rates):
        return ()
    head = ("num_stages", *(_depth(timing.num_stages) for timing in sweep.timings))
    columns = [
        None if timing.bad else rate
        for timing, rate in zip(sweep.timings, sweep.rates, strict=True)
    ]
    rows = (
        ("TFLOP/s", *(_number(rate.tera_flops if rate else None) for rate in columns)),
        (
            "of the matrix units' peak",
            *(_share(rate.of_peak if rate else None) for rate in columns),
        ),
        (
            "of the bandwidth floor",
            *(_share(rate.of_bandwidth if rate else None) for rate in columns),
        ),
    )
    return (head, *(row for row in rows if set(row[1:]) != {UNKNOWN}))


def compiler_tables(sweeps: Sequence[MeasuredSweep]) -> tuple[tuple[str, Rows], ...]:
    """A table of times for each kernel that several compilers made: a row each, a column a depth.

    A depth that a compiler has no variant of is not known there.
    """
    groups: dict[str, list[MeasuredSweep]] = {}
    for sweep in sweeps:
        variant = sweep.variant
        groups.setdefault(f"{variant.kernel} · {variant.arch}", []).append(sweep)
    found = []
    for title, members in groups.items():
        if len({sweep.variant.compiler for sweep in members}) < 2:
            continue
        ordered = sorted((one for sweep in members for one in sweep.timings), key=_order)
        depths = list(dict.fromkeys(one.num_stages for one in ordered))
        rows = [("num_stages", *map(_depth, depths))]
        for sweep in members:
            times = {timing.num_stages: _time(timing) for timing in sweep.timings}
            label = _compiler_label(sweep.variant, [other.variant for other in members])
            rows.append((label, *(times.get(depth, UNKNOWN) for depth in depths)))
        found.append((f"{title}: kernel, µs, by compiler", tuple(rows)))
    return tuple(found)


def _compiler_label(variant: Variant, among: Sequence[Variant]) -> str:
    """The compiler, and what tells its own sweeps apart."""
    own = [other for other in among if other.compiler == variant.compiler]
    values = {**variant.params, **variant.pass_configs}
    axes = [
        f"{name}={identity.value_text(values[name])}"
        for name in identity.differing(own)
        if name in values
    ]
    return " ".join([identity.compiler(variant), *axes])


def skipped_lines(skipped: Sequence[SkippedVariant]) -> tuple[str, ...]:
    """Which variants are not in the bundle, and why; each by its compiler too."""
    return tuple(
        f"left out: {one.variant.kernel} {one.variant.arch} num_stages="
        f"{identity.depth(one.variant) or 'as written'} by {identity.compiler(one.variant)}: "
        f"{one.reason.splitlines()[0]}"
        for one in skipped
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def library_lines(libraries: Sequence[LibraryTime]) -> tuple[str, ...]:
    """The same product by a library: a line each."""
    return tuple(
        f"{one.library} {one.version}, {one.m}×{one.n}×{one.k} {one.dtype}: "
        f"{one.time.median_us:.1f} µs, {2 * one.m * one.n * one.k / one.time.median_us / 1e6:.1f} "
        "TFLOP/s"
        for one in libraries
    )


def _time(timing: VariantTiming) -> str:
    """``243 ± 1``; a depth that is wrong, fails or hangs has no time."""
    return f"✗ {ailment(timing).word}" if timing.bad else quantities.measured(timing.base)


def _cycles(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if 0 < value < _LEAST_SHOWN:
        return "<0.1"
    return f"{value:.1f}" if 0 < value < _FEW_CYCLES else f"{value:.0f}"


def correlation_rows(found: Sequence[Correlation]) -> Rows:
    """The strongest first, those without a number last."""
    if not found:
        return ()
    ordered = sorted(found, key=lambda each: -1.0 if each.rho is None else -abs(each.rho) - 2)
    head = ("of", "with", "n", "rho", "95 % interval", "p", "what it says")
    return (head, *(_correlation_row(each) for each in ordered))


def _correlation_row(found: Correlation) -> tuple[str, ...]:
    interval = UNKNOWN
    if found.low is not None and found.high is not None:
        interval = f"{found.low:+.2f} to {found.high:+.2f}"
    return (
        found.left,
        found.right,
        str(found.n),
        UNKNOWN if found.rho is None else f"{found.rho:+.2f}",
        interval,
        UNKNOWN if found.p_value is None else f"{found.p_value:.3f}",
        found.claim,
    )


def unranked_lines(found: Sequence[Correlation]) -> tuple[str, ...]:
    """Why there is no number: one line a reason, with all that it holds for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for each in found:
        if not each.n:
            continue  # nothing was measured, and the table says so
        reasons.setdefault((each.right, each.claim), []).append(each.left)
    return tuple(
        f"no rank of {', '.join(names)} with {right}: {why}"
        for (right, why), names in reasons.items()
    )


def problem_lines(problems: Sequence[TimingProblem]) -> tuple[str, ...]:
    """One line for each kind and message: how many, and where the first is."""
    groups: dict[tuple[str, str], list[TimingProblem]] = {}
    for problem in problems:
        groups.setdefault((problem.kind, problem.message), []).append(problem)
    return tuple(_problem_line(found) for found in groups.values())


def _problem_line(found: Sequence[TimingProblem]) -> str:
    first = found[0]
    place = []
    if first.cta is not None:
        place.append(f"CTA {first.cta} warp {first.warp}")
    if first.record is not None:
        place.append(f"record {first.record}")
    if first.offset_bytes is not None:
        place.append(f"byte {first.offset_bytes}")
    where = ", ".join(place)
    line = f"{first.kind.replace('_', ' ')}: {first.message}"
    if len(found) > 1:
        return f"{line} ({quantities.count(len(found), 'warp')}; first at {where})"
    return f"{line} ({where})" if where else line
