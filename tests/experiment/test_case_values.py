"""Do an experiment's inputs and reference reach the bundle, and the GPU host without its file?"""

import numpy as np
import pytest

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.bundle.parts import VariantParts
from stagebench.bundle.read import read_bundle
from stagebench.bundle.write import write_bundle
from stagebench.errors import UsageError
from stagebench.experiment.case_values import with_case_values
from stagebench.experiment.value_functions import is_experiment
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.driver import Driver
from stagebench.gpu.execution import run_variant
from stagebench.gpu.inputs import random_input
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.run_request import RunOptions, RunRequest
from stagebench.gpu.session import open_session
from tests.bundle.building import result, variant
from tests.gpu.fake_driver import FakeApi

FUNCTIONS = """
import numpy as np

def inputs(asked, random):
    print("this is no output of ours")
    assert asked.params == {"block": 64} and asked.kernel == "k.py:copy"
    shape = asked.tensors["A"].shape
    return {"A": random.integers(0, 9, shape).astype("float16")}

def reference(asked, inputs):
    assert inputs["A"].dtype == np.float64
    return {"C": inputs["A"] + OFF}
"""
EXPERIMENT = """
from stagebench import Case, Experiment
import own

EXPERIMENT = Experiment(
    question="?",
    cases=[
        Case(kernel="k.py:copy", num_stages=[0, 1], name="copies", params={"block": [64, 128]},
             inputs=own.inputs, reference=own.reference),
        Case(kernel="other.py:copy", name="others", inputs=own.inputs),
        Case(kernel="gemm", name="plain"),
    ],
)
"""


@pytest.fixture
def files(tmp_path):
    """An experiment, the functions it imports, and the kernels' files."""
    (tmp_path / "own.py").write_text(FUNCTIONS.replace("OFF", "0"))
    (tmp_path / "off.py").write_text(FUNCTIONS.replace("OFF", "1"))
    (tmp_path / "exp.py").write_text(EXPERIMENT)
    for name in ("k", "other"):
        (tmp_path / f"{name}.py").write_text("def copy(): pass\n")
    return tmp_path


def candidates(*depths, **params):
    params = params or {"block": 64}
    return [Candidate(result(variant(depth, **params)), "") for depth in depths]


def valued(text, *depths, seed=0, told=None, **more):
    made = candidates(*depths)
    warn = (lambda _: None) if told is None else told.append
    return with_case_values(made, [str(text)], BuildOptions(), seed, warn, **more)


def bundled(folder, several):
    parts = [
        VariantParts(one.result, {"base": b"fake copy"}, "sm_90a",
                     contents=one.contents, expected=one.expected)
        for one in several
    ]  # fmt: skip
    write_bundle(folder, parts)
    return read_bundle(folder)


def verdict(opened, folder, depth):
    """What the fake driver's copy of A to C comes to on a host that has the bundle alone."""
    session = open_session(Driver(FakeApi()), opened)
    request = RunRequest(
        id=opened.bundle.variants[depth].id, references=(), probe_file=None,
        options=RunOptions(repeats=1, runs=0),
    )  # fmt: skip
    store = OutputStore(folder)
    return run_variant(session, opened, store, request, Announcer()).correctness


@pytest.mark.parametrize("text", ["exp.py::copies", "exp.py", "own.py"])
def test_values_are_in_the_bundle(files, text):
    """Of a case by name, of the one case that fits, of a plain file: the same for all depths."""
    zero, one = valued(files / text, 0, 1)
    assert zero.contents == one.contents
    array = np.frombuffer(zero.contents["A"], np.float16)
    assert 0 <= array.min() < array.max() <= 8
    expected = np.frombuffer(zero.expected["C"])
    assert expected.tolist() == array.astype(float).tolist()
    opened = bundled(files / "b", [zero, one])
    stored = {t.contents.path for v in opened.bundle.variants for t in v.tensors if t.contents}
    assert len(stored) == 1, "two depths, one file"
    for file in ("exp.py", "own.py", "k.py"):
        (files / file).unlink()
    found = verdict(opened, files, 1)
    assert (found.verdict, found.reference.split(" and ")[0]) == ("correct", "expected")


@pytest.mark.parametrize(
    ("text", "experiment"),
    [
        ("EXPERIMENT = 1", True), ("x = 0\nEXPERIMENT: object = 1", True), ("EXPERIMENT=1", True),
        ("# EXPERIMENT = 1", False), ("EXPERIMENTS = 1", False),
        ("def f():\n    EXPERIMENT = 1", False),
    ],
)  # fmt: skip
def test_which_file_is_an_experiment(tmp_path, text, experiment):
    """One that defines the name at its top, however it is spelt."""
    (tmp_path / "x.py").write_text(text)
    assert is_experiment(tmp_path / "x.py") is experiment


