"""``stagebench bundle``: pack the variants of a run, or kernels of launch plans, for a GPU host."""

from __future__ import annotations

import argparse
import errno
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from stagebench.commands.warning import warn
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, MachineError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stagebench.bundle.build import BuildOptions, Candidate
    from stagebench.bundle.records import Bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bundle``."""
    parser.add_argument(
        "run",
        nargs="+",
        metavar="RUN|PLAN",
        help="a dump folder or a selector, RUN[arch=sm_90a]; or a launch plan, PLAN.toml or .json, "
        "of any .cu or .ptx (`stagebench new plan SOURCE` writes one)",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="a new or empty folder, or FILE.tar; a bundle that is there is replaced",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the values that --case makes (0)"
    )
    add_build_arguments(parser)


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """What making a bundle can be told; ``profile RUN`` takes it too."""
    parser.add_argument(
        "--device-arch",
        metavar="SM",
        help="assemble code for a lower arch for this one (sm_90: run sm_80 code on Hopper)",
    )
    parser.add_argument(
        "--scalar",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a scalar argument or symbolic size",
    )
    parser.add_argument(
        "--range",
        nargs="+",
        action="extend",
        default=[],
        metavar="TENSOR=LOW,HIGH",
        help="the integers that an index tensor may hold, HIGH not included",
    )
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE.npz",
        help="own values of input tensors by name, in the kernel's dtype (or its raw bits)",
    )
    parser.add_argument(
        "--case",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE.py[::CASE]",
        help="inputs and reference of an experiment's case (EXPERIMENT.py::case), or the functions "
        "inputs and reference of a file, such as the kernel's own",
    )
    parser.add_argument(
        "--no-probes", action="store_true", help="no clock reads around waits: times alone"
    )
    parser.add_argument(
        "--probe-ops",
        nargs="+",
        metavar="OP",
        help="only these waits, such as cp_async_wait mbarrier_wait (default: every wait)",
    )
    parser.add_argument(
        "--max-ctas", type=int, default=64, metavar="N", help="CTAs that are probed (64)"
    )
    parser.add_argument(
        "--expected", type=Path, metavar="FILE.npz", help="what outputs must be, by name"
    )


def run(arguments: argparse.Namespace) -> int:
    """Assemble and pack; 3 if a variant had to be left out."""
    from stagebench.report import identity

    try:
        bundle = make(arguments, arguments.run, arguments.out, sys.stdout)
    except OSError as exc:
        if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = exc.filename or tempfile.gettempdir()
        raise MachineError(
            f"{where}: {exc.strerror}",
            hint="free some space, or set TMPDIR to a folder that has it",
        ) from exc
    count = len(bundle.variants)
    sys.stdout.write(f"{count} variant{'' if count == 1 else 's'} in {arguments.out}\n")
    for one in bundle.skipped:
        depth = identity.depth(one.variant)
        which = identity.AS_WRITTEN if depth is None else f"num_stages={depth}"
        sys.stdout.write(f"left out: {one.variant.kernel} {one.variant.arch} {which}: ")
        sys.stdout.write(f"{one.reason.splitlines()[0]}\n")
    return EXIT_VARIANT_FAILED if bundle.skipped else EXIT_OK


def make(
    arguments: argparse.Namespace, runs: Iterable[str], out: Path, tell: TextIO | None = None
) -> Bundle:
    """Read the dumps and launch plans, assemble what has no cubin, write the bundle.

    ``tell`` is where what was read of launch plans is said (default: standard error).
    """
    from stagebench.dump.place import check_place

    texts = list(runs)
    for text in texts:
        check_place(text)
    from stagebench.bundle.assembling import Assembling
    from stagebench.bundle.build import BuildOptions, build_bundle, cubin_arch
    from stagebench.bundle.device_arch import check_device_arch
    from stagebench.bundle.option_texts import ranges, scalars
    from stagebench.bundle.plan_file import is_plan, plans_among
    from stagebench.bundle.probe_cache import ProbeCache
    from stagebench.bundle.probing import Probing, all_with_probes
    from stagebench.bundle.run_candidates import run_candidates
    from stagebench.bundle.target import check_target
    from stagebench.gpu.poison_ptx import PTX

    check_target(out)
    if arguments.device_arch is not None:
        check_device_arch(arguments.device_arch)
    options = BuildOptions(
        device_arch=arguments.device_arch,
        scalars=scalars(arguments.scalar),
        values=ranges(arguments.range),
    )
    if arguments.case and (arguments.inputs is not None or arguments.expected is not None):
        raise UsageError(
            "--case and --inputs or --expected both say what the values are", hint="leave out one"
        )
    if arguments.max_ctas < 1:
        raise UsageError(f"--max-ctas {arguments.max_ctas}: at least 1")
    plans = plans_among(texts)
    ops = _probe_ops(arguments.probe_ops)
    candidates = run_candidates([text for text in texts if not is_plan(text)], warn)
    with Assembling(warn) as source:
        if plans:
            from stagebench.bundle.planned_kernels import planned_candidates

            candidates += planned_candidates(plans, source.assembler, warn)
        _check(candidates, options)
        if arguments.case:
            from stagebench.experiment.case_values import with_case_values

            candidates = with_case_values(
                candidates, arguments.case, options, arguments.seed, warn=warn
            )
        elif arguments.inputs is not None or arguments.expected is not None:
            from stagebench.experiment.array_files import with_array_values

            candidates = with_array_values(
                candidates, arguments.inputs, arguments.expected, options, warn
            )
        archs = {
            cubin_arch(one.result.variant.arch, arguments.device_arch)
            for one in candidates
            if one.launch is not None
        }
        poison = source.ptx(PTX, archs)
        if not arguments.no_probes:
            how = Probing(
                source.assembler, options.scalars, arguments.max_ctas, ops,
                ProbeCache(source.cache_folder, warn),
            )  # fmt: skip
            candidates = all_with_probes(
                [
                    (one, cubin_arch(one.result.variant.arch, arguments.device_arch))
                    for one in candidates
                ],
                how, warn, _progress_of("probing"),
            )  # fmt: skip
        if plans:
            _tell(candidates, tell or sys.stderr)
        progress = _progress_of("assembling")
        return build_bundle(out, candidates, source, options, poison=poison, progress=progress)


def _check(candidates: Iterable[Candidate], options: BuildOptions) -> None:
    """Do the given values fit the kernels, and will the kernels run on the device?"""
    from stagebench.bundle.device_arch import device_notes
    from stagebench.bundle.option_checks import check_options
    from stagebench.bundle.template_headers import header_notes

    lowered = [one for one in candidates if one.launch is not None]
    check_options(options, lowered)
    for note in header_notes(lowered):
        warn(note)
    if options.device_arch is not None:
        for note in device_notes((one.result.variant.arch for one in lowered), options.device_arch):
            warn(note)


def _tell(candidates: Iterable[Candidate], stream: TextIO) -> None:
    """What was read of kernels that no sweep has shown."""
    from stagebench.report.given_rows import given_lines

    for one in candidates:
        for line in given_lines(one):
            stream.write(f"{line}\n")


def _probe_ops(asked: Iterable[str] | None) -> frozenset[str] | None:
    """The waits to time; a misspelt name must not leave a kernel without probes quietly."""
    from stagebench.probe.waits import WAITS

    if asked is None:
        return None
    known = WAITS | {"setmaxnreg", "griddepcontrol"}
    for op in asked:
        if op not in known:
            raise UsageError(f"--probe-ops {op}: no wait", hint=f"one of {' '.join(sorted(known))}")
    return frozenset(asked)


def _progress_of(doing: str) -> Callable[[int, int], None] | None:
    """A line on a terminal that says how far it is; nothing in a file."""
    if not sys.stderr.isatty():
        return None

    def told(done: int, total: int) -> None:
        sys.stderr.write(f"\r{doing} {done + 1} of {total} ")
        if done + 1 == total:
            sys.stderr.write("\r\033[K")
        sys.stderr.flush()

    return told
