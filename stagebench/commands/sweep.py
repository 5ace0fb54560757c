"""``stagebench sweep``: parse, sweep, print."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.integer_option import integer, positive
from stagebench.commands.json_output import STDOUT, check_json, write_json
from stagebench.commands.output_place import check_file, write_output
from stagebench.commands.path_option import a_path, not_empty
from stagebench.commands.seconds_option import seconds
from stagebench.commands.warning import warn
from stagebench.errors import EXIT_OK, EXIT_VARIANT_FAILED, UsageError

if TYPE_CHECKING:
    from stagebench.experiment.sweep import SweepOptions, SweepResult
    from stagebench.experiment.sweep_plan import SweepPlan
    from stagebench.model import ParamValue

DEFAULT_DUMP_DIR = "stagebench-dumps"
_GEMM_FLAGS = {
    "--M": "M",
    "--N": "N",
    "--K": "K",
    "--block-M": "block_M",
    "--block-N": "block_N",
    "--block-K": "block_K",
    "--threads": "threads",
    "--dtype": "dtype",
}


GEMM_ARGUMENTS = {flag: f"gemm_{name}" for flag, name in _GEMM_FLAGS.items()}
"""The flags of the built-in GEMM's shape and where a parser puts them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``sweep``."""
    add_kernel(parser)
    axes = add_variant(parser)
    add_compilers(axes)
    add_machine(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--dump-dir",
        type=a_path,
        default=Path(DEFAULT_DUMP_DIR),
        metavar="DIR",
        help=f"where dumps go (default: {DEFAULT_DUMP_DIR})",
    )
    output.add_argument("--no-dumps", action="store_true", help="write no dumps")
    output.add_argument(
        "--json",
        type=not_empty,
        metavar="FILE",
        help="write all facts as JSON; - for standard output",
    )
    output.add_argument(
        "--chart", type=a_path, metavar="FILE", help="draw machine code against depth, as SVG"
    )
    output.add_argument("--all", action="store_true", help="show unchanged rows too")
    output.add_argument(
        "--seconds",
        action="store_true",
        help="put wall times into the JSON (it then differs from run to run)",
    )
    add_limits(parser)


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """Which kernel: shared with ``bisect``."""
    from stagebench.kernels import BUILTINS, TVM_BUILTINS

    own, *others = BUILTINS
    parser.add_argument(
        "kernel",
        nargs="?",
        default="gemm",
        metavar="KERNEL",
        help=f"{own} (default), {', '.join(others)}, of Apache TVM {', '.join(TVM_BUILTINS)}; "
        "or path/to/file.py:function",
    )


def add_variant(
    parser: argparse.ArgumentParser,
    *,
    arch_default: str | None = None,
    depth_default: str | None = None,
) -> argparse._ArgumentGroup:
    """The axes of a kernel: shared with ``bisect`` and ``profile``, whose defaults are others."""
    from stagebench.experiment.default_axes import DEFAULT_ARCHS, DEFAULT_NUM_STAGES

    arch_default = arch_default or " ".join(DEFAULT_ARCHS)
    depth_default = depth_default or " ".join(map(str, DEFAULT_NUM_STAGES))
    axes = parser.add_argument_group("axes (every combination is a variant)")
    axes.add_argument(
        "--num-stages",
        nargs="+",
        type=integer,
        metavar="N",
        help=f"depths (default: {depth_default})",
    )
    axes.add_argument("--arch", nargs="+", metavar="SM", help=f"default: {arch_default}")
    axes.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=V1,V2",
        help="values of a kernel parameter",
    )
    axes.add_argument("--stage-param", metavar="NAME", help="the parameter that carries the depth")
    axes.add_argument(
        "--pass-config",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="a PassContext option, such as tl.disable_warp_specialized=true",
    )
    add_pipeline(axes)
    add_shape(parser)
    return axes


def add_shape(parser: argparse.ArgumentParser) -> None:
    """The shape of the built-in GEMM: shared with ``diff``."""
    gemm = parser.add_argument_group("shape of the built-in GEMM (short for --set)")
    for flag, name in _GEMM_FLAGS.items():
        kind = str if name == "dtype" else positive
        gemm.add_argument(flag, nargs="+", type=kind, metavar="V", dest=f"gemm_{name}")


