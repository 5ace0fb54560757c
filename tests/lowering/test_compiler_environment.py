"""Does the environment's identity change with what may change a result, and only then?"""

import os
import sys

import pytest

from stagebench.errors import MachineError
from stagebench.lowering.compiler_environment import this_environment, worker_environ
from tests.compilers import fake_wheels


@pytest.fixture
def fakecc(tmp_path, monkeypatch):
    """A distribution that is on the path: its metadata, a package with code and a binary."""
    info = tmp_path / "fakecc-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fakecc\nVersion: 1.0\n")
    (info / "RECORD").write_text("fakecc/__init__.py,,\n")
    package = tmp_path / "fakecc"
    for folder in ("passes", "3rdparty", "__pycache__"):
        (package / folder).mkdir(parents=True)
    for name in ("__init__.py", "passes/one.py", "lib.so", "data.json", "3rdparty/x.py"):
        (package / name).write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return package


def identity():
    return this_environment("fakecc").identity


@pytest.mark.usefixtures("fakecc")
def test_an_environment():
    """It is the compiler's name and version, and this interpreter."""
    found = this_environment("fakecc")
    assert (found.compiler.name, found.compiler.version) == ("fakecc", "1.0")
    assert found.python == sys.executable
    assert found.identity == identity(), "asking again gives the same"


@pytest.mark.parametrize("name", ["__init__.py", "passes/one.py", "lib.so"])
def test_a_changed_file_changes_it(fakecc, name):
    """Another size, or only another time of a code file, is another compiler."""
    before = identity()
    os.utime(fakecc / name, ns=(1, 1))
    touched = identity()
    (fakecc / name).write_text("x = 22\n")
    os.utime(fakecc / name, ns=(1, 1))
    assert len({before, touched, identity()}) == 3


def test_a_new_file_changes_it(fakecc):
    """A file that was added may be imported."""
    before = identity()
    (fakecc / "passes" / "two.py").write_text("")
    assert identity() != before


@pytest.mark.parametrize("name", ["data.json", "3rdparty/x.py", "__pycache__/one.pyc"])
def test_what_is_no_code_does_not(fakecc, name):
    """Data, bundled sources and byte code say nothing about the compiler."""
    before = identity()
    (fakecc / name).write_text("something else\n")
    assert identity() == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("METADATA", "Metadata-Version: 2.1\nName: fakecc\nVersion: 1.1\n"),
        ("RECORD", "fakecc/__init__.py,sha256=x,1\n"),
    ],
)
def test_a_reinstalled_distribution_changes_it(fakecc, name, text):
    """Another version, or another list of files."""
    before = identity()
    (fakecc.parent / "fakecc-1.0.dist-info" / name).write_text(text)
    assert identity() != before


@pytest.mark.usefixtures("fakecc")
def test_what_it_is_installed_with_changes_it(tmp_path):
    """Another FFI or solver beside it is another environment."""
    before = identity()
    info = tmp_path / "z3_solver-999.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: z3-solver\nVersion: 999\n")
    assert identity() != before


@pytest.mark.usefixtures("fakecc")
def test_a_changed_file_of_what_it_is_installed_with_changes_it(tmp_path):
    """An FFI that was built anew, or whose package is gone while its metadata stayed."""
    fake_wheels.unpacked(tmp_path, "apache-tvm-ffi", "999")
    seen = [identity()]
    (tmp_path / "tvm_ffi" / "__init__.py").write_text("x = 22\n")
    seen.append(identity())
    (tmp_path / "tvm_ffi").rename(tmp_path / "elsewhere")
    seen.append(identity())
    assert len(set(seen)) == 3


def test_no_such_compiler():
    """A compiler that is not installed is told, with the command that installs it."""
    with pytest.raises(MachineError) as caught:
        this_environment("no-such-compiler")
    assert caught.value.message == (
        f"no-such-compiler is not installed in this environment ({sys.prefix})"
    )
    assert caught.value.hint.startswith("pip install ")


def test_what_a_worker_is_not_told(monkeypatch):
    """What changes or poisons a compiler is taken out of its environment; the rest is kept."""
    poison = {
        "TL_LOWER_TRACE": "1", "TILELANG_CACHE_DIR": "/x", "TVM_LIBRARY_PATH": "/x",
        "TVM_LOG_DEBUG": "1", "PYTHONPATH": "/x", "PYTHONSTARTUP": "x", "PYTHONHASHSEED": "77",
        "LD_PRELOAD": "x.so", "NVCC_APPEND_FLAGS": "-G", "NVCC_PREPEND_FLAGS": "-G",
    }  # fmt: skip
    kept = {"PATH": "/bin", "HOME": "/home/me", "CUDA_VISIBLE_DEVICES": "0", "LANG": "C"}
    for name, value in {**poison, **kept}.items():
        monkeypatch.setenv(name, value)
    environ = worker_environ()
    assert {name: environ.get(name) for name in kept} == kept
    assert [n for n in poison if n in environ and n != "PYTHONHASHSEED"] == []
    assert environ["PYTHONHASHSEED"] == "0"
    assert os.environ["TL_LOWER_TRACE"] == "1", "our own environment is left alone"
