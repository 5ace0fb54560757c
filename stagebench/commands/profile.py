"""``stagebench profile``: run a bundle on this machine's GPU: correctness first, then time."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.bundle import add_build_arguments, make
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, UsageError

if TYPE_CHECKING:
    from stagebench.gpu.records import Profile, ProfiledVariant

_BAD = ("wrong", "race", "fails", "hangs")
_BUNDLE = "bundle.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``profile``."""
    parser.add_argument(
        "bundle", metavar="BUNDLE|RUN", help="a bundle (folder or .tar), or a run to bundle first"
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=Path("stagebench-profile"),
        metavar="DIR",
        help="where profile.json and probe buffers go (default: stagebench-profile)",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="TEXT", help="variants whose id holds TEXT"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the inputs (0)")
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="runs whose bits are compared (5)"
    )
    parser.add_argument(
        "--runs", type=int, default=50, metavar="N", help="timed runs; 0: none (50)"
    )
    parser.add_argument("--warmup", type=int, default=5, metavar="N", help="runs before them (5)")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="for each variant (60)"
    )
    parser.add_argument(
        "--library", action="store_true", help="also time torch's or cupy's matrix product"
    )
    add_build_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Profile and print; 3 if a variant is wrong, or did not run."""
    from stagebench.gpu.profile import ProfileOptions, profile
    from stagebench.gpu.run_request import RunOptions

    for name, least in (("repeats", 1), ("runs", 0), ("warmup", 0)):
        if getattr(arguments, name) < least:
            raise UsageError(f"--{name} {getattr(arguments, name)}: at least {least}")
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: a positive number of seconds")
    options = ProfileOptions(
        run=RunOptions(
            seed=arguments.seed,
            repeats=arguments.repeats,
            warmup=arguments.warmup,
            runs=arguments.runs,
        ),
        only=tuple(arguments.only),
        timeout_seconds=arguments.timeout,
        library=arguments.library,
    )
    with tempfile.TemporaryDirectory(prefix="stagebench-bundle-") as folder:
        bundle = Path(arguments.bundle)
        if not is_bundle(bundle):
            bundle = Path(folder)
            make(arguments, [arguments.bundle], bundle)
        found = profile(bundle, arguments.out, options, _progress)
    _print(found, arguments.out)
    bad = any(one.correctness.verdict in _BAD or one.error for one in found.variants)
    return EXIT_VARIANT_FAILED if bad else EXIT_OK


def is_bundle(path: Path) -> bool:
    """Is it a bundle, and no run?"""
    return (path / _BUNDLE).is_file() or path.is_file()


def _progress(done: int, total: int, result: ProfiledVariant) -> None:
    said = f" {result.error.name}" if result.error else ""
    sys.stderr.write(f"[{done}/{total}] {result.id}: {result.correctness.verdict}{said}\n")
    sys.stderr.flush()


def _print(found: Profile, out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from stagebench.gpu.profile_rows import COLUMNS, profile_rows

    table = Table(*COLUMNS, title=f"{found.device.name}, {len(found.variants)} variants")
    for row in profile_rows(found):
        table.add_row(*row.cells, style="red" if row.bad else None)
    console = Console()
    console.print(table)
    for note in (*found.notes, *(f"left out: {one.reason}" for one in found.skipped)):
        console.print(note, markup=False)
    console.print(f"{out}/profile.json", markup=False)