def test_a_kernel_that_is_not_its_reference_is_wrong(files):
    """The expected output is what the author's reference says, not what the kernel does."""
    opened = bundled(files / "b", valued(files / "off.py", 0))
    assert verdict(opened, files, 0).verdict == "wrong"


def test_the_seed(files):
    """The same seed gives the same values, another one others."""
    first, again, other = (valued(files / "own.py", 0, seed=seed)[0] for seed in (1, 1, 2))
    assert first.contents == again.contents
    assert first.contents != other.contents


def test_what_inputs_leaves_out_is_what_the_device_would_get(files):
    """With a reference alone, the seeded random inputs travel, since it saw these."""
    (files / "ref.py").write_text("def reference(asked, inputs):\n    return {'C': inputs['A']}\n")
    (one,) = valued(files / "ref.py", 0, seed=5)
    opened = bundled(files / "b", [one])
    bundle = opened.bundle.variants[0]
    plain = next(t for t in bundle.tensors if t.name == "A")
    assert one.contents["A"] == random_input(plain, 5, bundle.case).tobytes()
    assert verdict(opened, files, 0).verdict == "correct"


def test_inputs_alone(files):
    """Nothing is expected, and nothing else is stored."""
    (files / "in.py").write_text(FUNCTIONS.partition("def reference")[0])
    (one,) = valued(files / "in.py", 0)
    assert (list(one.contents), one.expected) == (["A"], {})


def test_variants_of_no_case_are_told(files):
    """They keep seeded random inputs; where none fits, the case is refused."""
    told = []
    others = candidates(0, block=256)
    found = with_case_values(
        [*candidates(0), *others], [f"{files}/exp.py::copies"], BuildOptions(), 0, told.append
    )
    assert [bool(one.contents) for one in found] == [True, False]
    assert told == ["1 variants are of no --case: their inputs are seeded random"]
    with pytest.raises(UsageError, match="no variant is of it"):
        valued(files / "exp.py::others", 0)


def body(files, text, function="inputs", second="random"):
    path = files / "bad.py"
    path.write_text(f"import os, time, numpy as np\ndef {function}(asked, {second}):\n    {text}\n")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("return {'A': np.zeros(256)}", r"inputs\(\) gives A as float64"),
        ("return {'C': np.zeros(256)}", "gives 'C', which is no such tensor"),
        ("raise ValueError('no such index')", r"bad\.py:3: ValueError: no such index"),
        ("raise SystemExit(0)", r"bad\.py:3: SystemExit"),
        ("os.abort()", "ended with SIGABRT"),
        ("os._exit(0)", "ended with code 0"),
        ("os.write(2, b'why'); os._exit(9)", "code 9:\nwhy"),
        ("time.sleep(60)", "were not done in 3 s"),
    ],
)
def test_whatever_the_authors_code_does(files, text, said):
    """It is a message with the file's name, and this process goes on."""
    with pytest.raises(UsageError, match=said) as caught:
        valued(body(files, text), 0, seconds=3.0)
    assert "bad.py" in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("return {}", "does not give C, which the kernel writes"),
        ("return {'C': np.zeros(3)}", r"gives C with shape \(3,\)"),
        ("return {'A': inputs['A']}", "gives 'A', which is no such tensor"),
    ],
)
def test_a_reference_that_is_none(files, text, said):
    """An output that nobody judges must be named as such."""
    with pytest.raises(UsageError, match=said):
        valued(body(files, text, "reference", "inputs"), 0)
    (one,) = valued(body(files, "return {'C': None}", "reference", "inputs"), 0)
    assert (list(one.contents), one.expected) == (["A"], {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("none.py", "no file"),
        ("k.py::case", "defines no experiment"),
        ("exp.py::copy", "no case is called so"),
        ("exp.py::plain", "neither inputs nor reference"),
        ("k.py", "it gives no values"),
    ],
)
def test_a_case_that_is_none(files, text, said):
    """What is not there is told before anything is assembled."""
    with pytest.raises(UsageError, match=said):
        valued(files / text, 0)


def test_a_variant_of_two_cases(files):
    """Which one is meant can't be known."""
    path = files / "exp.py"
    path.write_text(EXPERIMENT.replace('"other.py:copy"', '"k.py:copy"'))
    with pytest.raises(UsageError, match=r"is of several cases: .*copies, .*others") as caught:
        valued(path, 0)
    assert "::copies" in caught.value.hint


def test_functions_of_an_experiment_are_checked_when_it_is_loaded(files):
    """A text in the place of a function is the experiment's mistake."""
    path = files / "exp.py"
    path.write_text(EXPERIMENT.replace("inputs=own.inputs, ref", 'inputs="own.inputs", ref'))
    with pytest.raises(UsageError, match="inputs is a function"):
        valued(path, 0)
