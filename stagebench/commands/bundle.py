"""``stagebench bundle``: pack the variants of a run, or kernels of launch plans, for a GPU host."""

from __future__ import annotations

import argparse
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stagebench.bundle.build import Candidate
    from stagebench.bundle.records import Bundle, ValueRange


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
        "-o", "--out", type=Path, required=True, metavar="DIR", help="a folder, or FILE.tar"
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
    bundle = make(arguments, arguments.run, arguments.out, sys.stdout)
    sys.stdout.write(f"{len(bundle.variants)} variants in {arguments.out}\n")
    for one in bundle.skipped:
        sys.stdout.write(f"left out: {one.variant.kernel} {one.variant.arch} ")
        sys.stdout.write(f"num_stages={one.variant.num_stages}: {one.reason.splitlines()[0]}\n")
    return EXIT_VARIANT_FAILED if bundle.skipped else EXIT_OK


def make(
    arguments: argparse.Namespace, runs: Iterable[str], out: Path, tell: TextIO | None = None
) -> Bundle:
    """Read the dumps and launch plans, assemble what has no cubin, write the bundle.

    ``tell`` is where what was read of launch plans is said (default: standard error).
    """
    from stagebench.bundle.assembling import Assembling
    from stagebench.bundle.build import BuildOptions, Candidate, build_bundle, cubin_arch
    from stagebench.bundle.plan_file import is_plan
    from stagebench.bundle.probing import with_probes
    from stagebench.dump.select import select_dumps
    from stagebench.gpu.poison_ptx import PTX

    options = BuildOptions(
        device_arch=arguments.device_arch,
        scalars=scalars(arguments.scalar),
        values=ranges(arguments.range),
    )
    if arguments.case and (arguments.inputs is not None or arguments.expected is not None):
        raise UsageError(
            "--case and --inputs or --expected both say what the values are", hint="leave out one"
        )
    contents = {} if arguments.inputs is None else arrays(arguments.inputs, None)
    expected = {} if arguments.expected is None else arrays(arguments.expected, "float64")
    if arguments.max_ctas < 1:
        raise UsageError(f"--max-ctas {arguments.max_ctas}: at least 1")
    texts = list(runs)
    plans = [Path(text) for text in texts if is_plan(text)]
    candidates = []
    for dump in (dump for text in texts if not is_plan(text) for dump in select_dumps(text)):
        assembly = dump.assembly()
        candidates.append(
            Candidate(
                result=dump.result,
                kernel_cu=dump.kernel_cu,
                ptx=None if assembly is None else assembly.ptx,
                cubin=None if assembly is None else assembly.cubin,
                contents=contents,
                expected=expected,
            )
        )
    with Assembling(_warn) as source:
        if plans:
            from stagebench.bundle.planned_kernels import planned_candidates

            candidates += [
                replace(one, contents=contents, expected=expected)
                for one in planned_candidates(plans, source.assembler, _warn)
            ]
        if arguments.case:
            from stagebench.experiment.case_values import with_case_values

            candidates = with_case_values(
                candidates, arguments.case, options, arguments.seed, warn=_warn
            )
        archs = {
            cubin_arch(one.result.variant.arch, arguments.device_arch)
            for one in candidates
            if one.launch is not None
        }
        poison = source.ptx(PTX, archs)
        if not arguments.no_probes:
            candidates = [
                with_probes(
                    one,
                    cubin_arch(one.result.variant.arch, arguments.device_arch),
                    source.assembler,
                    _warn,
                    max_ctas=arguments.max_ctas,
                    ops=_probe_ops(arguments.probe_ops),
                )
                for one in candidates
            ]
        if plans:
            _tell(candidates, tell or sys.stderr)
        return build_bundle(out, candidates, source, options, poison=poison, progress=_progress)


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


def scalars(texts: Iterable[str]) -> dict[str, int | float]:
    """Read ``NAME=VALUE`` of ``--scalar``."""
    found: dict[str, int | float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            found[name] = int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            raise UsageError(f"--scalar {text}: NAME=NUMBER") from None
        if not equals or not name.isidentifier():
            raise UsageError(f"--scalar {text}: NAME=NUMBER")
    return found


def ranges(texts: Iterable[str]) -> dict[str, ValueRange]:
    """Read ``TENSOR=LOW,HIGH`` of ``--range``."""
    from stagebench.bundle.records import ValueRange

    found = {}
    for text in texts:
        name, _, bounds = text.partition("=")
        low, _, high = bounds.partition(",")
        try:
            found[name] = ValueRange(low=int(low), high=int(high))
        except ValueError:
            raise UsageError(f"--range {text}: TENSOR=LOW,HIGH, two integers") from None
        if found[name].low >= found[name].high or not name:
            raise UsageError(f"--range {text}: LOW must be below HIGH")
    return found


def arrays(path: Path, dtype: str | None) -> dict[str, bytes]:
    """The arrays of an ``.npz`` file as raw bytes by name, as they are or as ``dtype``."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, TypeError, ValueError, zipfile.BadZipFile) as exc:
        raise UsageError(f"{path} is no .npz file: {exc}", hint="numpy.savez makes one") from exc
    return {name: np.ascontiguousarray(one, dtype=dtype).tobytes() for name, one in found.items()}


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\rassembling {done + 1} of {total} ")
        if done + 1 == total:
            sys.stderr.write("\n")
        sys.stderr.flush()


def _warn(message: str) -> None:
    sys.stderr.write(f"stagebench: {message}\n")
