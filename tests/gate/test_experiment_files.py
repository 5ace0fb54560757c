"""Which files are experiments, and is what is wrong with one said with its place?"""

import sys

import pytest

from stagebench.errors import UsageError
from stagebench.experiment.definition import Case, Experiment
from stagebench.experiment.experiment_file import find_experiments, load_experiment
from stagebench.experiment.project import find_project

GOOD = (
    "from stagebench import Case, Experiment\n"
    "EXPERIMENT = Experiment(question='q', cases=[Case(kernel='gemm', num_stages=2)])\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "experiments").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "experiments"


def load(folder, text):
    path = folder / "e.py"
    path.write_text(text)
    return load_experiment(path)


def test_all_of_the_folder_that_define_one(folder):
    """Sorted; a helper beside them is not taken for one; a name, a file or a folder is enough."""
    for name in ("b", "a"):
        (folder / f"{name}.py").write_text(GOOD)
    (folder / "helper.py").write_text("x = 1\n")
    assert [file.name for file in find_experiments([])] == ["a", "b"]
    assert [file.name for file in find_experiments(["b"])] == ["b"]
    assert [file.shown for file in find_experiments(["experiments/a.py", "a"])] == [
        "experiments/a.py"
    ]
    assert len(find_experiments(["experiments"])) == 2


@pytest.mark.parametrize(("text", "hint"), [("aa", "did you mean a?"), ("x/y.py", "there are: a")])
def test_what_is_not_there(folder, text, hint):
    """With the nearest, or all."""
    (folder / "a.py").write_text(GOOD)
    with pytest.raises(UsageError) as caught:
        find_experiments([text])
    assert hint in caught.value.hint


def test_no_experiment_at_all(folder):
    """The hint makes a first one."""
    del folder
    with pytest.raises(UsageError) as caught:
        find_experiments([])
    assert "stagebench new experiment" in caught.value.hint


def test_two_of_one_name_would_share_baselines(folder):
    """They would overwrite each other's."""
    (folder / "a.py").write_text(GOOD)
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "a.py").write_text(GOOD)
    with pytest.raises(UsageError, match="share the baselines a"):
        find_experiments(["experiments/a.py", "other/a.py"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (\n", "e.py:1"),
        ("\n\nimport no_such_module\n", "e.py:3: ModuleNotFoundError"),
        ("import tilelang\n", "e.py:1: an experiment imports no compiler"),
        ("def f():\n    from torch import nn\n\nf()\n", "e.py:2: an experiment imports no"),
        ("x = 1\n", "defines no experiment"),
        ("EXPERIMENT = 7\n", "is a int, not an Experiment"),
        (GOOD.replace("'q'", "' '"), "e.py:2: Experiment: question is a text"),
        (GOOD.replace("num_stages=2", "num_stages='2'"), "Case('gemm'): num_stages is a depth"),
        (GOOD.replace("num_stages=2", "num_stages=[]"), "num_stages is a depth"),
        (GOOD.replace("num_stages=2", "num_stages=True"), "num_stages is a depth"),
        (GOOD.replace("num_stages=2", "arch=[]"), "arch is a name or names"),
        (GOOD.replace("num_stages=2", "params=[1]"), "params is a dict"),
        (GOOD.replace("num_stages=2", "policy={'launch': True}"), "policy is a dict"),
        (GOOD.replace("num_stages=2", "name='../x'"), "letters, digits"),
        (GOOD.replace("num_stages=2", "compiler=7"), "compiler is a text"),
        (GOOD.replace("num_stages=2", "compiler='clang'"), "not a compiler that stagebench knows"),
        (GOOD.replace("num_stages=2", "nmu_stages=2"), "nmu_stages"),
        (GOOD.replace("[Case(kernel='gemm', num_stages=2)]", "[]"), "at least one"),
        (GOOD.replace("question='q'", "question='q', expectations=[lambda v: True]"), "expect("),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(folder, text, said):
    """The file, the line where there is one, and the field."""
    with pytest.raises(UsageError) as caught:
        load(folder, text)
    assert said in caught.value.message


def test_a_file_that_is_no_python(folder):
    """Bytes that no encoding explains."""
    (folder / "e.py").write_bytes(b"\xff\xfe\x00EXPERIMENT")
    with pytest.raises(UsageError, match=r"e\.py"):
        load_experiment(folder / "e.py")


def test_loading_leaves_no_trace(folder):
    """A sibling can be imported; the path and the modules are as before."""
    (folder / "sizes_of_e.py").write_text("DEPTHS = [2, 3]\n")
    text = GOOD.replace("num_stages=2", "num_stages=DEPTHS")
    before = list(sys.path), list(sys.meta_path)
    file = load(folder, "from sizes_of_e import DEPTHS\n" + text)
    assert file.experiment.cases[0].depths == (2, 3)
    assert (sys.path, sys.meta_path) == before
    assert "stagebench_experiment_e" not in sys.modules


def test_axes_of_a_case():
    """A list is an axis, anything else one value; no depth is the kernel as written."""
    case = Case(kernel="x.py:f", params={"tile": (64, 64), "M": [1, 2]}, arch="sm_80")
    assert case.depths == (None,)
    assert case.axes == {"tile": ((64, 64),), "M": (1, 2)}
    assert (case.archs, case.label) == (("sm_80",), "f")
    assert Experiment(question="q", cases=[case]).cases == [case]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.stagebench]\ndums = 'x'\n", "dums"),
        ("[tool.stagebench]\ndumps = 7\n", "$.tool.stagebench.dumps"),
        ("[tool.stagebench.policy]\n'lanch' = 'exact'\n", "names no fact"),
        ("[tool.stagebench\n", "not TOML"),
    ],
)
def test_settings_are_strict(tmp_path, text, said):
    """A misspelt setting is no setting."""
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        find_project(tmp_path)
    assert said in caught.value.message


def test_the_project_is_the_nearest_above(tmp_path):
    """pyproject.toml or .git; other tools' tables are theirs; without any, the folder itself."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert find_project(inner).root == tmp_path / "a"
    (tmp_path / "a" / ".git").rmdir()
    assert find_project(inner / "e.py").root == tmp_path


def test_a_file_that_ends_the_process_is_refused(folder):
    """``sys.exit(0)`` in one file must not make the check of all others green."""
    for raising in ("import sys\nsys.exit(0)\n", "raise GeneratorExit\n"):
        with pytest.raises(UsageError) as caught:
            load(folder, raising + GOOD)
        assert "e.py:" in caught.value.message
    with pytest.raises(KeyboardInterrupt):
        load(folder, "raise KeyboardInterrupt\n")
