"""What the gate's tests share: one worker for every variant that they lower."""

import pytest

from tests.gate.projects import EDITED, FAILING, KERNEL, Project


@pytest.fixture(scope="session")
def warmed(tmp_path_factory):
    """Every variant of every project below, in the cache that all tests share."""
    from stagebench.experiment.compared_with import Compared
    from stagebench.experiment.experiment_file import load_experiment
    from stagebench.experiment.lowered_experiments import lower_planned
    from stagebench.experiment.planned_variants import plan_variants
    from stagebench.experiment.sweep import SweepOptions
    from stagebench.lowering.compiler_environment import this_environment

    environment, jobs = this_environment(), {}
    for text, name, configs in (
        (KERNEL, "tiny", {}),
        (KERNEL, "other", {}),
        (EDITED, "tiny", {}),
        (FAILING, "tiny", {}),
        (KERNEL, "tiny", {"tl.disable_warp_specialized": True}),
    ):
        project = Project(tmp_path_factory.mktemp("warm") / "p")
        project.kernel(text, name)
        path = project.experiment()
        path.write_text(path.read_text().replace("tiny.py:", f"{name}.py:"))
        compared = Compared(pass_configs=configs)
        for one in plan_variants(load_experiment(path), environment.compiler, compared):
            jobs[len(jobs), one.name, environment.identity] = (one, environment)
    lower_planned(jobs, SweepOptions(jobs=2, timeout_seconds=300), None)
    return [one.request for one, _ in jobs.values()]


@pytest.fixture(scope="session")
def other_build(tmp_path_factory, warmed):
    """The folder of a build of TileLang that makes of every variant what this environment does.

    Nothing of it is imported: what it would say is in the cache already.
    """
    from stagebench.lowering.cache import Cache
    from stagebench.lowering.cache_folder import default_cache_folder
    from stagebench.lowering.compiler_environment import environment_at, this_environment

    folder = tmp_path_factory.mktemp("builds") / "other"
    (folder / "tilelang").mkdir(parents=True)
    (folder / "tilelang" / "__init__.py").write_text("raise ImportError\n")
    (folder / "VERSION").write_text(this_environment().compiler.version)
    cache = Cache(default_cache_folder(), pytest.fail)
    for request in warmed:
        cache.put(request, environment_at(folder), cache.get(request, this_environment()))
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch, warmed):
    """A project that nobody accepted yet; the commands run in its folder."""
    del warmed
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path / "p")


@pytest.fixture
def accepted_project(project, capsys, monkeypatch):
    """A project with its baselines."""
    from tests.gate.projects import run

    monkeypatch.chdir(project.root)
    code, _, err = run(capsys, "accept", "--reason", "first")
    assert code == 0, err
    return project
