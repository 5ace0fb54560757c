"""Is a kernel that a test holds found again by a worker, and is a check a plain record?"""

from pathlib import Path

import pytest

from stagebench.errors import UsageError
from stagebench.model.codec import decode, encode_pretty
from stagebench.testing.definition import AskedCheck, as_experiment, kernel_text
from stagebench.testing.gathering import record_or_refuse


class Decorated:
    """What a compiler's decorator makes of a function."""

    def __init__(self, func):
        self.func = func


def kernel():
    """A kernel, for all that matters here."""


HERE = f"{Path(__file__).resolve()}:kernel"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("gemm", "gemm"),
        ("kernels/k.py:scale", "/tests/kernels/k.py:scale"),
        ("../k.py:scale", "/k.py:scale"),
        ("/other/k.py:scale", "/other/k.py:scale"),
        (kernel, HERE),
        (Decorated(kernel), HERE),
        (Decorated(Decorated(kernel)), HERE),
    ],
)
def test_references(given, text):
    """Names stay, paths are relative to the test module, functions are found by file and name."""
    assert kernel_text(given, Path("/tests")) == text


def test_what_no_worker_can_import():
    """A function inside of another one, or no function at all, is a mistake that is named."""

    def inner():
        pass

    for given in (inner, Decorated(inner), Decorated(3), len, None):
        with pytest.raises(UsageError):
            kernel_text(given, Path())


def test_a_check_crosses_processes_as_it_was(tmp_path):
    """Written down and read back, a check is the same experiment, types of values included."""
    asked = AskedCheck(
        file=str(tmp_path / "tests" / "test_k.py"),
        node="tests/test_k.py::test_a",
        label="test_a",
        kernel="gemm",
        num_stages=None,
        archs=("sm_90a",),
        params={"K": (32, 64), "flag": (True,), "scale": (1.0,), "tile": ((64, 64),)},
        pass_configs={"tl.disable_tma_lower": True},
        stage_param=None,
        policy={"machine.registers": "ignore"},
        compiler="tilelang==0.1.14",
    )
    record_or_refuse(asked, tmp_path)
    (path,) = tmp_path.glob("*.json")
    again = decode(path.read_bytes(), AskedCheck, str(path))
    assert encode_pretty(again) == encode_pretty(asked)
    (tmp_path / "pyproject.toml").write_text("")
    one, two = as_experiment(asked), as_experiment(again)
    assert repr(one.experiment) == repr(two.experiment)
    assert one.name == "test_a"
    assert one.shown == "tests/test_k.py"
    assert one.project.dumps == tmp_path / "tests" / "__stagebench__" / "test_k"
