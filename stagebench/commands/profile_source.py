"""What is `profile` given, and how does it become a bundle for this machine's device?

A bundle, a run, launch plans, a kernel, or what an earlier profile wrote.  An option that says
nothing of what was given is refused: a user would believe that it was looked at.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stagebench.commands.build_options import add_build_arguments, check_build_arguments
from stagebench.commands.bundle import make
from stagebench.commands.profile_run import add_run_arguments
from stagebench.commands.sweep import GEMM_ARGUMENTS
from stagebench.commands.warning import warn
from stagebench.dump.place import RUN, check_place
from stagebench.errors import UsageError
from stagebench.kernels import BUILTINS, TVM_BUILTINS

if TYPE_CHECKING:
    from stagebench.experiment.kernel_reference import KernelReference
    from stagebench.experiment.sweep_plan import SweepPlan

Kind = Literal["kernel", "plans", "measured", "bundle", "run"]

DUMPS = "dumps"
"""Where, in the folder of a profile, the dumps of a kernel that was lowered for it are."""
FIRST_OWN_ARCH = 9
"""The compute capability from which on ``sm_…a`` targets exist (PTX ISA, ``.target``)."""
_LOWERING = {
    "--num-stages": "num_stages",
    "--arch": "arch",
    "--set": "set",
    "--compiler": "compiler",
    "--pass-config": "pass_config",
    "--pipeline": "pipeline",
    "--stage-param": "stage_param",
    "--jobs": "jobs",
    "--no-cache": "no_cache",
    **GEMM_ARGUMENTS,
}
_CHOOSE = "--only chooses among the variants of a bundle; RUN[compiler=tvm] of a run"
_RUN = "name a bundle or a run to measure it again"
_GIVE = "give it to `stagebench bundle`, or profile the run itself"


@dataclass(frozen=True)
class ProfileSource:
    """``text`` as it was typed; ``plans`` are all that were named."""

    kind: Kind
    text: str
    plans: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where it is, unless it is a kernel."""
        return Path(self.text)


def source_of(arguments: argparse.Namespace) -> ProfileSource:
    """What was given; `UsageError` where it can't be meant so."""
    text = arguments.bundle
    check_build_arguments(arguments)
    if is_kernel(text):
        if arguments.more:
            raise _not_several(arguments.more[0])
        return ProfileSource("kernel", text)
    if not Path(text).exists() and text.isidentifier():
        raise _nothing(text)
    check_place(text)
    plans = _plans(text, arguments.more)
    lowering = {flag: name for flag, name in _LOWERING.items() if getattr(arguments, name)}
    _refuse(lowering, f"says what to lower, and {text} is no kernel", _CHOOSE)
    if plans:
        return ProfileSource("plans", text, plans)
    how = _given(arguments, add_build_arguments)
    if is_measured(Path(text)):
        _refuse(how, f"says how to bundle, and {text} was measured already", _GIVE)
        running = _given(arguments, add_run_arguments)
        _refuse(running, f"says how to run, and {text} was measured already", _RUN)
        return ProfileSource("measured", text)
    if is_bundle(Path(text)):
        how.pop("--no-probes", None)  # a bundle can run without its probes too
        why = f"says how to bundle, and {text} is a bundle, made with its own"
        _refuse(how, why, _GIVE)
        return ProfileSource("bundle", text)
    return ProfileSource("run", text)


