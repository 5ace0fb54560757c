"""How are timings shown?  What is wrong, the verdicts, then tables that fit the width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from stagebench.gpu.records import Profile
from stagebench.model.timing import Stalls, VariantTiming
from stagebench.report import identity, lines, quantities
from stagebench.report.console import open_console
from stagebench.report.probe_trust_rows import damage_lines, unranked_depths
from stagebench.report.profile_rows import (
    Rows,
    compiler_tables,
    correlation_rows,
    depth_rows,
    library_lines,
    problem_lines,
    rate_rows,
    role_rows,
    skipped_lines,
    stall_rows,
    unranked_lines,
)
from stagebench.report.quantities import UNKNOWN
from stagebench.report.verdict_rows import verdict_table
from stagebench.timing.correlate import depth_steps
from stagebench.timing.measured import Measured
from stagebench.timing.rank_correlation import correlations

_OUTCOMES = {"faster": "green", "slower": "red", "within_noise": "", "unknown": "yellow"}


def print_stalls(stalls: Stalls, title: str, *, console: Console | None = None) -> None:
    """Print one probed run: its problems, its stalls by site, its time by role."""
    out = console or open_console()
    found = lines.hanging([], (title, "bold"), out.width)
    for line in problem_lines(stalls.problems):
        found += lines.hanging([("  ! ", "yellow")], (line, "yellow"), out.width)
    found += _table("Stalls by site, in cycles", stall_rows(stalls), out.width)
    roles = role_rows(stalls.roles)
    found += _table("Time by role, cycles of one warp", roles, out.width, labels=2)
    if stalls.read_cycles is not None:
        text = f"the two clock reads cost {stalls.read_cycles:.0f} cycles of each stall"
        found += lines.hanging([("  ", "")], (text, "dim"), out.width)
    lines.show(out, found)


def print_depths(
    timings: Sequence[VariantTiming], title: str, *, console: Console | None = None
) -> None:
    """Print what depth changed: a verdict for each step, a table of the depths, correlations."""
    out = console or open_console()
    found = lines.hanging([], (title, "bold"), out.width)
    for step in depth_steps(timings):
        found += lines.hanging([("  ", "")], (step.verdict, _OUTCOMES[step.outcome]), out.width)
    for line in damage_lines(timings):
        found += lines.hanging([("  ! ", "yellow")], (line, "yellow"), out.width)
    found += _table("Depths side by side", depth_rows(timings), out.width)
    ranked = correlations(timings)
    rows = correlation_rows([each for each in ranked if each.rho is not None])
    found += _table("Rank correlation over the depths", rows, out.width)
    without = unranked_lines([each for each in ranked if each.rho is None])
    for line in (*without, *(unranked_depths(timings) if ranked else ())):
        found += lines.hanging([("  ", "dim")], (line, "dim"), out.width)
    lines.show(out, found)


def print_verdicts(found: Profile, *, console: Console | None = None) -> None:
    """Print what each variant computed and how long it took; what is wrong in red."""
    out = console or open_console()
    table = verdict_table(found)
    title = f"{found.device.name}, {quantities.count(len(found.variants), 'variant')}"
    styled: list[list[lines.Styled]] = [[(cell, "dim") for cell in table.columns]]
    for heading, rows in table.groups:
        styled.append([(heading, "")])
        styled += [[(cell, "red" if row.bad else "") for cell in row.cells] for row in rows]
    notes = [*_unfinished(found), *found.notes, *skipped_lines(found.skipped)]
    text = lines.hanging([], (title, "bold"), out.width)
    text += lines.fitted(styled, out.width, indent=2)
    for note in notes:
        text += lines.hanging([("  ! ", "yellow")], (note, "yellow"), out.width)
    lines.show(out, [*text, Text("")])


def _unfinished(found: Profile) -> tuple[str, ...]:
    """How far it came, if not to its end."""
    if found.complete:
        return ()
    if found.no_turn is None:
        return ("incomplete: the run ended before every variant had its turn",)
    if not found.no_turn:
        return ("incomplete: every variant had its turn, and the run ended before it was done",)
    total = quantities.count(len(found.variants) + len(found.no_turn), "variant")
    told = f"incomplete: {len(found.no_turn)} of {total} had no turn before the run ended"
    return (f"{told}: {', '.join(found.no_turn)}",)


def print_measured(
    measured: Measured, *, sites: bool = False, console: Console | None = None
) -> None:
    """Print every sweep of depths, what of the device's best was reached, libraries beside it."""
    out = console or open_console()
    for sweep in measured.sweeps:
        variant = sweep.variant
        words = [variant.kernel, variant.arch, ", ".join(identity.parameters(variant))]
        words += [identity.compiler(variant), f"on {measured.device}"]
        title = " · ".join(word for word in words if word)
        print_depths(sweep.timings, title, console=out)
        lines.show(out, _table("Of what the device could do", rate_rows(sweep), out.width))
        for timing in sweep.timings:
            if sites and timing.stalls is not None:
                out.print()
                print_stalls(timing.stalls, _depth(timing), console=out)
        out.print()
    for title, rows in compiler_tables(measured.sweeps):
        lines.show(out, [*_table(title, rows, out.width), Text("")])
    for line in library_lines(measured.libraries):
        lines.show(out, lines.hanging([], (line, ""), out.width))


def _depth(timing: VariantTiming) -> str:
    depth = timing.num_stages
    return identity.AS_WRITTEN if depth is None else f"num_stages {depth}"


def _table(title: str, rows: Rows, width: int, *, labels: int = 1) -> list[Text]:
    if not rows:
        return []
    head, *body = rows
    styled: list[list[lines.Styled]] = [[(cell, "dim") for cell in head]]
    styled += [[(cell, "dim" if cell == UNKNOWN else "") for cell in row] for row in body]
    heading = lines.hanging([], (title, "bold"), width)
    return [Text(""), *heading, *lines.fitted(styled, width, indent=2, labels=labels)]
