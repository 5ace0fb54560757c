"""``stagebench profile``: run variants on this machine's GPU: correctness first, then time.

What is named may be a bundle, a run or launch plans (they are bundled first), a kernel (it is swept
and bundled first), or what an earlier profile wrote (it is shown again, without a GPU).
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.bundle import add_build_arguments, make
from stagebench.commands.sweep import GEMM_ARGUMENTS, add_compilers, add_variant
from stagebench.dump.place import check_place
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, UsageError
from stagebench.kernels import BUILTINS, TVM_BUILTINS

if TYPE_CHECKING:
    from stagebench.gpu.profile import ProfileOptions
    from stagebench.gpu.records import Profile, ProfiledVariant
    from stagebench.timing.measured import Measured

_BAD = ("wrong", "race", "fails", "hangs")
_BUNDLE = "bundle.json"
DUMPS = "dumps"
"""Where, in the folder of a profile, the dumps of a kernel that was lowered for it are."""
FIRST_OWN_ARCH = 9
"""The compute capability from which on ``sm_…a`` targets exist (PTX ISA, ``.target``)."""


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
    parser.add_argument(
        "--save-outputs",
        action="store_true",
        help="keep what each variant computed, as OUT/outputs/VARIANT/TENSOR.npy "
        "(buffers of a kernel's own profiler are always kept)",
    )
    parser.add_argument("--json", metavar="FILE", help="write it as JSON; - for standard output")
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
    add_compilers(add_variant(parser, arch_default="this device's"))
    lowering = parser.add_argument_group("lowering a kernel")
    lowering.add_argument("--jobs", type=int, metavar="N", help="default: one per usable core")
    lowering.add_argument("--no-cache", action="store_true", help="lower everything again")


@dataclass(frozen=True)
class _Found:
    """What there is to show, and the folder that it lies in.

    ``profile`` is ``None`` where only ``timings.json`` was kept; ``left_out``: a variant could not
    be bundled.
    """

    profile: Profile | None
    measured: Measured
    folder: Path
    left_out: bool = False

    @property
    def bad(self) -> bool:
        """Is a variant wrong, or did one not run?"""
        variants = () if self.profile is None else self.profile.variants
        wrong = any(one.correctness.verdict in _BAD or one.error for one in variants)
        return wrong or self.left_out


def run(arguments: argparse.Namespace) -> int:
    """Profile (or read what was profiled) and show it; 3 if a variant is wrong, or did not run."""
    source = Path(arguments.bundle)
    is_kernel = _is_kernel(source, arguments.bundle)
    if not is_kernel:
        check_place(arguments.bundle)
    plans = _plans(arguments)
    if not is_kernel:
        _check_nothing_to_lower(arguments)
    if _is_measured(source):
        _check_nothing_to_bundle(arguments, "was measured already")
        found = _recorded(source, arguments)
    else:
        found = _profiled(arguments, source, plans, is_kernel=is_kernel)
    _show(found, arguments)
    return EXIT_VARIANT_FAILED if found.bad else EXIT_OK


def _profiled(
    arguments: argparse.Namespace, source: Path, plans: list[str], *, is_kernel: bool
) -> _Found:
    """Run it on this machine's device; all that was measured is in files before it is shown."""
    from stagebench.bundle.read import read_bundle
    from stagebench.gpu.profile import profile
    from stagebench.timing.measured import measure, write_measured

    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="stagebench-bundle-") as folder:
        bundle, left_out = source, False
        if is_kernel or not is_bundle(bundle):
            bundle = Path(folder)
            left_out = _make(arguments, bundle, plans, is_kernel=is_kernel)
        else:
            _check_nothing_to_bundle(arguments, "is a bundle, made with its own")
        found = profile(bundle, arguments.out, options, _progress)
        measured = measure(found, arguments.out, read_bundle(bundle), _warn)
    write_measured(measured, arguments.out)
    return _Found(found, measured, arguments.out, left_out)


