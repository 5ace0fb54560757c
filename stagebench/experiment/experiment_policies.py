"""Which policy holds for each case of an experiment?

The case's own rules win over the experiment's, and these over the project's.
"""

from __future__ import annotations

from stagebench.experiment.experiment_file import ExperimentFile
from stagebench.gate.policy import Policy, make_policy


def experiment_policies(file: ExperimentFile) -> dict[str, Policy]:
    """The policy of each case, by its name; every rule is checked now."""
    experiment = file.experiment
    return {
        case.label: make_policy(
            ("experiment", f"{file.shown}, case {case.label}", case.policy),
            ("experiment", file.shown, experiment.policy),
            ("pyproject", "[tool.stagebench.policy]", file.project.settings.policy),
        )
        for case in experiment.cases
    }
