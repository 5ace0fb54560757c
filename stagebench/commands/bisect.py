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
from stagebench.commands.path_option import a_path, not_empty
from stagebench.commands.warning import warn
from stagebench.errors import EXIT_DIFFERENT, EXIT_OK

if TYPE_CHECKING:
    from stagebench.dump.files import Dump
    from stagebench.experiment.bisecting import Bisected
    from stagebench.experiment.bisecting_axes import Axis
    from stagebench.experiment.sweep_plan import SweepPlan
    from stagebench.report.bisect_view import Sides

_EPILOG = """\
stagebench bisect --fact shared_memory.dynamic_bytes --num-stages 3 --arch sm_90a
stagebench bisect kernel.py:attention --until 'outcome == "failed"' --num-stages 2 --arch sm_80
stagebench bisect --axis num_stages --good 1 --bad 8 --until 'not shared_memory.fits' --arch sm_80
stagebench bisect --axis pass-config --fact 'sync_totals[tma_load].static' --num-stages 2 \\
    --arch sm_90a --pass-config tl.disable_tma_lower=true tl.disable_warp_specialized=true

A fact's path is as `stagebench check` prints it, with * for any characters (`*`: every fact);
`outcome` and `kernel_cu` (the text) too.  Where it is of machine.*, machine code is made.
What two releases only spell otherwise counts where its field is named (sync_ops[*].intrinsic).
--until is Python without powers over the names of an expectation: shared_memory, buffers, loops,
totals, barriers, launch, diagnostics, outcome, failure, machine, kernel_cu.  It is true or false of
a variant: compare what is neither.
Halving sees the ends and where it leads: a change that is taken back in between it may miss.

exit codes: 0 the ends are alike · 1 found where it changed · 2 wrong usage, environment or input
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bisect``."""
    from stagebench.experiment.bisecting_axes import AXES
    from stagebench.experiment.default_axes import DEFAULT_ARCHS, NUM_STAGES_OF_ONE

    parser.epilog = _EPILOG
    sweep.add_kernel(parser)
    watched = parser.add_argument_group("what is sought")
    watched.add_argument("--fact", metavar="PATH", help="the fact that changed")
    watched.add_argument("--until", metavar="EXPRESSION", help="what is not so at first, and is")
    row = parser.add_argument_group("where to look")
    row.add_argument("--axis", choices=AXES, default="compiler", help="default: compiler")
    row.add_argument("--good", metavar="V", help="where to start (default: the oldest tested)")
    row.add_argument("--bad", metavar="V", help="where to end (default: the newest tested)")
    row.add_argument(
        "--all-points",
        action="store_true",
        help="look at every point, not only where halving leads: finds each change, also between "
        "ends that are alike",
    )
    sweep.add_compilers(row)
    sweep.add_variant(
        parser,
        arch_default=f"{' '.join(DEFAULT_ARCHS)}, of which bisect follows one",
        depth_default=f"{NUM_STAGES_OF_ONE}, or as written; of --axis num_stages: --good to --bad",
    )
    sweep.add_machine(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json", type=not_empty, metavar="FILE", help="write it as JSON; - for standard output"
    )
    output.add_argument("--all", action="store_true", help="show every changed fact, none folded")
    output.add_argument(
        "--dump-dir", type=a_path, metavar="DIR", help="keep the dumps of what was looked at"
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
    values = axis_values(
        axis,
        compilers=arguments.compiler,
        depths=arguments.num_stages,
        configs=arguments.pass_config,
        good=arguments.good,
        bad=arguments.bad,
    )
    points = candidates(axis, values, _without_axis(axis, arguments))
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


def _without_axis(axis: Axis, arguments: argparse.Namespace) -> SweepPlan:
    """What is lowered at each point, but for what the axis says."""
    from stagebench.experiment.parameter_values import parse_pass_configs

    plan = sweep.sweep_plan(arguments)
    if axis != "pass-config":
        return plan
    return replace(plan, pass_configs=parse_pass_configs(sweep.pipeline_config(arguments)))


def _print(arguments: argparse.Namespace, found: Bisected) -> None:
    depth = found.found.variant.num_stages
    if arguments.axis != "num_stages" and arguments.num_stages is None and depth is not None:
        warn(f"num_stages={depth} is followed: --num-stages names another depth")
    if arguments.json is not None:
        write_json(found.found, arguments.json)
        if arguments.json == STDOUT:
            return
    from stagebench.report.bisect_view import print_bisection
    from stagebench.report.console import open_console

    sides = None if found.sides is None else _differing(*found.sides)
    print_bisection(found.found, open_console(), sides=sides, show_all=arguments.all)


def _differing(left: Dump, right: Dump) -> Sides:
    """All changed facts with the pass since which they differ, and the pass that parted."""
    from stagebench.diff.fact_changes import fact_changes
    from stagebench.diff.pass_compare import changes_with_since, compare_passes
    from stagebench.report.bisect_view import Sides

    if left.result.facts is None or right.result.facts is None:
        return Sides(changes=fact_changes(left, right), no_since="one of them failed")
    compared = compare_passes(left, right)
    first = None if compared.first is None else compared.passes[compared.first].name
    return Sides(changes=changes_with_since(left, right), first_pass=first)


def _tell(message: str) -> None:
    """Say what was looked at, to a person who waits."""
    if sys.stderr.isatty():
        sys.stderr.write(f"stagebench: {message}\n")
