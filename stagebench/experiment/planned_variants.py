"""Which variants does an experiment have, and where are the baselines of each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stagebench.dump.folder_name import variant_folder
from stagebench.errors import UsageError
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.definition import Case
from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.sweep_plan import SweepPlan, expand
from stagebench.lowering.failure import unresolved_variant
from stagebench.model import Compiler, ParamValue
from stagebench.worker.protocol import LowerRequest


@dataclass(frozen=True)
class Planned:
    """One variant of an experiment that is to be lowered.

    ``name`` is its folder below the experiment's baselines.
    """

    case: Case
    name: str
    request: LowerRequest
    axes: Mapping[str, ParamValue]


def plan_variants(
    file: ExperimentFile, compiler: Compiler, compared: Compared
) -> tuple[Planned, ...]:
    """Every variant of an experiment; `UsageError` names the experiment.

    With ``only``, the others are lowered too: expectations may look at them.
    """
    cases = file.experiment.cases
    try:
        planned = [one for case in cases for one in _plan(file, case, compiler, compared)]
    except UsageError as exc:
        raise UsageError(f"{file.shown}: {exc.message}", hint=exc.hint) from exc
    names = [one.name for one in planned]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"{file.shown}: two variants have the place {twice} among the baselines",
            hint="give one of their cases a name=",
        )
    return tuple(planned)


def is_meant(case: Case, compared: Compared) -> bool:
    """Is its verdict asked for, rather than lowered for expectations that look at it?"""
    return not compared.only or case.label in compared.only


def _plan(
    file: ExperimentFile, case: Case, compiler: Compiler, compared: Compared
) -> list[Planned]:
    kernel = parse_kernel(kernel_from(case.kernel, file.path.parent))
    plan = SweepPlan(
        kernel=case.kernel,
        num_stages=None,
        archs=case.archs,
        params=case.axes,
        stage_param=case.stage_param,
        pass_configs=case.pass_configs,
    )
    chosen = tuple(sorted(case.params))
    found = []
    for request in expand(plan, kernel, case.depths):
        folder = variant_folder(unresolved_variant(request, compiler), chosen)
        asked = compared.pass_configs if is_meant(case, compared) else {}
        configs = {**request.pass_configs, **asked}
        axes: dict[str, ParamValue] = {
            "case": case.label,
            "arch": request.arch,
            "num_stages": request.num_stages,
            **request.params,
        }
        found.append(
            Planned(
                case=case,
                name=f"{case.name}/{folder}" if case.name else folder,
                request=msgspec.structs.replace(request, pass_configs=configs),
                axes=axes,
            )
        )
    return found


def kernel_from(text: str, folder: Path) -> str:
    """A kernel reference with its path made absolute from the experiment's folder."""
    path, colon, function = text.rpartition(":")
    return f"{folder / Path(path).expanduser()}:{function}" if colon else text
