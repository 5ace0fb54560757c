"""What does one ``stagebench.check(…)`` of a test ask for, as a record and as an experiment?

The record crosses from the pytest process that gathers checks to ``stagebench accept --pytest``;
expectations are code and stay behind.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.errors import UsageError
from stagebench.experiment.definition import Case, Experiment
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.project import Project, find_project
from stagebench.gate.expectation import Expectation
from stagebench.model import Compiler, ParamValue, Record, Scalar
from stagebench.testing.places import module_folder

NOBODY = Compiler(name="", version="")
"""No request says which compiler it is for."""
_INNER = ("func", "orig_func", "__wrapped__")
"""Where compilers' decorators keep the function that they were put on."""


class AskedCheck(Record, frozen=True, kw_only=True):
    """One check: ``file`` is the test module's absolute path, ``node`` what pytest calls the test.

    ``num_stages`` is ``None`` for the kernel as written; ``params`` maps each to its values;
    ``compiler`` is a value of ``--compiler`` (``None``: this environment's TileLang).
    """

    file: str
    node: str
    label: str
    kernel: str
    num_stages: tuple[int, ...] | None
    archs: tuple[str, ...]
    params: dict[str, tuple[ParamValue, ...]]
    pass_configs: dict[str, Scalar]
    stage_param: str | None
    policy: dict[str, str]
    compiler: str | None


@dataclass(frozen=True)
class CheckExperiment(ExperimentFile):
    """A test's check as an experiment: its file is the test module, its name the check's."""

    label: str

    @property
    def name(self) -> str:
        """The check's name, which is that of its folder of baselines."""
        return self.label


def as_experiment(check: AskedCheck, expectations: Sequence[Expectation] = ()) -> CheckExperiment:
    """The experiment; `UsageError` where a value is wrong, as in an experiment file."""
    file = Path(check.file)
    case = Case(
        kernel=check.kernel,
        num_stages=check.num_stages,
        arch=check.archs,
        params={name: list(values) for name, values in check.params.items()},
        pass_configs=check.pass_configs,
        stage_param=check.stage_param,
        policy=check.policy,
        compiler=check.compiler,
    )
    experiment = Experiment(question=check.node, cases=[case], expectations=expectations)
    project = find_project(file)
    dumps = os.path.relpath(module_folder(file.resolve()), project.root)
    settings = msgspec.structs.replace(project.settings, dumps=dumps)
    return CheckExperiment(file, Project(project.root, settings), experiment, check.label)


def kernel_text(kernel: object, folder: Path) -> str:
    """A kernel's reference with an absolute path.

    ``kernel`` is a built-in's name, ``path/to/file.py:function`` relative to the test module's
    ``folder``, or the kernel itself where it is a function of a module (decorated or not).
    """
    if isinstance(kernel, str):
        path, colon, function = kernel.rpartition(":")
        return f"{(folder / Path(path).expanduser()).resolve()}:{function}" if colon else kernel
    inner = kernel
    for _ in range(len(_INNER) + 1):
        if inspect.isfunction(inner):
            break
        inner = next((found for name in _INNER if (found := getattr(inner, name, None))), None)
    if not inspect.isfunction(inner):
        raise UsageError(
            f"{kernel!r} is no kernel that can be found again",
            hint="name it: 'path/to/file.py:function', or pass a function of a module",
        )
    if "." in inner.__qualname__:
        raise UsageError(
            f"{inner.__qualname__} is no function of a module's own, so no worker can import it",
            hint="move it to the top of a module",
        )
    return f"{Path(inner.__code__.co_filename).resolve()}:{inner.__name__}"


def axes(params: Mapping[str, ParamValue | list[ParamValue]]) -> dict[str, tuple[ParamValue, ...]]:
    """The values of each parameter: a list is an axis, anything else one value."""
    return {
        name: tuple(value) if isinstance(value, list) else (value,)
        for name, value in params.items()
    }
