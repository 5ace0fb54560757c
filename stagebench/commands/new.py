"""``stagebench new experiment NAME``: write a commented starting point that ``check`` accepts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stagebench.errors import EXIT_OK, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``new``."""
    parser.add_argument("kind", choices=("experiment",), help="what to make")
    parser.add_argument("name", metavar="NAME", help="the file's name, without .py")
    parser.add_argument(
        "--kernel", required=True, metavar="KERNEL", help="a built-in, or path/to/file.py:function"
    )
    parser.add_argument("--num-stages", nargs="+", type=int, metavar="N", help="default: 1 2 3")
    parser.add_argument(
        "--as-written", action="store_true", help="the kernel has no parameter for its depth"
    )
    parser.add_argument("--arch", nargs="+", metavar="SM", help="default: sm_80 sm_90a")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="default: experiments/")


def run(arguments: argparse.Namespace) -> int:
    """Write the file; refuses to overwrite one."""
    from stagebench.experiment.kernel_reference import parse_kernel
    from stagebench.experiment.project import find_project
    from stagebench.experiment.starting_point import starting_point
    from stagebench.experiment.sweep_plan import DEFAULT_ARCHS
    from stagebench.facts.arch import check_arch

    name = arguments.name.removesuffix(".py")
    if not name.isidentifier() or not name.isascii():
        raise UsageError(
            f"{arguments.name!r} is no name for an experiment", hint="letters, digits and _ only"
        )
    folder = arguments.folder or find_project(Path.cwd()).experiments
    path = folder / f"{name}.py"
    kernel = parse_kernel(arguments.kernel)
    archs = [check_arch(arch) for arch in arguments.arch or DEFAULT_ARCHS]
    reference = kernel.function
    if kernel.path is not None:
        relative = _relative(Path(kernel.path), folder)
        reference = f"{relative}:{kernel.function}"
    depths = None if arguments.as_written else arguments.num_stages or [1, 2, 3]
    shown = _relative(path, Path.cwd())
    text = starting_point(shown, reference, depths, archs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as exc:
        raise UsageError(
            f"{shown} is there already, and was left as it is", hint="choose another name"
        ) from exc
    except OSError as exc:
        raise UsageError(f"can't write {shown}: {exc.strerror}") from exc
    sys.stdout.write(
        f"wrote {shown}\n"
        f"  stagebench check {shown}   what it finds (exit 4: no baselines yet)\n"
        f"  stagebench accept {shown}  what the compiler does now is the baseline\n"
    )
    return EXIT_OK


def _relative(path: Path, folder: Path) -> str:
    import os

    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
