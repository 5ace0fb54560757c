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
    from stagebench.gpu.profile import ProfileOptions
    from stagebench.gpu.records import ProfiledVariant
    from stagebench.timing.measured import Measured

_BAD = ("wrong", "race", "fails", "hangs")
_BUNDLE = "bundle.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``profile``."""
    parser.add_argument(
        "bundle",
        metavar="BUNDLE|RUN|PROFILE",
        help="a bundle (folder or .tar), a run to bundle first, or a profile to show again",
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
    parser.add_argument("--sites", action="store_true", help="show the stalls of every wait too")
    parser.add_argument(
        "--chart", type=Path, metavar="DIR", help="draw time and stalls against depth, as SVG"
    )
    parser.add_argument(
        "--timeline",
        type=Path,
        metavar="DIR",
        help="write each probed variant's first CTAs as a Perfetto trace and as SVG",
    )
    add_build_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Profile and print; 3 if a variant is wrong, or did not run."""
    source = Path(arguments.bundle)
    if _is_measured(source):
        return _show_again(source, arguments)
    from stagebench.bundle.read import read_bundle
    from stagebench.gpu.profile import profile
    from stagebench.report.profile_view import print_verdicts
    from stagebench.timing.measured import measure, write_measured

    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="stagebench-bundle-") as folder:
        bundle = source
        if not is_bundle(bundle):
            bundle = Path(folder)
            make(arguments, [arguments.bundle], bundle)
        found = profile(bundle, arguments.out, options, _progress)
        measured = measure(found, arguments.out, read_bundle(bundle))
    write_measured(measured, arguments.out)
    print_verdicts(found)
    _show(measured, arguments)
    if arguments.timeline is not None:
        from stagebench.timing.timeline_files import write_timelines

        write_timelines(found, arguments.out, arguments.timeline)
    bad = any(one.correctness.verdict in _BAD or one.error for one in found.variants)
    return EXIT_VARIANT_FAILED if bad else EXIT_OK


def _options(arguments: argparse.Namespace) -> ProfileOptions:
    from stagebench.gpu.profile import ProfileOptions
    from stagebench.gpu.run_request import RunOptions

    for name, least in (("repeats", 1), ("runs", 0), ("warmup", 0)):
        if getattr(arguments, name) < least:
            raise UsageError(f"--{name} {getattr(arguments, name)}: at least {least}")
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: a positive number of seconds")
    return ProfileOptions(
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


def _is_measured(path: Path) -> bool:
    return path.name.endswith("timings.json") or (
        (path / "timings.json").is_file() and (path / "profile.json").is_file()
    )


def _show_again(source: Path, arguments: argparse.Namespace) -> int:
    """What was measured before; needs no GPU."""
    from stagebench.gpu.profile_file import read_profile
    from stagebench.report.profile_view import print_verdicts
    from stagebench.timing.measured import read_measured, select_sweeps

    measured = select_sweeps(read_measured(source), arguments.only)
    if source.is_dir() and not arguments.only:
        print_verdicts(read_profile(source))
    _show(measured, arguments)
    if arguments.timeline is not None:
        from stagebench.timing.timeline_files import write_timelines

        write_timelines(read_profile(source), source, arguments.timeline, arguments.only)
    return EXIT_OK


def _show(measured: Measured, arguments: argparse.Namespace) -> None:
    from stagebench.report.profile_view import print_measured

    print_measured(measured, sites=arguments.sites)
    if arguments.chart is not None:
        from stagebench.dump.atomic_file import write_file
        from stagebench.timing.stall_chart import stall_chart

        for sweep in measured.sweeps:
            name = f"{sweep.variant.kernel.replace(':', '.')}.{sweep.variant.arch}"
            title = f"{sweep.variant.kernel} · {sweep.variant.arch} · {measured.device}"
            write_file(arguments.chart / f"{name}.svg", stall_chart(sweep.timings, title=title))


def is_bundle(path: Path) -> bool:
    """Is it a bundle, and no run?"""
    return (path / _BUNDLE).is_file() or path.is_file()


def _progress(done: int, total: int, result: ProfiledVariant) -> None:
    said = f" {result.error.name}" if result.error else ""
    sys.stderr.write(f"[{done}/{total}] {result.id}: {result.correctness.verdict}{said}\n")
    sys.stderr.flush()
