"""``stagebench profile``: run variants on this machine's GPU: correctness first, then time.

What is named may be a bundle, a run or launch plans (they are bundled first), a kernel (it is swept
and bundled first), or what an earlier profile wrote (it is shown again, without a GPU).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.build_options import add_build_arguments
from stagebench.commands.integer_option import positive
from stagebench.commands.path_option import a_path, not_empty
from stagebench.commands.profile_output import Found, check_shown, show
from stagebench.commands.profile_run import add_run_arguments, run_options, writing_out
from stagebench.commands.profile_source import ProfileSource, bundle_for_device, source_of
from stagebench.commands.sweep import add_compilers, add_variant
from stagebench.commands.warning import warn
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, StagebenchError

if TYPE_CHECKING:
    from stagebench.gpu.records import ProfiledVariant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``profile``."""
    parser.add_argument(
        "bundle",
        metavar="BUNDLE|RUN|KERNEL|PLAN|PROFILE",
        help="a bundle (folder or .tar), a run to bundle first, a kernel to lower and bundle first "
        "(a built-in's name or path/to/file.py:function), a launch plan of any .cu or .ptx "
        "(PLAN.toml or .json), or a profile to show again",
    )
    parser.add_argument(
        "more", nargs="*", metavar="PLAN", help="further launch plans: other depths, other kernels"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="variants with TEXT in their id: as whole words (num_stages=1), else anywhere",
    )
    parser.add_argument(
        "--json", type=not_empty, metavar="FILE", help="write it as JSON; - for standard output"
    )
    parser.add_argument("--sites", action="store_true", help="show the stalls of every wait too")
    parser.add_argument(
        "--chart", type=a_path, metavar="DIR", help="draw time and stalls against depth, as SVG"
    )
    parser.add_argument(
        "--timeline",
        type=a_path,
        metavar="DIR",
        help="write each probed variant's first CTAs as a Perfetto trace and as SVG",
    )
    add_run_arguments(parser)
    add_build_arguments(parser)
    add_compilers(add_variant(parser, arch_default="this device's"))
    lowering = parser.add_argument_group("lowering a kernel")
    lowering.add_argument("--jobs", type=positive, metavar="N", help="default: one per usable core")
    lowering.add_argument("--no-cache", action="store_true", help="lower everything again")


def run(arguments: argparse.Namespace) -> int:
    """Profile (or read what was profiled) and show it.

    3 if a variant is wrong or did not run, or a build for its probes, which were asked for, failed.
    """
    check_shown(arguments)
    source = source_of(arguments)
    if source.kind == "measured":
        found = _recorded(source.path, arguments.only)
    else:
        found = _profiled(source, arguments)
    show(found, arguments)
    return EXIT_VARIANT_FAILED if found.bad else EXIT_OK


def _profiled(source: ProfileSource, arguments: argparse.Namespace) -> Found:
    """Run it on this machine's device; all that was measured is in files before it is shown."""
    from stagebench.bundle.read import read_bundle
    from stagebench.gpu.folder_lock import scratch_folder
    from stagebench.gpu.profile import profile
    from stagebench.timing.measured import measure, write_measured

    options = run_options(arguments)
    with writing_out(arguments.out), scratch_folder("stagebench-bundle-") as scratch:
        bundle = source.path
        if source.kind != "bundle":
            bundle = scratch / "bundle"
            bundle_for_device(source, arguments, bundle)
        ran: list[ProfiledVariant] = []

        def progress(done: int, total: int, result: ProfiledVariant) -> None:
            ran.append(result)
            _progress(done, total, result)

        try:
            found = profile(bundle, arguments.out, options, progress)
        except BaseException:
            if ran:  # and so what lies there is of this run
                _keep_times(arguments.out, bundle)
            raise
        measured = measure(found, arguments.out, read_bundle(bundle), warn)
        write_measured(measured, arguments.out)
    return Found(found, measured, arguments.out)


def _keep_times(out: Path, bundle: Path) -> None:
    """What is known of the variants that ran, with the facts that only the bundle has."""
    from stagebench.bundle.read import read_bundle
    from stagebench.gpu.profile_file import read_profile
    from stagebench.timing.measured import measure, write_measured

    with contextlib.suppress(StagebenchError, OSError):
        write_measured(measure(read_profile(out), out, read_bundle(bundle)), out)


def _recorded(source: Path, only: list[str]) -> Found:
    """What was measured before; needs no GPU."""
    from stagebench.timing.recorded import read_recorded
    from stagebench.timing.select import select

    found = read_recorded(source, warn)
    return Found(*select(found.profile, found.measured, only), found.folder)


def _progress(done: int, total: int, result: ProfiledVariant) -> None:
    said = [result.correctness.verdict + (f" {result.error.name}" if result.error else "")]
    said += [f"{one.kind} {one.problem}" for one in result.builds if one.problem is not None]
    sys.stderr.write(f"[{done}/{total}] {result.id}: {', '.join(said)}\n")
    sys.stderr.flush()
