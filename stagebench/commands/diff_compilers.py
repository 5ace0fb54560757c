"""``stagebench diff KERNEL --compiler A B``: the same variant by two compilers, lowered now."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.integer_option import integer
from stagebench.commands.sweep import GEMM_ARGUMENTS, add_pipeline, add_shape
from stagebench.commands.warning import warn
from stagebench.errors import MachineError, UsageError

if TYPE_CHECKING:
    from stagebench.diff.text_input import Input
    from stagebench.model import VariantResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say which variant."""
    from stagebench.experiment.default_axes import NUM_STAGES_OF_ONE

    group = parser.add_argument_group("two compilers (LEFT is a kernel, such as gemm)")
    group.add_argument(
        "--compiler",
        nargs=2,
        metavar=("A", "B"),
        help="tilelang or tvm, either with ==VERSION, or the path of an environment",
    )
    group.add_argument(
        "--num-stages",
        type=integer,
        metavar="N",
        help=f"the depth (default: {NUM_STAGES_OF_ONE}, or as the kernel is written)",
    )
    group.add_argument("--stage-param", metavar="NAME", help="the parameter that carries the depth")
    group.add_argument("--arch", metavar="SM", help="default: sm_90a")
    group.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
    group.add_argument("--pass-config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    add_pipeline(group)
    add_shape(parser)


@contextlib.contextmanager
def dumps_of_two(arguments: argparse.Namespace) -> Iterator[tuple[Input, Input] | None]:
    """Both sides, for as long as this is open; ``None`` where no compilers are named."""
    if arguments.compiler is None:
        asked = [
            arguments.num_stages,
            arguments.stage_param,
            arguments.arch,
            arguments.pipeline,
            *arguments.set,
            *arguments.pass_config,
            *(getattr(arguments, place) for place in GEMM_ARGUMENTS.values()),
        ]
        if any(value is not None for value in asked):
            raise UsageError(
                "--num-stages, --stage-param, --arch, --set, --pass-config, --pipeline and the "
                "GEMM's shape say what to lower",
                hint="diff KERNEL --compiler tilelang==A tilelang==B; a dump is one variant",
            )
        yield None
        return
    if arguments.right is not None:
        raise UsageError(
            "--compiler compares one kernel by two compilers",
            hint=f"stagebench diff {arguments.left} --compiler {' '.join(arguments.compiler)}",
        )
    from stagebench.commands.sweep import parameters, with_pipeline
    from stagebench.diff.text_input import Input
    from stagebench.dump.files import read_dump
    from stagebench.experiment.default_axes import NUM_STAGES_OF_ONE
    from stagebench.experiment.parameter_values import parse_pass_configs
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.experiment.sweep_plan import SweepPlan

    depth = arguments.num_stages
    params = parameters(arguments)
    several = [name for name, values in params.items() if len(values) > 1]
    if several:
        raise UsageError(f"{several[0]}: diff compares one variant: one value, not several")
    plan = SweepPlan(
        kernel=arguments.left,
        num_stages=None if depth is None else (depth,),
        default_num_stages=(NUM_STAGES_OF_ONE,),
        stage_param=arguments.stage_param,
        archs=(arguments.arch or "sm_90a",),
        params=params,
        pass_configs=parse_pass_configs(with_pipeline(arguments)),
        compilers=tuple(arguments.compiler),
    )
    with tempfile.TemporaryDirectory(prefix="stagebench-") as folder:
        options = SweepOptions(dump_dir=Path(folder), warn=warn)
        done = run_sweep(plan, options)
        for note in done.notes:
            warn(note)
        sides = []
        for name in done.dump_folders:
            dump = read_dump(Path(folder) / str(name))
            _check_compiler(dump.result)
            sides.append(Input(str(name), dump.kernel_cu, dump))
        yield sides[0], sides[1]


def _check_compiler(result: VariantResult) -> None:
    """Raise `MachineError` where a side has no compiler: there is nothing to compare."""
    failure = result.failure
    if failure is not None and failure.kind == "no_compiler":
        raise MachineError(failure.message, hint=failure.detail)
