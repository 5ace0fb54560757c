"""Whose code is checked and accepted where a compiler is named: one, several, a case's own?"""

import json
import sys

import pytest

from stagebench.errors import MachineError, UsageError
from stagebench.experiment.compared_with import Compared
from stagebench.experiment.compilers_of_cases import CompilersOfCases, compilers_of_cases
from stagebench.experiment.definition import Case
from stagebench.experiment.experiment_file import load_experiment
from stagebench.experiment.lowered_experiments import lower_experiments
from stagebench.experiment.sweep import SweepOptions
from stagebench.experiment.sweep_watcher import Unwatched
from stagebench.lowering.choose_compilers import NoCompiler
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.model import Compiler
from tests.command_line import unwrapped
from tests.gate.projects import run

OTHER = "tilelang 0.1.15+local"


def accepted_by(project):
    """The compilers that a project's history and its baselines name."""
    history = json.loads((project.dumps / "tiny" / "baseline.json").read_text())["accepted"]
    variants = [json.loads(path.read_text()) for path in project.dumps.rglob("variant.json")]
    return [one["compiler"] for one in history], [
        one.get("variant", one)["compiler"] for one in variants
    ]


@pytest.mark.usefixtures("accepted_project")
def test_several_compilers_are_held_against_the_same_baselines(capsys, other_build):
    """Each has its own verdict, named by the compiler, and nothing can be approved for two."""
    code, out, err = run(
        capsys, "check", "--compiler", "tilelang", other_build, "--any-compiler", "--json", "-"
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
    code, out, _ = run(capsys, "check", "--compiler", "tilelang", other_build)
    assert (code, f"baseline by tilelang 0.1.15, now {OTHER}" in out) == (4, True)


def test_an_unused_baseline_is_told_once(accepted_project, capsys, other_build):
    """It is no compiler's own."""
    accepted_project.experiment(depths=(2,))
    code, out, _ = run(
        capsys, "check", "--compiler", "tilelang", other_build, "--any-compiler", "--json", "-"
    )
    assert (code, json.loads(out)["counts"]["unused_baseline"]) == (4, 1)


def test_accept_by_a_compiler(project, capsys, monkeypatch, other_build):
    """What it makes is the baseline, and the history says who made it; check offers the command."""
    monkeypatch.chdir(project.root)
    code, out, _ = run(capsys, "check", "--compiler", other_build)
    assert code == 4
    assert f"accept experiments/tiny.py --only create --compiler {other_build} --reason" in out
    code, out, err = run(capsys, "accept", "--compiler", other_build, "--reason", "first")
    assert code == 0, out + err
    history, variants = accepted_by(project)
    assert {(one["name"], one["version"]) for one in (*history, *variants)} == {
        ("tilelang", "0.1.15+local")
    }
    assert run(capsys, "check", "--compiler", other_build)[0] == 0


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


def test_another_compiler_lowers_what_names_its_own(project, monkeypatch, other_build):
    """Its own is on one side, the other on the other side; neither side is the same twice."""
    monkeypatch.chdir(project.root)
    project.experiment(depths=(2,), case=', compiler="tilelang"')
    (done,) = lowered(project, against_compiler=str(other_build))
    assert [by(seen) for seen in done.seen[0]] == ["0.1.15"]
    assert [by(seen) for seen in done.other[0]] == [OTHER.partition(" ")[2]]


def test_a_compiler_that_the_case_names_itself(project, capsys, monkeypatch, other_build):
    """The same on both sides is no comparison: said so, and never clean."""
    monkeypatch.chdir(project.root)
    project.experiment(depths=(2,), case=f', compiler="{other_build}"')
    code, out, err = run(capsys, "check", "--against-compiler", other_build)
    said = unwrapped(out)
    assert (code, "1 not comparable; nothing was compared" in said) == (4, True), out + err
    assert "its case names tilelang 0.1.15+local, which is what it is compared with" in said


def test_a_given_release_lowers_what_names_another_one_of_its_compiler(
    project, monkeypatch, other_build
):
    """The case's own is never lowered by then: what is green is green by the one that was asked."""
    monkeypatch.chdir(project.root)
    project.experiment(depths=(2,), case=', compiler="tilelang"')
    (done,) = lowered(project, compilers=(str(other_build),))
    assert [by(seen) for seen in done.seen[0]] == ["0.1.15+local"]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("verb", ["--compiler", "--against-compiler"])
def test_one_environment_twice_is_refused(project, capsys, monkeypatch, verb, turned):
    """By its name and by its place, in either order; the message names the flag that was typed."""
    monkeypatch.chdir(project.root)
    first, second = ("tilelang", sys.prefix)[:: -1 if turned else 1]
    words = [first, second] if verb == "--compiler" else [second]
    code, _, err = run(capsys, "check", verb, *words)
    assert code == 2
    said = "and so is" if verb == "--compiler" else "which lowers here already"
    assert f"{verb} {second} is tilelang 0.1.15, {said}" in err
    assert (f"{first}: given twice" in err) == (verb == "--compiler")


@pytest.mark.parametrize("text", ["/nope", "tilelnag", "tilelang==x"])
def test_what_is_compared_with_is_called_by_its_flag(project, capsys, monkeypatch, text):
    """Not by one that nobody typed."""
    monkeypatch.chdir(project.root)
    code, _, err = run(capsys, "check", "--against-compiler", text)
    assert code == 2
    assert f"--against-compiler {text}" in err
    assert "--compiler " not in err.replace("--against-compiler", "")


def compiler(name, version):
    return CompilerEnvironment(
        compiler=Compiler(name=name, version=version), python="", identity=f"{name} {version}"
    )


TILELANG, OLD, TVM, NEXT = (
    compiler("tilelang", "2"), compiler("tilelang", "1"), compiler("tvm", "1"),
    compiler("tvm", "2"),
)  # fmt: skip
NAMED, NONE = Case(kernel="gemm", compiler="tvm"), Case(kernel="gemm")


@pytest.mark.parametrize(
    ("given", "explicit", "turns"),
    [
        ([TILELANG], False, {None: [TILELANG], "tvm": [TVM]}),
        ([OLD], True, {None: [OLD], "tvm": [TVM]}),
        ([TILELANG, OLD], True, {None: [TILELANG, OLD], "tvm": [TVM]}),
        ([NEXT], True, {None: [NEXT], "tvm": [NEXT]}),
        ([OLD, NEXT, TVM], True, {None: [OLD, NEXT, TVM], "tvm": [NEXT, TVM]}),
    ],
)
def test_who_lowers_what(given, explicit, turns):
    """A case's own gives way to another release of the same compiler; it is judged once by each."""
    by_case = CompilersOfCases(tuple(given), explicit, {"tvm": TVM})
    for case in (NAMED, NONE):
        found = [by_case.turn(case, number) for number in range(len(given))]
        assert [turn.compiler for turn in found if turn.judged] == turns[case.compiler]


@pytest.mark.parametrize(
    ("other", "explicit", "asked"),
    [
        (OLD, False, [NONE]),
        (OLD, True, [NONE]),
        (NEXT, False, [NAMED]),
        (NEXT, True, [NAMED, NONE]),
    ],
)
def test_a_release_is_asked_for_the_cases_of_its_compiler(other, explicit, asked):
    """Of a case that names none too, where ``--compiler`` says that TileLang is to be compared."""
    by_case = CompilersOfCases((TILELANG,), explicit, {"tvm": TVM}, other)
    assert [case for case in (NAMED, NONE) if by_case.is_asked(case)] == asked
    left = by_case.not_asked([NAMED, NAMED, NONE])
    assert ("2 cases name tvm" in left) == (NAMED not in asked)
    assert any("names no compiler" in words for words in left) == (NONE not in asked)


def test_a_compiler_that_would_lower_nothing():
    """A green result of a compiler that never ran is none: it is refused."""
    by_case = CompilersOfCases((TVM, OLD), True, {"tvm": TVM})
    by_case.check_used([NAMED, NONE], ["tvm", "old"])
    with pytest.raises(UsageError, match="--compiler old would lower nothing: 2 cases name tvm"):
        by_case.check_used([NAMED, NAMED], ["tvm", "old"])


def test_a_lost_compiler_costs_its_own_cases_where_all_name_one(tmp_path):
    """Also the first case's; where none is there, that is the error."""
    lost, found = tmp_path / "lost", tmp_path / "found"
    lost.mkdir()
    (found / "tilelang").mkdir(parents=True)
    (found / "tilelang" / "__init__.py").write_text("")
    options = SweepOptions(cache_dir=tmp_path, warn=lambda _: None)
    first, second = (Case(kernel="gemm", compiler=str(place)) for place in (lost, found))
    by_case = compilers_of_cases([first, second], Compared(), options)
    turns = [by_case.turn(case, 0) for case in (first, second)]
    assert [turn.judged for turn in turns] == [True, True]
    assert [isinstance(turn.compiler, NoCompiler) for turn in turns] == [True, False]
    with pytest.raises(MachineError, match="lost is no environment"):
        compilers_of_cases([first], Compared(), options)


def test_each_variant_is_lowered_once_by_each_compiler(project, monkeypatch, other_build):
    """However its compiler is named, and however many take their turn."""
    monkeypatch.chdir(project.root)
    path = project.experiment(depths=(2,))
    case = 'Case(kernel="../kernels/tiny.py:tiny", num_stages=[2], arch="sm_90a"'
    named = ", ".join(
        f'{case}, name="case{number}", compiler={name!r})'
        for number, name in enumerate((None, "tilelang", "tilelang==0.1.15"))
    )
    path.write_text(path.read_text().replace(f"{case})", named))
    planned = []

    class Watcher(Unwatched):
        def planned(self, requests):
            planned.append(len(requests))

    lowered(project, watcher=Watcher())
    lowered(project, against_compiler=str(other_build), watcher=Watcher())
    lowered(project, compilers=("tilelang", str(other_build)), watcher=Watcher())
    assert planned == [3, 6, 6]


def lowered(project, watcher=None, **compared):
    files = [load_experiment(project.root / "experiments" / "tiny.py")]
    return lower_experiments(files, Compared(**compared), SweepOptions(jobs=2), watcher)


def by(seen):
    return seen.lowering.result.variant.compiler.version
