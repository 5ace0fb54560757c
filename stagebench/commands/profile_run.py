"""How are variants run on the device?  The options of `profile` that say so."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.build_options import check_seed
from stagebench.commands.integer_option import integer, not_negative, positive
from stagebench.commands.output_place import check_folder
from stagebench.commands.path_option import a_path
from stagebench.commands.seconds_option import seconds
from stagebench.dump.place import RUN, VARIANT
from stagebench.errors import UsageError

if TYPE_CHECKING:
    from stagebench.gpu.profile import ProfileOptions


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument(
        "-o",
        "--out",
        type=a_path,
        default=Path("stagebench-profile"),
        metavar="DIR",
        help="where profile.json and probe buffers go (default: stagebench-profile)",
    )
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help="of the inputs (0)")
    parser.add_argument(
        "--repeats", type=positive, default=5, metavar="N", help="runs whose bits are compared (5)"
    )
    parser.add_argument(
        "--runs", type=not_negative, default=50, metavar="N", help="timed runs; 0: none (50)"
    )
    parser.add_argument(
        "--warmup", type=not_negative, default=5, metavar="N", help="runs before them (5)"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=60.0,
        metavar="S",
        help="for one launch (60); what else a variant needs has half an hour a step, or S",
    )
    parser.add_argument(
        "--library", action="store_true", help="also time torch's or cupy's matrix product"
    )
    parser.add_argument(
        "--save-outputs",
        action="store_true",
        help="keep what each variant computed, as OUT/outputs/VARIANT/TENSOR.npy "
        "(buffers of a kernel's own profiler are always kept)",
    )


@contextlib.contextmanager
def writing_out(folder: Path) -> Iterator[None]:
    """Write a profile there, and nobody else meanwhile.

    Raises `UsageError` where none can be written, it would lie among what it is not, or another
    process writes one.
    """
    from stagebench.gpu.folder_lock import writing

    _check_out(folder)
    with writing(folder, "--out"):
        yield


def _check_out(folder: Path) -> None:
    from stagebench.bundle.records import BUNDLE

    for name, kind in ((RUN, "a run"), (VARIANT, "a dump"), (BUNDLE, "a bundle")):
        if (folder / name).exists():
            raise UsageError(
                f"--out {folder} is {kind}: a profile needs a folder of its own",
                hint="choose another --out",
            )
    check_folder(folder, "--out")


def run_options(arguments: argparse.Namespace) -> ProfileOptions:
    """What they say; `UsageError` for a seed that no generator takes."""
    from stagebench.gpu.profile import ProfileOptions
    from stagebench.gpu.run_request import RunOptions

    check_seed(arguments.seed)
    return ProfileOptions(
        run=RunOptions(
            seed=arguments.seed,
            repeats=arguments.repeats,
            warmup=arguments.warmup,
            runs=arguments.runs,
            save_outputs=arguments.save_outputs,
            probes=not arguments.no_probes,
        ),
        only=tuple(arguments.only),
        timeout_seconds=arguments.timeout,
        library=arguments.library,
    )
