"""``stagebench check``: lower every experiment, compare with its baselines, judge, print."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.integer_option import positive
from stagebench.commands.json_output import STDOUT, write_json
from stagebench.commands.path_option import a_path, not_empty
from stagebench.commands.seconds_option import seconds
from stagebench.commands.warning import warn
from stagebench.errors import UsageError

if TYPE_CHECKING:
    from stagebench.experiment.checking import CheckResult
    from stagebench.experiment.compared_with import Compared
    from stagebench.experiment.sweep import SweepOptions

FORMATS = ("rich", "plain", "json", "markdown", "github", "junit", "sarif")
EPILOG = """\
exit codes, the first that applies:
  2  wrong usage, environment, experiment or a baseline that can't be read: nothing was judged
  3  a variant fails to lower that lowered before, or the other way round
  1  drift: a fact changed and no rule allows it, or an expectation failed
  4  not comparable: another compiler version, a kernel with other parameters (--against-compiler),
     a missing or unused baseline (--allow-missing lets these two pass), or nothing was compared
  0  clean
  130 interrupted (143: terminated)

rules of a policy (experiment file, or [tool.stagebench.policy]); patterns are paths with *:
  exact · ignore · may change · may shrink · may grow [up to X %] · may appear · may vanish
  must appear · must not vanish          joined by commas; the most specific pattern wins
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``check``."""
    parser.epilog = EPILOG
    add_experiments(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only the case called so"
    )
    against = parser.add_argument_group("what to compare with")
    which = against.add_mutually_exclusive_group()
    which.add_argument("--against", metavar="REF", help="the baselines of a git revision")
    which.add_argument(
        "--against-run",
        type=a_path,
        metavar="RUN",
        help="the dumps of a sweep instead of baselines",
    )
    which.add_argument(
        "--against-compiler",
        metavar="C",
        help="what another compiler makes of the same variants, such as tilelang==0.1.14: what "
        "did the upgrade change?  What only one of the two says, or spells otherwise, is named, "
        "not judged; so are cases of another compiler than C is.  Nothing is written",
    )
    against.add_argument(
        "--compiler",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="lower with these, each in its turn, and compare each with the same baselines "
        "(default: this environment's tilelang; a case that names its own keeps it, but for a "
        "release of the same compiler)",
    )
    against.add_argument(
        "--allow-missing", action="store_true", help="missing and unused baselines are no failure"
    )
    against.add_argument(
        "--any-compiler",
        action="store_true",
        help="judge baselines of another compiler version too",
    )
    against.add_argument(
        "--pass-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="what if: lower with this PassContext option, compare with the baselines as they are",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--format",
        choices=FORMATS,
        default="rich",
        help="default: rich; github: annotations, markdown: a comment (60 KB at most)",
    )
    output.add_argument(
        "--json", type=not_empty, metavar="FILE", help="write the verdict as JSON; - for stdout"
    )
    output.add_argument(
        "--all", action="store_true", help="show clean variants, what was allowed, every answer"
    )
    add_limits(parser)


def add_experiments(parser: argparse.ArgumentParser) -> None:
    """Which experiments and baselines: shared with ``accept``."""
    parser.add_argument(
        "experiment",
        nargs="*",
        metavar="EXPERIMENT",
        help="files, folders or names (default: all in experiments/)",
    )
    parser.add_argument(
        "--dumps", type=a_path, metavar="DIR", help="the baselines' folder (default: dumps/)"
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What lowering may use: shared with ``accept``."""
    limits = parser.add_argument_group("limits")
    limits.add_argument("--jobs", type=positive, metavar="N", help="default: one per usable core")
    limits.add_argument(
        "--timeout", type=seconds, default=300.0, metavar="S", help="for each variant (300)"
    )
    limits.add_argument("--no-cache", action="store_true", help="lower everything again")


def run(arguments: argparse.Namespace) -> int:
    """Check and print; the exit code is the verdict's."""
    from stagebench.experiment.checking import run_check
    from stagebench.experiment.experiment_file import find_experiments
    from stagebench.report.progress import SweepProgress

    files = find_experiments(arguments.experiment)
    compared = _compared(arguments)
    labels = {case.label for file in files for case in file.experiment.cases}
    unknown = [name for name in compared.only if name not in labels]
    if unknown:
        raise UsageError(
            f"--only {unknown[0]}: no case is called so", hint=f"there are: {', '.join(labels)}"
        )
    with SweepProgress() as progress:
        result = run_check(files, compared, sweep_options(arguments), progress)
    _print(result, arguments, progress.elapsed_seconds)
    return result.verdict.exit_code


def _compared(arguments: argparse.Namespace) -> Compared:
    from stagebench.experiment.compared_with import Compared
    from stagebench.experiment.experiment_file import names_all
    from stagebench.experiment.parameter_values import parse_pass_configs
    from stagebench.experiment.project import find_project

    swallowed = [text for text in arguments.compiler if text.endswith(".py")]
    if swallowed:
        raise UsageError(
            f"--compiler {swallowed[0]}: that is a file, and no compiler",
            hint=f"experiments come first: stagebench check {swallowed[0]} --compiler …",
        )
    return Compared(
        revision=arguments.against,
        run=arguments.against_run,
        against_compiler=arguments.against_compiler,
        compilers=tuple(dict.fromkeys(arguments.compiler)),
        dumps=arguments.dumps,
        only=tuple(arguments.only),
        allow_missing=arguments.allow_missing,
        any_compiler=arguments.any_compiler,
        pass_configs=parse_pass_configs(arguments.pass_config),
        whole=find_project(Path.cwd()) if names_all(arguments.experiment) else None,
    )


def sweep_options(arguments: argparse.Namespace) -> SweepOptions:
    """How to lower: shared with ``accept``."""
    from stagebench.experiment.sweep import SweepOptions

    return SweepOptions(
        use_cache=not arguments.no_cache,
        jobs=arguments.jobs,
        timeout_seconds=arguments.timeout,
        warn=warn,
    )


def _print(result: CheckResult, arguments: argparse.Namespace, elapsed: float) -> None:
    if arguments.json not in (None, STDOUT):
        write_json(result.verdict, arguments.json)
    if arguments.json == STDOUT or arguments.format == "json":
        write_json(result.verdict, STDOUT)
        return
    from stagebench.report.check_formats import FORMATS as RENDERED
    from stagebench.report.check_formats import render

    if arguments.format in RENDERED:
        text = render(result.verdict, arguments.format)
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
        return
    from stagebench.report.check_view import print_verdict

    print_verdict(
        result.verdict,
        show_all=arguments.all,
        plain=arguments.format == "plain",
        elapsed_seconds=elapsed,
        from_cache=result.from_cache,
    )
