"""``stagebench doctor``: what works here, what is missing, what to install."""

from __future__ import annotations

import argparse

from stagebench.commands.json_output import STDOUT, write_json
from stagebench.errors import EXIT_OK, EXIT_USAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``doctor``."""
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")
    parser.add_argument("--quick", action="store_true", help="don't import the compiler to be sure")


def run(arguments: argparse.Namespace) -> int:
    """Print every check; 2 if the main job can't run."""
    from stagebench.doctor import examine, main_job_works

    checks = examine(start_worker=not arguments.quick)
    if arguments.json:
        write_json({"schema_version": 1, "checks": checks}, STDOUT)
    else:
        from stagebench.report.doctor_view import print_checks

        print_checks([(c.what, c.status, c.found, c.install) for c in checks])
    return EXIT_OK if main_job_works(checks) else EXIT_USAGE
