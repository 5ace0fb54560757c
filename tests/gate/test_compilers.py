"""Whose code is checked and accepted where a compiler is named: one, several, a case's own?"""

import json
import sys

import pytest

from stagebench.experiment.compared_with import Compared
from stagebench.experiment.experiment_file import load_experiment
from stagebench.experiment.lowered_experiments import lower_experiments
from stagebench.experiment.sweep import SweepOptions
from tests.gate.projects import run

OTHER = f"tilelang 0.1.15+{sys.prefix.rpartition('/')[2]}"


def accepted_by(project):
    """The compilers that a project's history and its baselines name."""
    history = json.loads((project.dumps / "tiny" / "baseline.json").read_text())["accepted"]
    variants = [json.loads(path.read_text()) for path in project.dumps.rglob("variant.json")]
    return [one["compiler"] for one in history], [
        one.get("variant", one)["compiler"] for one in variants
    ]


@pytest.mark.usefixtures("accepted_project")
def test_several_compilers_are_held_against_the_same_baselines(capsys):
    """Each has its own verdict, named by the compiler, and nothing can be approved for two."""
    code, out, err = run(
        capsys, "check", "--compiler", "tilelang", sys.prefix, "--any-compiler", "--json", "-"
    )
    assert code == 0, out + err
    verdict = json.loads(out)
    label = OTHER.replace(" ", "==")
    assert [one["name"] for one in verdict["experiments"]] == [
        "tiny@tilelang==0.1.15", f"tiny@{label}",
    ]  # fmt: skip
    assert [one["compared"] for one in verdict["experiments"]] == [2, 2]
    seen = [
        variant["variant"]["compiler"]["version"]
        for one in verdict["experiments"]
        for case in one["cases"]
        for variant in case["variants"]
    ]
    assert seen == ["0.1.15"] * 2 + [label.partition("==")[2]] * 2
    assert (verdict["compiler"], verdict["accept"]) == (None, None)
    code, out, _ = run(capsys, "check", "--compiler", "tilelang", sys.prefix)
    assert (code, f"baseline by tilelang 0.1.15, now {OTHER}" in out) == (4, True)


def test_an_unused_baseline_is_told_once(accepted_project, capsys):
    """It is no compiler's own."""
    accepted_project.experiment(depths=(2,))
    code, out, _ = run(
        capsys, "check", "--compiler", "tilelang", sys.prefix, "--any-compiler", "--json", "-"
    )
    assert (code, json.loads(out)["counts"]["unused_baseline"]) == (4, 1)


def test_accept_by_a_compiler(project, capsys, monkeypatch):
    """What it makes is the baseline, and the history says who made it; check offers the command."""
    monkeypatch.chdir(project.root)
    code, out, _ = run(capsys, "check", "--compiler", sys.prefix)
    assert code == 4
    assert f"accept experiments/tiny.py --only create --compiler {sys.prefix} --reason" in out
    code, out, err = run(capsys, "accept", "--compiler", sys.prefix, "--reason", "first")
    assert code == 0, out + err
    history, variants = accepted_by(project)
    assert {(one["name"], one["version"]) for one in (*history, *variants)} == {
        ("tilelang", "0.1.15")
    }
    assert run(capsys, "check", "--compiler", sys.prefix)[0] == 0


@pytest.mark.parametrize("verb", ["check", "accept"])
def test_a_compiler_that_is_none(project, capsys, monkeypatch, verb):
    """Nothing is lowered or written, and the message says what may be named."""
    monkeypatch.chdir(project.root)
    reason = ["--reason", "x"] if verb == "accept" else []
    code, _, err = run(capsys, verb, "--compiler", "tilelnag", *reason)
    assert (code, "tilelnag: not a compiler that stagebench knows" in err) == (2, True)
    assert not project.dumps.exists()


@pytest.mark.usefixtures("accepted_project")
def test_an_experiment_after_the_compilers_is_told(capsys):
    """It would be taken for one of them."""
    code, _, err = run(capsys, "check", "--compiler", "tilelang", "experiments/tiny.py")
    assert (code, "experiments come first" in err) == (2, True)


def test_another_compiler_lowers_what_names_its_own(project, monkeypatch):
    """Its own is on one side, the other on the other side; neither side is the same twice."""
    monkeypatch.chdir(project.root)
    project.experiment(depths=(2,), case=', compiler="tilelang"')
    (done,) = lowered_against(project, sys.prefix)
    assert [by(seen) for seen in done.seen[0]] == ["0.1.15"]
    assert [by(seen) for seen in done.other[0]] == [OTHER.partition(" ")[2]]


def test_a_compiler_that_the_case_names_itself(project, capsys, monkeypatch):
    """The same on both sides is no comparison: said so, and never clean."""
    monkeypatch.chdir(project.root)
    project.experiment(depths=(2,), case=f', compiler="{sys.prefix}"')
    code, out, err = run(
        capsys, "check", "--compiler", "tilelang", "--against-compiler", sys.prefix
    )
    assert (code, "1 not comparable; nothing was compared" in out) == (4, True), out + err
    assert "its case names tilelang 0.1.15, which is what it is compared with" in " ".join(
        out.split()
    )


def lowered_against(project, compiler):
    files = [load_experiment(project.root / "experiments" / "tiny.py")]
    return lower_experiments(files, Compared(against_compiler=compiler), SweepOptions(jobs=2))


def by(seen):
    return seen.lowering.result.variant.compiler.version
