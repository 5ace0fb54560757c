"""``stagebench new``: write a commented starting point.

``new experiment NAME --kernel KERNEL`` makes a file that ``check`` accepts, ``new plan SOURCE`` a
launch plan of a ``.cu`` or ``.ptx`` for ``bundle`` and ``profile``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stagebench.commands.output_place import cannot_write
from stagebench.commands.path_option import a_path
from stagebench.errors import EXIT_OK, UsageError

_PLAN_ARCH = "sm_90a"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``new``."""
    parser.add_argument("kind", choices=("experiment", "plan"), help="what to make")
    parser.add_argument(
        "name",
        metavar="NAME|SOURCE",
        help="an experiment's name, without .py; or the .cu or .ptx that a launch plan is for",
    )
    parser.add_argument(
        "--kernel",
        metavar="KERNEL",
        help="of an experiment: a built-in, or path/to/file.py:function",
    )
    parser.add_argument(
        "--entry",
        metavar="NAME",
        help="of a plan: which of several kernels of the source",
    )
    parser.add_argument(
        "-o", "--out", type=a_path, metavar="FILE.toml", help="of a plan (default: SOURCE's name)"
    )
    parser.add_argument(
        "--num-stages",
        nargs="+",
        type=int,
        metavar="N",
        help="depths of an experiment (default: 1 2 3); of a plan: a file for each",
    )
    parser.add_argument(
        "--as-written", action="store_true", help="the kernel has no parameter for its depth"
    )
    parser.add_argument(
        "--arch", nargs="+", metavar="SM", help="default: sm_80 sm_90a; of a plan: sm_90a"
    )
    parser.add_argument("--folder", type=a_path, metavar="DIR", help="default: experiments/")


def run(arguments: argparse.Namespace) -> int:
    """Write the file; refuses to overwrite one."""
    from stagebench.experiment.sweep_plan import MAX_NUM_STAGES

    depths = arguments.num_stages or []
    for depth in depths:
        possible = 0 <= depth <= MAX_NUM_STAGES
        if not possible or depths.count(depth) > 1:
            why = "is given twice" if possible else f"is no depth from 0 to {MAX_NUM_STAGES}"
            raise UsageError(f"--num-stages: {depth} {why}", hint="such as --num-stages 1 2 3")
    if arguments.kind == "plan":
        _check_unused(arguments, ("kernel", "folder", "as_written"))
        return _new_plans(arguments)
    _check_unused(arguments, ("entry", "out"))
    if arguments.kernel is None:
        raise UsageError("--kernel is missing", hint="a built-in, or path/to/file.py:function")
    return _new_experiment(arguments)


def _check_unused(arguments: argparse.Namespace, names: tuple[str, ...]) -> None:
    for name in names:
        if getattr(arguments, name):
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} is not for a new {arguments.kind}", hint=f"leave out {flag}")


def _new_plans(arguments: argparse.Namespace) -> int:
    """A plan for each depth, beside the source unless ``--out`` says where."""
    from stagebench.bundle.device_arch import check_assembles
    from stagebench.bundle.plan_text import plan_text
    from stagebench.bundle.source_entries import source_entries
    from stagebench.facts.arch import check_arch

    source = Path(arguments.name)
    entries = source_entries(source)
    names = [one.name for one in entries]
    if arguments.entry is not None and arguments.entry not in names:
        raise UsageError(
            f"{source} has no kernel {arguments.entry}", hint=f"it has {', '.join(names)}"
        )
    if arguments.arch is not None and len(arguments.arch) > 1:
        raise UsageError("--arch: a launch plan is for one", hint="a plan for each")
    if arguments.entry is None and len(entries) > 1:
        raise UsageError(
            f"{source} has {len(entries)} kernels: {', '.join(names)}",
            hint=f"which one is the plan for? --entry {names[0]}",
        )
    entry = next(one for one in entries if arguments.entry in (None, one.name))
    arch = check_arch((arguments.arch or [entry.arch or _PLAN_ARCH])[0])
    check_assembles(arch, "--arch")
    out: Path = arguments.out or source.with_suffix(".toml")
    if out.suffix != ".toml":
        raise UsageError(f"--out {out}: a launch plan that has comments is a .toml file")
    depths = arguments.num_stages or [None]
    written = []
    for depth in depths:
        path = out if len(depths) == 1 else out.with_name(f"{out.stem}_{depth}.toml")
        text = plan_text(
            _inside(path),
            _relative(source, path.parent),
            entry,
            others=[name for name in names if name != entry.name],
            arch=arch,
            num_stages=depth,
        )
        _write(path, text, "--out")
        written.append(path.as_posix())
    several = " ".join(written)
    sys.stdout.write(
        "".join(f"wrote {one}\n" for one in written)
        + f"  fill in grid, shapes and values, then:  stagebench bundle {several} -o DIR\n"
    )
    return EXIT_OK


def _write(path: Path, text: str, option: str) -> None:
    """Write a file that is not there yet; what a message calls it is what the user did."""
    if path.exists() or path.is_symlink():
        raise UsageError(
            f"{path} is there already, and was left as it is", hint="choose another name"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as exc:
        raise cannot_write(option, path, exc) from exc


def _new_experiment(arguments: argparse.Namespace) -> int:
    from stagebench.experiment.default_axes import DEFAULT_ARCHS
    from stagebench.experiment.kernel_reference import parse_kernel
    from stagebench.experiment.project import find_project
    from stagebench.experiment.starting_point import starting_point
    from stagebench.facts.arch import check_arch

    name = arguments.name.removesuffix(".py")
    if not name.isidentifier() or not name.isascii():
        raise UsageError(
            f"{arguments.name!r} is no name for an experiment", hint="letters, digits and _ only"
        )
    folder = arguments.folder
    if folder is None:
        folder = Path(_relative(find_project(Path.cwd()).experiments, Path.cwd()))
    path = folder / f"{name}.py"
    kernel = parse_kernel(arguments.kernel)
    archs = [check_arch(arch) for arch in arguments.arch or DEFAULT_ARCHS]
    reference = kernel.function
    if kernel.path is not None:
        relative = _relative(Path(kernel.path), folder)
        reference = f"{relative}:{kernel.function}"
    depths = None if arguments.as_written else arguments.num_stages or [1, 2, 3]
    shown = path.as_posix()
    text = starting_point(_inside(path), reference, depths, archs)
    _write(path, text, "--folder")
    sys.stdout.write(
        f"wrote {shown}\n"
        f"  stagebench check {shown}   what it finds (exit 4: no baselines yet)\n"
        f"  stagebench accept {shown}  what the compiler does now is the baseline\n"
    )
    return EXIT_OK


def _inside(path: Path) -> str:
    """What a file that may be committed calls ``path``: nobody's home, where that can be helped."""
    relative = _relative(path, Path.cwd())
    return path.as_posix() if relative.startswith("../") else relative


def _relative(path: Path, folder: Path) -> str:
    import os

    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