def _recorded(source: Path, arguments: argparse.Namespace) -> _Found:
    """What was measured before; needs no GPU."""
    from msgspec.structs import replace

    from stagebench.gpu.profile_file import read_profile
    from stagebench.gpu.records import PROFILE
    from stagebench.timing.measured import read_measured, select_sweeps

    measured = select_sweeps(read_measured(source), arguments.only)
    if not (source / PROFILE).is_file():
        return _Found(None, measured, source)
    whole = read_profile(source)
    only = arguments.only
    variants = tuple(
        one for one in whole.variants if not only or any(text in one.id for text in only)
    )
    return _Found(replace(whole, variants=variants), measured, source)


def _show(found: _Found, arguments: argparse.Namespace) -> None:
    """JSON, tables, pictures: as they were asked for."""
    from stagebench.report.profile_view import print_measured, print_verdicts

    if arguments.json is not None:
        _write_json(found, arguments.json)
    if arguments.json != "-":
        if found.profile is not None:
            print_verdicts(found.profile)
        print_measured(found.measured, sites=arguments.sites)
    if arguments.chart is not None:
        _write_charts(found.measured, arguments.chart)
    if arguments.timeline is not None:
        _write_timelines(found, arguments)


def _write_json(found: _Found, target: str) -> None:
    from stagebench.dump.atomic_file import write_file
    from stagebench.model.codec import encode_pretty

    data = encode_pretty({"profile": found.profile, "timings": found.measured})
    if target == "-":
        sys.stdout.write(data.decode())
    else:
        write_file(Path(target), data)


def _write_charts(measured: Measured, folder: Path) -> None:
    from stagebench.dump.atomic_file import write_file
    from stagebench.timing.measured import sweep_names
    from stagebench.timing.stall_chart import stall_chart

    for sweep, told in zip(measured.sweeps, sweep_names(measured), strict=True):
        if all(timing.num_stages is None for timing in sweep.timings):
            _warn(f"{told} has no depth: there is nothing to draw against it")
            continue
        name = re.sub(r"[^A-Za-z0-9._=,+-]", ".", told)
        title = f"{told.replace('/', ' · ')} · {measured.device}"
        write_file(folder / f"{name}.svg", stall_chart(sweep.timings, title=title))


def _write_timelines(found: _Found, arguments: argparse.Namespace) -> None:
    from stagebench.timing.timeline_files import write_timelines

    if found.profile is None:
        raise UsageError(
            f"--timeline needs the probe buffers, and {found.folder} is times alone",
            hint="give the folder that `stagebench profile -o` wrote",
        )
    written = write_timelines(found.profile, found.folder, arguments.timeline, arguments.only)
    if not written:
        _warn("no variant has a probe buffer: no timeline was written")


def _is_kernel(source: Path, text: str) -> bool:
    """Is it a kernel rather than a place?  A folder wins over a built-in of the same name."""
    if source.exists():
        return source.suffix == ".py"
    path, _, _ = text.rpartition(":")
    return text in BUILTINS or text in TVM_BUILTINS or path.endswith(".py")


def _plans(arguments: argparse.Namespace) -> list[str]:
    """The launch plans that are named; nothing else may be named several times."""
    from stagebench.bundle.plan_file import is_plan

    names = [arguments.bundle, *arguments.more]
    plans = [name for name in names if is_plan(name) and not _is_measured(Path(name))]
    if len(names) > 1 and len(plans) < len(names):
        other = next(name for name in names if name not in plans)
        raise UsageError(
            f"{other} is no launch plan, and only those can be several",
            hint="`stagebench bundle` packs several runs into one bundle",
        )
    return plans


def _check_nothing_to_lower(arguments: argparse.Namespace) -> None:
    """A flag that says what to lower must not be ignored where nothing is lowered."""
    flags = {"--num-stages": "num_stages", "--arch": "arch", "--set": "set"}
    flags |= {"--compiler": "compiler", "--pass-config": "pass_config", "--pipeline": "pipeline"}
    flags |= {"--stage-param": "stage_param", **GEMM_ARGUMENTS}
    for flag, name in flags.items():
        if getattr(arguments, name):
            raise UsageError(
                f"{flag} says what to lower, and {arguments.bundle} is no kernel",
                hint="--only chooses among the variants of a bundle; RUN[compiler=tvm] of a run",
            )


