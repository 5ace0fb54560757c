"""``stagebench diff KERNEL --compiler A B``: the same variant by two compilers, lowered now."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stagebench.commands.sweep import add_pipeline
from stagebench.errors import UsageError

if TYPE_CHECKING:
    from stagebench.diff.text_input import Input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say which variant."""
    group = parser.add_argument_group("two compilers (LEFT is a kernel, such as gemm)")
    group.add_argument(
        "--compiler",
        nargs=2,
        metavar=("A", "B"),
        help="tilelang or tvm, tilelang==VERSION, or the path of an environment",
    )
    group.add_argument("--num-stages", metavar="N", help="the depth (default: 2)")
    group.add_argument("--arch", metavar="SM", help="default: sm_90a")
    group.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
    group.add_argument("--pass-config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    add_pipeline(group)


@contextlib.contextmanager
def dumps_of_two(arguments: argparse.Namespace) -> Iterator[tuple[Input, Input] | None]:
    """Both sides, for as long as this is open; ``None`` where no compilers are named."""
    if arguments.compiler is None:
        asked = [
            arguments.num_stages,
            arguments.arch,
            arguments.pipeline,
            *arguments.set,
            *arguments.pass_config,
        ]
        if any(value is not None for value in asked):
            raise UsageError(
                "--num-stages, --arch, --set and --pass-config say what to lower",
                hint="diff KERNEL --compiler tilelang==A tilelang==B; a dump is one variant",
            )
        yield None
        return
    if arguments.right is not None:
        raise UsageError(
            "--compiler compares one kernel by two compilers",
            hint=f"stagebench diff {arguments.left} --compiler {' '.join(arguments.compiler)}",
        )
    from stagebench.commands.sweep import pass_configs, with_pipeline
    from stagebench.diff.text_input import Input
    from stagebench.dump.files import read_dump
    from stagebench.experiment.parameter_values import parse_assignments
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.experiment.sweep_plan import SweepPlan

    depth = arguments.num_stages
    if depth is not None and not depth.isdigit():
        raise UsageError(f"--num-stages {depth}: one depth")
    params = parse_assignments(arguments.set, "--set")
    several = [name for name, values in params.items() if len(values) > 1]
    if several:
        raise UsageError(f"--set {several[0]}: one value, not several")
    plan = SweepPlan(
        kernel=arguments.left,
        num_stages=(2,) if depth is None else (int(depth),),
        archs=(arguments.arch or "sm_90a",),
        params=params,
        pass_configs=pass_configs(with_pipeline(arguments)),
        compilers=tuple(arguments.compiler),
    )
    with tempfile.TemporaryDirectory(prefix="stagebench-") as folder:
        options = SweepOptions(dump_dir=Path(folder), warn=_warn)
        folders = run_sweep(plan, options).dump_folders
        sides = []
        for name in folders:
            dump = read_dump(Path(folder) / str(name))
            sides.append(Input(str(name), dump.kernel_cu, dump))
        yield sides[0], sides[1]


def _warn(message: str) -> None:
    sys.stderr.write(f"stagebench: {message}\n")
