"""Do the workflow and the hook that the repository offers work?  Each command is run as it stands.

The step that installs is not run (it needs a network): its extras and constraints are looked up.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

from tests.plugin.seeded import one_version_more, seed

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "stagebench.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def steps():
    """The commands of the workflow's job, by the names of their steps."""
    workflow = yaml.safe_load(WORKFLOW.read_text())
    (job,) = workflow["jobs"].values()
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step}


@pytest.fixture
def shell(project):
    """Run a command as a runner's ``shell: bash`` does, with ``stagebench`` on the path."""
    programs = project / "bin"
    programs.mkdir()
    script = programs / "stagebench"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stagebench "$@"\n')
    script.chmod(0o755)
    environ = {
        **os.environ,
        "CI": "true",
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
    }

    def run(command):
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", command],
            cwd=project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_every_command_of_the_workflow_on_a_clean_tree(project, shell):
    """Nothing changed: every step is green, the summary says so, the report counts two cases."""
    for name, command in steps().items():
        if name != "Install":
            done = shell(command)
            assert done.returncode == 0, (name, done.stderr)
    assert "stagebench check: clean" in (project / "summary.md").read_text()
    report = JUnitXml.fromfile(str(project / "stagebench-junit.xml"))
    assert (report.tests, report.failures) == (2, 0)


def test_every_command_of_the_workflow_on_drift(project, shell):
    """A changed fact: the check's step fails with an annotation, the two after it report it."""
    seed(2, change=one_version_more)
    done = {name: shell(command) for name, command in steps().items() if name != "Install"}
    assert {name: each.returncode for name, each in done.items()} == {
        "Check": 1,
        "Summary": 0,
        "JUnit": 0,
    }
    assert done["Check"].stdout.startswith(
        "::error file=dumps/e/gemm/sm_90a/num_stages=2/facts.json,"
    )
    summary = (project / "summary.md").read_text()
    assert "A\\_shared versions 2 → 3" in summary
    assert "stagebench accept experiments/e.py --only fix" in summary
    assert JUnitXml.fromfile(str(project / "stagebench-junit.xml")).failures == 1


def test_nothing_judged_fails_every_step(project, shell):
    """A damaged baseline is exit 2, and no step of the workflow hides it."""
    (project / "dumps/e/gemm/sm_90a/num_stages=2/facts.json").write_text("<<<<<<< ours\n")
    for name, command in steps().items():
        if name != "Install":
            assert shell(command).returncode != 0, name


def test_the_workflow_installs_what_it_runs():
    """The extras exist, the constraints are ours, and what decides comes first."""
    assert list(steps()) == ["Install", "Check", "Summary", "JUnit"]
    install = steps()["Install"]
    assert "-c constraints.txt" in install
    if tomllib is not None:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert {"ci", "tilelang"} <= set(extras["optional-dependencies"])
    assert "[ci,tilelang]" in install


def test_the_workflow_asks_for_little():
    """It reads the repository and runs on pull requests, never with their secrets."""
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML 1.1 reads the key `on` as true


def test_the_hook(shell):
    """The hook's entry, as pre-commit would start it, passes on a clean tree and fails on drift."""
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert hook["pass_filenames"] is False
    assert shell(hook["entry"]).returncode == 0
    seed(2, change=one_version_more)
    done = shell(hook["entry"])
    assert done.returncode == 1
    assert "A_shared versions 2 → 3" in done.stdout
    assert "\x1b" not in done.stdout
