"""What can the making of a bundle be told, and what of it can't be meant so?

`bundle` takes it, and `profile` of what has to be bundled first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from stagebench.commands.integer_option import positive
from stagebench.commands.path_option import a_path, not_empty
from stagebench.errors import UsageError

_LARGEST_SEED = (1 << 63) - 1


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
        type=a_path,
        metavar="FILE.npz",
        help="own values of input tensors by name, in the kernel's dtype (or its raw bits)",
    )
    parser.add_argument(
        "--case",
        nargs="+",
        action="extend",
        default=[],
        type=not_empty,
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
    parser.add_argument("--max-ctas", type=positive, metavar="N", help="CTAs that are probed (64)")
    parser.add_argument(
        "--expected", type=a_path, metavar="FILE.npz", help="what outputs must be, by name"
    )


def check_build_arguments(arguments: argparse.Namespace) -> None:
    """Raise `UsageError` for options that contradict each other, or that would be ignored."""
    if arguments.case and (arguments.inputs is not None or arguments.expected is not None):
        raise UsageError(
            "--case and --inputs or --expected both say what the values are", hint="leave out one"
        )
    if arguments.no_probes:
        for option, value in (
            ("--probe-ops", arguments.probe_ops),
            ("--max-ctas", arguments.max_ctas),
        ):
            if value is not None:
                raise UsageError(
                    f"{option} is of probes, and --no-probes asks for none", hint="leave out one"
                )
    probe_ops(arguments.probe_ops)
    if arguments.device_arch is not None:
        from stagebench.bundle.device_arch import check_device_arch

        check_device_arch(arguments.device_arch)


def check_seed(seed: int) -> None:
    """Raise `UsageError` for one that a generator, or JSON, can't take."""
    if not 0 <= seed <= _LARGEST_SEED:
        raise UsageError(f"--seed {seed}: a number from 0 to 2⁶³ - 1")


def probe_ops(asked: Iterable[str] | None) -> frozenset[str] | None:
    """The waits to time; a misspelt name must not leave a kernel without probes quietly."""
    if asked is None:
        return None
    from stagebench.probe.waits import WAITS

    known = WAITS | {"setmaxnreg", "griddepcontrol"}
    for op in asked:
        if op not in known:
            raise UsageError(f"--probe-ops {op}: no wait", hint=f"one of {' '.join(sorted(known))}")
    return frozenset(asked)
