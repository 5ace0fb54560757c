"""With what is a check's result compared, and where do those baselines lie?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stagebench.errors import DumpError
from stagebench.experiment.experiment_file import ExperimentFile, shown
from stagebench.experiment.project import Project
from stagebench.gate.baselines import BaselineSet, read_baselines
from stagebench.gate.revision import unpack_baselines
from stagebench.model import Scalar


@dataclass(frozen=True)
class Compared:
    """With what to compare, and what to let pass.

    One of ``revision`` (baselines of a git revision), ``run`` (a dump directory),
    ``against_compiler`` (what that compiler makes of the same variants) or none of them (the
    working tree's).  ``dumps`` is the folder of baselines instead of the project's.
    ``compilers`` lower, each in its turn, instead of this environment's; all of them are compared
    with the same baselines.
    """

    revision: str | None = None
    run: Path | None = None
    against_compiler: str | None = None
    compilers: tuple[str, ...] = ()
    dumps: Path | None = None
    only: tuple[str, ...] = ()
    allow_missing: bool = False
    any_compiler: bool = False
    pass_configs: Mapping[str, Scalar] = field(default_factory=dict)
    whole: Project | None = None
    """Its every experiment is checked: baselines that belong to none of them are unused."""


def baseline_folder(file: ExperimentFile, dumps: Path | None) -> Path:
    """Where an experiment's baselines are."""
    return (file.project.dumps if dumps is None else dumps) / file.name


def baselines_of_file(file: ExperimentFile, compared: Compared, temporary: Path) -> BaselineSet:
    """What is accepted for an experiment; ``temporary`` is for those of a revision."""
    folder = baseline_folder(file, compared.dumps)
    place = shown(folder, file.project)
    if compared.run is not None:
        run = compared.run
        if not run.is_dir():
            raise DumpError(f"no run at {run}", hint="`stagebench sweep --dump-dir DIR` writes one")
        root = run / file.name if (run / file.name).is_dir() else run
        place = shown(root, file.project)
        return read_baselines(root, shown=place, said=f"run {run}", accepted=False)
    if compared.revision is not None:
        into = temporary / str(len(list(temporary.iterdir())))
        into.mkdir()
        unpack_baselines(file.project.root, folder, compared.revision, into)
        said = f"the baselines of {compared.revision}"
        try:
            return read_baselines(into / file.name, shown=place, said=said)
        except DumpError as exc:
            message = exc.message.replace(str(into / file.name), f"{compared.revision}:{place}")
            hint = "this is how it was committed: compare with another revision"
            raise DumpError(message, hint=hint) from exc
    return read_baselines(folder, shown=place, said=f"the baselines in {place}")


def said_against(compared: Compared, sets: Sequence[BaselineSet]) -> str:
    """What is compared with, in words."""
    elsewhere = (compared.revision, compared.run, compared.against_compiler)
    if len(sets) == 1 or any(place is not None for place in elsewhere):
        said = sets[0].said
    else:
        said = f"the baselines in {Path(sets[0].shown).parent.as_posix()}"
    configs = ", ".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in compared.pass_configs.items()
    )
    return f"{said}, lowered with {configs}" if configs else said