def add_pipeline(group: argparse._ArgumentGroup) -> None:
    """Apache TVM's choice of passes: shared with ``diff``."""
    group.add_argument(
        "--pipeline",
        metavar="NAME",
        help="Apache TVM's passes: s_tir or tirx (default: those that the kernel is written for); "
        "short for --pass-config tir_pipeline=NAME",
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Whether to assemble, and with what."""
    machine = parser.add_argument_group("machine code (needs stagebench[cuda])")
    machine.add_argument(
        "--machine",
        action="store_true",
        help="assemble each variant: registers, occupancy, PTX and SASS, executed counts",
    )
    machine.add_argument(
        "--assembler",
        metavar="NAME",
        help="nvrtc (default, from wheels), nvcc, or the path of an nvcc or a ptxas",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What lowering may use: shared with ``bisect``."""
    limits = parser.add_argument_group("limits")
    limits.add_argument("--jobs", type=positive, metavar="N", help="default: one per usable core")
    limits.add_argument(
        "--timeout", type=seconds, default=300.0, metavar="S", help="for each variant (300)"
    )
    limits.add_argument(
        "--memory-limit", type=_size, metavar="SIZE", help="for each variant, such as 8G"
    )
    limits.add_argument("--no-cache", action="store_true", help="lower everything again")


def add_compilers(group: argparse._ArgumentGroup) -> None:
    """The axis of compilers: shared with other verbs."""
    group.add_argument(
        "--compiler",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="tilelang or tvm (Apache TVM), with ==VERSION another release of one (made once, see "
        "`stagebench compilers`), or the path of an environment with either (default: tilelang)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Sweep and print; 3 if a variant failed, or has no machine code that was asked for."""
    from stagebench.experiment.sweep import run_sweep
    from stagebench.report.progress import SweepProgress
    from stagebench.report.sweep_view import without_machine_code

    plan = sweep_plan(arguments)
    options = replace(
        sweep_options(arguments),
        dump_dir=None if arguments.no_dumps else arguments.dump_dir,
        assembler=_assembler(arguments),
    )
    check_json(arguments.json)
    if arguments.chart is not None:
        check_file(arguments.chart, "--chart")
    with SweepProgress() as progress:
        result = run_sweep(plan, options, progress)
    if arguments.json != STDOUT:
        _print(result, arguments, progress.elapsed_seconds)
    if arguments.json is not None:
        _write_json(result, arguments.json, seconds=arguments.seconds)
    if arguments.chart is not None:
        _draw(result, arguments.chart)
    failed = any(
        variant.outcome == "failed" or without_machine_code(variant)
        for variant in result.run.variants
    )
    return EXIT_VARIANT_FAILED if failed else EXIT_OK


def sweep_plan(arguments: argparse.Namespace) -> SweepPlan:
    """What to lower, from the arguments of `add_kernel`, `add_variant` and `add_compilers`."""
    from stagebench.experiment.default_axes import DEFAULT_ARCHS
    from stagebench.experiment.parameter_values import parse_pass_configs
    from stagebench.experiment.sweep_plan import SweepPlan

    return SweepPlan(
        kernel=arguments.kernel,
        num_stages=None if arguments.num_stages is None else tuple(arguments.num_stages),
        archs=DEFAULT_ARCHS if arguments.arch is None else tuple(arguments.arch),
        params=parameters(arguments),
        stage_param=arguments.stage_param,
        pass_configs=parse_pass_configs(with_pipeline(arguments)),
        compilers=tuple(arguments.compiler),
    )


def parameters(arguments: argparse.Namespace) -> dict[str, tuple[ParamValue, ...]]:
    """The values of ``--set``, and of the flags of `add_shape`, which are short for it."""
    from stagebench.experiment.parameter_values import parse_assignments

    params = parse_assignments(arguments.set, "--set")
    for flag, name in _GEMM_FLAGS.items():
        values = getattr(arguments, f"gemm_{name}")
        if values is not None:
            if name in params:
                raise UsageError(f"{name} is given by {flag} and by --set")
            params[name] = tuple(values)
    return params


def with_pipeline(arguments: argparse.Namespace) -> list[str]:
    """The values of ``--pass-config`` and what ``--pipeline`` is short for."""
    return [*arguments.pass_config, *pipeline_config(arguments)]


def pipeline_config(arguments: argparse.Namespace) -> list[str]:
    """The values of ``--pass-config`` that ``--pipeline`` is short for."""
    from stagebench.worker.protocol import TIR_PIPELINE

    return [] if arguments.pipeline is None else [f"{TIR_PIPELINE}={arguments.pipeline}"]


def sweep_options(arguments: argparse.Namespace) -> SweepOptions:
    """How to lower, from the arguments of `add_limits`; without dumps or machine code."""
    from stagebench.experiment.sweep import SweepOptions

    return SweepOptions(
        use_cache=not arguments.no_cache,
        jobs=arguments.jobs,
        timeout_seconds=arguments.timeout,
        memory_limit_bytes=arguments.memory_limit,
        warn=warn,
    )


def _assembler(arguments: argparse.Namespace) -> str | None:
    """Which assembler, where machine code is wanted; naming one asks for it."""
    from stagebench.experiment.sweep import DEFAULT_ASSEMBLER

    named: str | None = arguments.assembler
    asked = arguments.machine or arguments.chart is not None
    return named or (DEFAULT_ASSEMBLER if asked else None)


def _write_json(result: SweepResult, target: str, *, seconds: bool) -> None:
    from stagebench.experiment.sweep import with_seconds

    write_json(with_seconds(result) if seconds else result.run, target)


def _draw(result: SweepResult, target: Path) -> None:
    from stagebench.report.machine_chart import machine_chart

    write_output(target, machine_chart(result.run), "--chart")


def _print(result: SweepResult, arguments: argparse.Namespace, elapsed: float) -> None:
    from stagebench.report.sweep_view import print_sweep

    print_sweep(
        result.run,
        kernel_cus=result.kernel_cus,
        show_all=arguments.all,
        elapsed_seconds=elapsed,
        from_cache=result.from_cache,
        dump_dir=None if arguments.no_dumps else str(arguments.dump_dir),
        notes=result.notes,
    )


def _size(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if not digits.isdecimal() or (unit and unit not in units) or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 8G")
    return int(digits) * units.get(unit, 1)
