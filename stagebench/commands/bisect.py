"""``stagebench bisect``: which release, depth or switch changed this fact?"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands import sweep
from stagebench.commands.json_output import STDOUT, write_json
from stagebench.errors import EXIT_DIFFERENT, EXIT_OK, UsageError

if TYPE_CHECKING:
    from stagebench.dump.files import Dump
    from stagebench.experiment.bisecting import Bisected
    from stagebench.experiment.bisecting_axes import Axis
    from stagebench.experiment.sweep_plan import SweepPlan

_EPILOG = """\
stagebench bisect --fact shared_memory.dynamic_bytes --num-stages 3 --arch sm_90a
stagebench bisect kernel.py:attention --until 'outcome == "failed"' --num-stages 2 --arch sm_80
stagebench bisect --axis num_stages --good 1 --bad 8 --until 'not shared_memory.fits' --arch sm_80
stagebench bisect --axis pass-config --fact 'sync_totals[tma_load].static' --num-stages 2 \\
    --arch sm_90a --pass-config tl.disable_tma_lower=true tl.disable_warp_specialized=true

A fact's path is as `stagebench check` prints it, with * for any characters (`*`: every fact);
`outcome` and `kernel_cu` (the text) too.  Where it is of machine.*, machine code is made.
--until is Python without powers over the names of an expectation: shared_memory, buffers, loops,
totals, barriers, launch, diagnostics, outcome, failure, machine, kernel_cu.
Halving sees the ends and where it leads: a change that is taken back in between it may miss.

exit codes: 0 the ends are alike · 1 found where it changed · 2 wrong usage, environment or input
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bisect``."""
    from stagebench.experiment.bisecting_axes import AXES

    parser.epilog = _EPILOG
    sweep.add_kernel(parser)
    watched = parser.add_argument_group("what is sought")
    watched.add_argument("--fact", metavar="PATH", help="the fact that changed")
    watched.add_argument("--until", metavar="EXPRESSION", help="what is not so at first, and is")
    row = parser.add_argument_group("where to look")
    row.add_argument("--axis", choices=AXES, default="compiler", help="default: compiler")
    row.add_argument("--good", metavar="V", help="where to start (default: the oldest)")
    row.add_argument("--bad", metavar="V", help="where to end (default: this environment's)")
    row.add_argument(
        "--all-points",
        action="store_true",
        help="look at every point, not only where halving leads: finds each change, also between "
        "ends that are alike",
    )
    sweep.add_compilers(row)
    sweep.add_variant(parser, arch_default="sm_80 sm_90a, of which bisect follows one")
    sweep.add_machine(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", metavar="FILE", help="write it as JSON; - for standard output")
    output.add_argument("--all", action="store_true", help="show every changed fact, none folded")
    output.add_argument(
        "--dump-dir", type=Path, metavar="DIR", help="keep the dumps of what was looked at"
    )
    sweep.add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Bisect and print; 1 where the ends differ."""
    from stagebench.experiment.bisecting import bisect, candidates
    from stagebench.experiment.bisecting_axes import axis_values
    from stagebench.experiment.bisecting_watched import Watched
    from stagebench.experiment.sweep import DEFAULT_ASSEMBLER

    axis: Axis = arguments.axis
    watched = Watched(fact=arguments.fact, until=arguments.until)
    plan = sweep.sweep_plan(arguments)
    values = axis_values(
        axis,
        compilers=arguments.compiler,
        depths=arguments.num_stages,
        configs=arguments.pass_config,
        good=arguments.good,
        bad=arguments.bad,
    )
    points = candidates(axis, values, _one_point(axis, plan))
    wanted = arguments.machine or watched.needs_machine_code
    options = replace(
        sweep.sweep_options(arguments),
        dump_dir=None,
        assembler=arguments.assembler or (DEFAULT_ASSEMBLER if wanted else None),
    )
    with tempfile.TemporaryDirectory(prefix="stagebench-") as temporary:
        folder = arguments.dump_dir or Path(temporary)
        found = bisect(axis, points, watched, options, folder, _tell, every=arguments.all_points)
        _print(arguments, found)
    return EXIT_OK if found.sides is None else EXIT_DIFFERENT


def _one_point(axis: Axis, plan: SweepPlan) -> SweepPlan:
    """The plan without its axis; `UsageError` where more than one variant is left."""
    if axis == "pass-config":
        plan = replace(plan, pass_configs={})
    several: dict[str, int] = {"--arch": len(plan.archs)}
    if axis != "compiler":
        several["--compiler"] = max(1, len(plan.compilers))
    if axis != "num_stages":
        several["--num-stages"] = 0 if plan.num_stages is None else len(plan.num_stages)
    several |= {f"--set {name}": len(values) for name, values in plan.params.items()}
    for flag, count in several.items():
        if count > 1:
            raise UsageError(f"bisect follows one variant: {flag} has {count} values")
    return plan


def _print(arguments: argparse.Namespace, found: Bisected) -> None:
    if arguments.json is not None:
        write_json(found.found, arguments.json)
        if arguments.json == STDOUT:
            return
    from stagebench.report.bisect_view import print_bisection
    from stagebench.report.console import open_console

    changes = no_since = first = None
    if found.sides is not None:
        changes, no_since, first = _difference(*found.sides)
    print_bisection(
        found.found, open_console(), changes=changes, no_since=no_since, first_pass=first,
        show_all=arguments.all,
    )  # fmt: skip


def _difference(left: Dump, right: Dump):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """All changed facts with the pass since which they differ, and the pass that parted."""
    from stagebench.diff.fact_changes import fact_changes
    from stagebench.diff.pass_compare import changes_with_since, compare_passes

    if left.result.facts is None or right.result.facts is None:
        return fact_changes(left, right), "one of them failed", None
    compared = compare_passes(left, right)
    first = None if compared.first is None else compared.passes[compared.first].name
    return changes_with_since(left, right), None, first


def _tell(message: str) -> None:
    """Say what was looked at, to a person who waits."""
    if sys.stderr.isatty():
        sys.stderr.write(f"stagebench: {message}\n")