def _nothing(name: str) -> UsageError:
    """For a name that is no built-in's, and of nothing that is there."""
    near = difflib.get_close_matches(name, (*BUILTINS, *TVM_BUILTINS), n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    all_of_them = ", ".join(dict.fromkeys((*BUILTINS, *TVM_BUILTINS)))
    return UsageError(
        f"{name} is no built-in kernel, and no bundle, run or profile lies there",
        hint=f"{meant}Built-ins: {all_of_them}. `stagebench bundle` writes bundles, "
        "`stagebench sweep` runs",
    )


def is_kernel(text: str) -> bool:
    """Is it a kernel rather than a place?  A folder wins over a built-in of the same name."""
    if Path(text).exists():
        return Path(text).suffix == ".py"
    path, _, _ = text.rpartition(":")
    return text in BUILTINS or text in TVM_BUILTINS or path.endswith(".py")


def is_bundle(path: Path) -> bool:
    """Is it a bundle, and neither a run nor a launch plan?"""
    from stagebench.bundle.plan_file import is_plan
    from stagebench.bundle.records import BUNDLE

    return ((path / BUNDLE).is_file() or path.is_file()) and not is_plan(str(path))


def is_measured(path: Path) -> bool:
    """Did an earlier `profile` write it, maybe without coming to its end?

    A folder is told by its files, a file by what is in it.
    """
    from stagebench.gpu.profile_file import TIMINGS
    from stagebench.gpu.records import PROFILE
    from stagebench.timing.recorded import document

    if path.is_dir():
        times = (path / TIMINGS).is_file() and not (path / RUN).is_file()
        return times or (path / PROFILE).is_file()
    return document(path) is not None


def _plans(first: str, more: list[str]) -> tuple[str, ...]:
    """The launch plans that are named; nothing else may be named several times."""
    from stagebench.bundle.plan_file import is_plan, refuse_sources

    names = [first, *more]
    refuse_sources(names)
    plans = tuple(name for name in names if is_plan(name) and not is_measured(Path(name)))
    if more and len(plans) < len(names):
        raise _not_several(next(name for name in names if name not in plans))
    return plans


def _not_several(name: str) -> UsageError:
    return UsageError(
        f"{name} is no launch plan, and only those can be several",
        hint="`stagebench bundle` packs several runs into one bundle",
    )


def _given(
    arguments: argparse.Namespace, declare: Callable[[argparse.ArgumentParser], None]
) -> dict[str, str]:
    """The options of ``declare`` that have another value than by default, by their flags."""
    plain = argparse.ArgumentParser()
    declare(plain)
    defaults = vars(plain.parse_args([]))
    return {
        f"--{name.replace('_', '-')}": name
        for name, default in defaults.items()
        if getattr(arguments, name) != default
    }


def _refuse(flags: Iterable[str], why: str, hint: str) -> None:
    for flag in flags:
        raise UsageError(f"{flag} {why}", hint=hint)


def bundle_for_device(source: ProfileSource, arguments: argparse.Namespace, bundle: Path) -> None:
    """Lower (a kernel) and bundle for this machine's device.

    Names are checked first, then the device is asked: without one nothing is lowered.  The dumps
    of a kernel stay beside the profile, for `stagebench explain` and `diff`.
    """
    from stagebench.gpu.device import read_device
    from stagebench.gpu.driver import open_driver

    _check_names(source, arguments)
    major, minor = read_device(open_driver()).compute_capability
    device = f"sm_{major}{minor}"
    if arguments.device_arch is None:
        arguments.device_arch = device
    runs = list(source.plans) or [source.text]
    if source.kind == "kernel":
        if arguments.arch is None:
            arguments.arch = [f"{device}a" if major >= FIRST_OWN_ARCH else device]
        runs = [str(_swept(arguments))]
    make(arguments, runs, bundle)


def _check_names(source: ProfileSource, arguments: argparse.Namespace) -> None:
    from stagebench.bundle.plan_file import read_plan
    from stagebench.dump.select import select_dumps
    from stagebench.experiment.kernel_reference import parse_kernel

    if source.kind == "kernel":
        _check_values(arguments, parse_kernel(source.text))
    elif source.kind == "run":
        select_dumps(source.text)
    for plan in source.plans:
        read_plan(Path(plan))


def _check_values(arguments: argparse.Namespace, kernel: KernelReference) -> None:
    """Raise `UsageError` for values of axes that no variant can have."""
    from stagebench.experiment.sweep_plan import expand

    plan = _sweep_plan(arguments)
    expand(plan, kernel, plan.num_stages or plan.default_num_stages)


def _sweep_plan(arguments: argparse.Namespace) -> SweepPlan:
    """What `sweep` would do of the kernel that is named in a bundle's place."""
    from stagebench.commands.sweep import sweep_plan

    return sweep_plan(argparse.Namespace(**{**vars(arguments), "kernel": arguments.bundle}))


def _swept(arguments: argparse.Namespace) -> Path:
    """The folder of a kernel's dumps."""
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.report.progress import SweepProgress

    folder: Path = arguments.out / DUMPS
    options = SweepOptions(
        dump_dir=folder, use_cache=not arguments.no_cache, jobs=arguments.jobs, warn=warn
    )
    with SweepProgress() as progress:
        result = run_sweep(_sweep_plan(arguments), options, progress)
    for note in result.notes:
        warn(note)
    return folder
