"""``stagebench accept``: show what changed, then make it the new baseline.  The only writer."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from stagebench.experiment.accepting import Acceptance, Request
    from stagebench.experiment.experiment_file import ExperimentFile

EPILOG = """\
steps: create baselines of new variants, fix changed ones, trim those that no variant has
exit codes: 0 written, or nothing to write · 2 refused or not possible: no baseline has changed
            130 interrupted: no baseline has changed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``accept``."""
    from stagebench.commands.check import add_experiments, add_limits

    parser.epilog = EPILOG
    add_experiments(parser)
    parser.add_argument(
        "--pytest",
        action="append",
        default=[],
        metavar="TEST",
        help="what the `stagebench.check` calls of a test module, folder or node id ask for",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=("create", "fix", "trim"),
        metavar="STEP",
        help="only create, fix or trim (may be repeated; default: all)",
    )
    parser.add_argument(
        "--reason", default="", metavar="TEXT", help="why; kept with the baselines, needed for fix"
    )
    parser.add_argument(
        "--compiler",
        metavar="C",
        help="accept what this one makes (default: this environment's tilelang; a case, or a "
        "test's check, that names its own keeps it, but for a release of the same compiler)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show, write nothing")
    parser.add_argument(
        "--snapshots", action="store_true", help="keep the IR after each pass too (larger)"
    )
    parser.add_argument(
        "--yes-in-ci", action="store_true", help="write even though the variable CI is set"
    )
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Accept; refuses in CI, and without a reason where a baseline changes."""
    from stagebench.commands.check import sweep_options
    from stagebench.commands.warning import warn
    from stagebench.experiment.accepting import STEPS, Request, run_accept
    from stagebench.experiment.experiment_file import names_all
    from stagebench.experiment.project import find_project
    from stagebench.report.progress import SweepProgress

    in_ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    if in_ci and not arguments.yes_in_ci and not arguments.dry_run:
        raise UsageError(
            "baselines are accepted by people, and CI is set here",
            hint="accept on your machine and commit dumps/; --yes-in-ci if this is meant",
        )
    files: tuple[ExperimentFile, ...] = ()
    if arguments.experiment or not arguments.pytest:
        files = _experiments(arguments)
    if arguments.pytest:
        from stagebench.testing.gathering import find_tests

        if arguments.dumps is not None:
            raise UsageError("--dumps is for experiments: a test's baselines lie beside it")
        files += find_tests(arguments.pytest, warn)
    request = Request(
        steps=tuple(step for step in STEPS if step in (arguments.only or STEPS)),
        reason=" ".join(arguments.reason.split()),
        dumps=arguments.dumps,
        snapshots=arguments.snapshots,
        dry_run=arguments.dry_run,
        compiler=arguments.compiler,
        whole=find_project(Path.cwd())
        if not arguments.pytest and names_all(arguments.experiment)
        else None,
    )
    with SweepProgress() as progress:
        done = run_accept(files, request, sweep_options(arguments), progress, _show, warn)
    _conclude(done, request)
    return EXIT_OK


def _experiments(arguments: argparse.Namespace) -> tuple[ExperimentFile, ...]:
    """Those that are named; what follows the one test of ``--pytest`` is taken for one."""
    from stagebench.experiment.experiment_file import find_experiments

    try:
        return find_experiments(arguments.experiment)
    except UsageError as exc:
        if arguments.pytest:
            exc.hint = f"for another test repeat --pytest: --pytest {arguments.experiment[0]}"
        raise


def _show(acceptance: Acceptance) -> None:
    from stagebench.report.check_view import print_steps

    steps = [(step.step, f"{step.experiment}:{step.name}") for step in acceptance.steps]
    print_steps(acceptance.verdict, steps, acceptance.refused)


def _left_out(acceptance: Acceptance, request: Request) -> str:
    """What `--only` leaves for another time: ``1 to fix is left out by --only``."""
    approve = acceptance.verdict.accept
    counts = {} if approve is None else approve.counts
    left = {step: number for step, number in counts.items() if step not in request.steps}
    if not left:
        return ""
    said = ", ".join(f"{number} to {step}" for step, number in left.items())
    return f"{said} {'is' if sum(left.values()) == 1 else 'are'} left out by --only"


def _conclude(acceptance: Acceptance, request: Request) -> None:
    from stagebench.report.check_view import print_outcome
    from stagebench.report.quantities import count

    notes = []
    failed = acceptance.failed_expectations
    if failed:
        notes.append(
            f"{count(failed, 'expectation')} still {'fails' if failed == 1 else 'fail'}: change "
            "the experiment or the kernel, which are code (`stagebench check` shows what was seen)"
        )
    left_out = _left_out(acceptance, request)
    if not acceptance.steps and left_out:
        print_outcome(f"nothing to {' or '.join(request.steps)}; {left_out}", *notes)
        return
    if left_out:
        notes.insert(0, left_out)
    if not acceptance.steps:
        print_outcome("nothing to accept: every baseline is what the compiler makes", *notes)
    elif request.dry_run:
        print_outcome(f"dry run: {count(len(acceptance.steps), 'baseline')} would change", *notes)
    else:
        print_outcome(f"wrote {count(len(acceptance.steps), 'baseline')}", *notes)
