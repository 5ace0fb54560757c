"""``stagebench bundle``: pack the variants of a run, or kernels of launch plans, for a GPU host."""

from __future__ import annotations

import argparse
import errno
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from stagebench.commands.build_options import (
    add_build_arguments,
    check_build_arguments,
    check_seed,
    probe_ops,
)
from stagebench.commands.integer_option import integer
from stagebench.commands.json_output import STDOUT, check_json, write_json
from stagebench.commands.output_place import check_folder
from stagebench.commands.path_option import a_path, not_empty
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
        type=a_path,
        required=True,
        metavar="DIR",
        help="a new or empty folder, or FILE.tar; a bundle that is there is replaced",
    )
    parser.add_argument(
        "--seed", type=integer, metavar="N", help="of the values that --case makes (0)"
    )
    parser.add_argument(
        "--json",
        type=not_empty,
        metavar="FILE",
        help="write what was packed, what was left out and what was found as JSON; - for standard "
        "output",
    )
    add_build_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Assemble and pack; 3 if a variant had to be left out."""
    if arguments.seed is not None and not arguments.case:
        raise UsageError(
            "--seed is of the values that --case makes, and there is none",
            hint="`stagebench profile --seed N` draws the inputs of the others",
        )
    check_json(arguments.json)
    notes: list[str] = []

    def noted(message: str) -> None:
        notes.append(message)
        warn(message)

    stream = sys.stderr if arguments.json == STDOUT else sys.stdout
    try:
        bundle = make(arguments, arguments.run, arguments.out, stream, noted)
    except OSError as exc:
        if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = exc.filename or tempfile.gettempdir()
        raise MachineError(
            f"{where}: {exc.strerror}",
            hint="free some space, or set TMPDIR to a folder that has it",
        ) from exc
    if arguments.json is not None:
        from stagebench.bundle.records import BundleReport

        write_json(BundleReport(bundle=bundle, notes=tuple(notes)), arguments.json)
    _tell_packed(bundle, arguments.out, stream)
    return EXIT_VARIANT_FAILED if bundle.skipped else EXIT_OK


def _tell_packed(bundle: Bundle, out: Path, stream: TextIO) -> None:
    from stagebench.report import identity

    count = len(bundle.variants)
    _tell_line(f"{count} variant{'' if count == 1 else 's'} in {out}", stream)
    for one in bundle.skipped:
        depth = identity.depth(one.variant)
        which = identity.AS_WRITTEN if depth is None else f"num_stages={depth}"
        name = f"{one.variant.kernel} {one.variant.arch} {which}"
        _tell_line(f"left out: {name}: {one.reason.splitlines()[0]}", stream)


def make(
    arguments: argparse.Namespace,
    runs: Iterable[str],
    out: Path,
    tell: TextIO | None = None,
    warn: Callable[[str], None] = warn,
) -> Bundle:
    """Read the dumps and launch plans, assemble what has no cubin, write the bundle.

    ``tell`` is where what was read of launch plans is said (default: standard error).
    """
    from stagebench.dump.place import check_place

    check_build_arguments(arguments)
    seed = arguments.seed or 0
    check_seed(seed)
    texts = list(runs)
    for text in texts:
        check_place(text)
    from stagebench.bundle.assembling import Assembling
    from stagebench.bundle.build import BuildOptions, build_bundle, cubin_arch
    from stagebench.bundle.option_texts import ranges, scalars
    from stagebench.bundle.plan_file import is_plan, plans_among
    from stagebench.bundle.probe_cache import ProbeCache
    from stagebench.bundle.probing import Probing, all_with_probes
    from stagebench.bundle.run_candidates import run_candidates
    from stagebench.bundle.target import check_target
    from stagebench.gpu.poison_ptx import PTX
    from stagebench.probe.layout import DEFAULT_MAX_CTAS

    check_target(out)
    check_folder(out.absolute().parent, "-o")
    options = BuildOptions(
        device_arch=arguments.device_arch,
        scalars=scalars(arguments.scalar),
        values=ranges(arguments.range),
    )
    plans = plans_among(texts)
    candidates = run_candidates([text for text in texts if not is_plan(text)], warn)
    with Assembling(warn) as source:
        if plans:
            from stagebench.bundle.planned_kernels import planned_candidates

            device = arguments.device_arch
            candidates += planned_candidates(plans, source.assembler, warn, device)
        _check(candidates, options, warn)
        if arguments.case:
            from stagebench.experiment.case_values import with_case_values

            candidates = with_case_values(candidates, arguments.case, options, seed, warn=warn)
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
                source.assembler, options.scalars, arguments.max_ctas or DEFAULT_MAX_CTAS,
                probe_ops(arguments.probe_ops), ProbeCache(source.cache_folder, warn),
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


def _check(
    candidates: Iterable[Candidate], options: BuildOptions, warn: Callable[[str], None]
) -> None:
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
            _tell_line(line, stream)


def _tell_line(line: str, stream: TextIO) -> None:
    """One line, or as many as the width asks for."""
    from stagebench.report.console import open_console

    told = textwrap.wrap(
        line,
        open_console(stream).width,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    stream.writelines(f"{part}\n" for part in told)


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
