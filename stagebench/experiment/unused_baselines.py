"""Which baselines belong to no variant that was checked, or to no experiment at all?"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stagebench.experiment.compared_with import Compared, baseline_folder
from stagebench.experiment.experiment_file import ExperimentFile, shown
from stagebench.gate.baselines import Baseline, BaselineSet, baseline_folders, read_baselines
from stagebench.model.verdict import CaseVerdict, ExperimentVerdict, Place, VariantVerdict


def with_all_unused(
    verdicts: Sequence[ExperimentVerdict], sets: Sequence[BaselineSet], taken: set[str]
) -> list[ExperimentVerdict]:
    """The verdicts with the baselines that none of their variants ``taken`` has.

    ``sets`` run along the first of ``verdicts``.
    """
    found = list(verdicts)
    for index in _firsts(sets):
        unused = [one for one in sets[index].baselines if one.dump.folder not in taken]
        found[index] = _with_unused(found[index], unused, sets[index])
    return found


def _firsts(sets: Sequence[BaselineSet]) -> list[int]:
    """The first position of each folder of baselines: several experiments may share a run."""
    roots = [known.root for known in sets]
    return [index for index, root in enumerate(roots) if root not in roots[:index]]


def ownerless(files: Sequence[ExperimentFile], compared: Compared) -> list[ExperimentVerdict]:
    """The baselines of experiments that are not there any more, each set as if it were one."""
    project = compared.whole
    elsewhere = (compared.revision, compared.run, compared.against_compiler)
    if project is None or any(place is not None for place in elsewhere):
        return []
    dumps = project.dumps if compared.dumps is None else compared.dumps
    owned = {baseline_folder(file, compared.dumps).resolve() for file in files}
    verdicts = []
    for folder in baseline_folders(dumps):
        if folder.resolve() in owned or (dumps.parent / f"{folder.name}.py").is_file():
            continue  # the latter: a test module's, beside which its baselines lie
        place = shown(folder, project)
        known = read_baselines(folder, shown=place, said=place)
        empty = ExperimentVerdict(
            name=folder.name, file=place, question="", baselines=place, compared=0,
            expectations=(), cases=(),
        )  # fmt: skip
        if known.baselines:
            note = f"no experiment is called {folder.name}"
            verdicts.append(_with_unused(empty, known.baselines, known, note))
    return verdicts


def _with_unused(
    verdict: ExperimentVerdict,
    unused: Sequence[Baseline],
    known: BaselineSet,
    note: str = "no variant of the experiment is this one",
) -> ExperimentVerdict:
    """The verdict with its unused baselines in the cases of their kernels."""
    cases = {case.name: case for case in verdict.cases}
    for baseline in unused:
        variant = baseline.dump.result.variant
        folder = f"{known.shown}/{baseline.name}"
        lost = VariantVerdict(
            name=baseline.name,
            variant=variant,
            status="unused_baseline",
            note=note,
            baseline=folder,
            place=Place(file=f"{folder}/variant.json", line=1),
            drifts=(),
            allowed=(),
            expectations=(),
        )
        home = next((c for c in cases.values() if c.kernel == variant.kernel), None) or CaseVerdict(
            name=variant.kernel, kernel=variant.kernel, variants=()
        )
        cases[home.name] = msgspec.structs.replace(home, variants=(*home.variants, lost))
    return msgspec.structs.replace(verdict, cases=tuple(cases.values()))