def _check_nothing_to_bundle(arguments: argparse.Namespace, why: str) -> None:
    """Nor one that says what to bundle: a user would believe that ``--expected`` was looked at."""
    plain = argparse.ArgumentParser()
    add_build_arguments(plain)
    for name, default in vars(plain.parse_args([])).items():
        if name != "no_probes" and getattr(arguments, name) != default:
            raise UsageError(
                f"--{name.replace('_', '-')} says how to bundle, and {arguments.bundle} {why}",
                hint="give it to `stagebench bundle`, or profile the run itself",
            )


def _make(
    arguments: argparse.Namespace, bundle: Path, plans: list[str], *, is_kernel: bool
) -> bool:
    """Lower (a kernel) and bundle for this machine's device; was a variant left out?

    The device is asked first: without one nothing is lowered.  The dumps of a kernel stay beside
    the profile, for `stagebench explain` and `diff`.
    """
    from stagebench.bundle.plan_file import read_plan
    from stagebench.dump.select import select_dumps
    from stagebench.experiment.kernel_reference import parse_kernel
    from stagebench.gpu.device import read_device
    from stagebench.gpu.driver import open_driver

    if is_kernel:
        parse_kernel(arguments.bundle)
    elif plans:
        for plan in plans:
            read_plan(Path(plan))
    else:
        select_dumps(arguments.bundle)
    major, minor = read_device(open_driver()).compute_capability
    device = f"sm_{major}{minor}"
    if arguments.device_arch is None:
        arguments.device_arch = device
    runs = plans or [arguments.bundle]
    if is_kernel:
        if arguments.arch is None:
            arguments.arch = [f"{device}a" if major >= FIRST_OWN_ARCH else device]
        runs = [str(_swept(arguments))]
    return bool(make(arguments, runs, bundle).skipped)


def _swept(arguments: argparse.Namespace) -> Path:
    """The folder of a kernel's dumps."""
    from stagebench.commands.sweep import sweep_plan
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.report.progress import SweepProgress

    arguments.kernel = arguments.bundle
    folder: Path = arguments.out / DUMPS
    options = SweepOptions(
        dump_dir=folder, use_cache=not arguments.no_cache, jobs=arguments.jobs, warn=_warn
    )
    with SweepProgress() as progress:
        result = run_sweep(sweep_plan(arguments), options, progress)
    for note in result.notes:
        _warn(note)
    return folder


def _options(arguments: argparse.Namespace) -> ProfileOptions:
    from stagebench.gpu.profile import ProfileOptions
    from stagebench.gpu.run_request import RunOptions

    for name, least in (("repeats", 1), ("runs", 0), ("warmup", 0)):
        if getattr(arguments, name) < least:
            raise UsageError(f"--{name} {getattr(arguments, name)}: at least {least}")
    if not 0 < arguments.timeout < math.inf:
        raise UsageError(f"--timeout {arguments.timeout:g}: a positive number of seconds")
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


def _is_measured(path: Path) -> bool:
    return path.name.endswith("timings.json") or (path / "timings.json").is_file()


def is_bundle(path: Path) -> bool:
    """Is it a bundle, and neither a run nor a launch plan?"""
    from stagebench.bundle.plan_file import is_plan

    return ((path / _BUNDLE).is_file() or path.is_file()) and not is_plan(str(path))


def _progress(done: int, total: int, result: ProfiledVariant) -> None:
    said = f" {result.error.name}" if result.error else ""
    sys.stderr.write(f"[{done}/{total}] {result.id}: {result.correctness.verdict}{said}\n")
    sys.stderr.flush()


def _warn(message: str) -> None:
    sys.stderr.write(f"stagebench: {message}\n")
