"""A kernel's file is imported wherever it lies and whatever it does at import."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).parent / "kernels"

BUILD = """
import tilelang.language as T

def build(N=256, num_stages=2):
    @T.prim_func
    def copied(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            for k in T.Pipelined(N // 64, num_stages=num_stages):
                T.copy(A[k * 64], tile)
                T.copy(tile, B[k * 64])
    return copied
"""


def test_module_files(load):
    """The kernel's file and the siblings that it imports are listed, nothing else."""
    answer = load("spellings.py", "lazy", N=256)

    assert answer["module_files"] == [str(KERNELS / "spellings.py"), str(KERNELS / "tiny.py")]


def test_relative_import(load):
    """A file of a package may import relatively; its packages count as imported."""
    answer = load("family/inner/relative.py", "relative", num_stages=3)

    assert answer["depths"] == [3]
    assert answer["module_files"] == [
        str(KERNELS / "family" / name)
        for name in ("__init__.py", "inner/__init__.py", "inner/relative.py", "sizes.py")
    ]


@pytest.mark.parametrize("name", ["my kernel-2.py", "ядро.py", "sub dir/κernel.v2.py", "kernel"])
def test_odd_names(load, write, name):
    """Spaces, hyphens, dots, other scripts and a missing suffix don't matter."""
    path = write(BUILD, name)
    answer = load(path, "build", num_stages=1)

    assert answer["depths"] == [1]
    assert answer["module_files"] == [str(path)]


def test_no_such_file(load, write):
    """A missing file is named, with its nearest neighbour."""
    path = write(BUILD, "attention.py")
    answer = load(path.with_name("atention.py"), "build")

    assert answer["message"] == f"{path.with_name('atention.py')}: no such file"
    assert answer["hint"] == f"did you mean {path}?"


def test_folder(load, write):
    """A folder is not a file, and the hint lists its files."""
    path = write(BUILD, "attention.py")
    answer = load(path.parent, "build")

    assert answer["message"] == f"{path.parent} is a folder, not a Python file"
    assert answer["hint"] == "name a file in it: attention.py"


def test_syntax_error(load, write):
    """A syntax error is named with its line."""
    answer = load(write("x = 1\ndef f(:\n    pass\n"), "f")

    assert answer["message"].startswith("kernel.py:2 is not valid Python: ")
    assert "`def f(:`" in answer["message"]


def test_syntax_error_in_a_sibling(load, write):
    """A syntax error of an imported sibling is named with the sibling's line."""
    write("\n\ny = = 2\n", "broken.py")
    answer = load(write("import broken\n"), "f")

    assert answer["message"].startswith("broken.py:3 is not valid Python: ")


def test_exit_at_import(load, write):
    """A file that ends the program at import is an error with the line."""
    answer = load(write("import sys\nsys.exit(3)\n"), "f")

    assert answer["message"] == "kernel.py:2 ends the program at import (exit code 3)"
    assert "__main__" in answer["hint"]


def test_exit_while_building(load, write):
    """A builder that ends the program is an error with the line, not the end of the worker."""
    answer = load(write("import sys\n\ndef f(num_stages=2):\n    sys.exit('no')\n"), "f")

    assert answer["message"] == "kernel.py:4 ends the program while the kernel is built"


def test_required_option_at_import(load, write):
    """``argparse`` at module level sees no options; a required one ends in a clear error."""
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--m', required=True)\n"
    answer = load(write(text + "p.parse_args()\n"), "f")

    assert answer["message"] == "kernel.py:4 ends the program at import (exit code 2)"


def test_options_at_import(load, write):
    """``argparse`` at module level gets its defaults."""
    text = (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--n', type=int, default=128)\nN = p.parse_args().n\n"
        "def f(num_stages=2):\n    return build(N, num_stages)\n"
    )
    assert load(write(BUILD + text), "f")["shapes"] == [["128"], ["128"]]


def test_main_guard(load, write):
    """What stands below the main guard is not run."""
    path = write(BUILD + "\nif __name__ == '__main__':\n    raise SystemExit(1)\n")

    assert load(path, "build")["depths"] == [2]


def test_missing_module(load, write):
    """A module that is not installed comes through as Python's own error."""
    answer = load(write("import no_such_module_here\n"), "f")

    assert answer["error"][0] == "ModuleNotFoundError"
    assert answer["message"] == "No module named 'no_such_module_here'"


def test_module_files_of_a_failure(load, write):
    """The files that were imported are known also where the load fails: a cache needs them."""
    sibling = write("SIZE = 0\n", "sibling.py")
    path = write("import sibling\n1 / sibling.SIZE\n")
    answer = load(path, "f")

    assert answer["error"][0] == "ZeroDivisionError"
    assert answer["files"] == [str(path), str(sibling)]


def test_no_such_function(load):
    """An unknown function is named with its nearest neighbour and the kernels of the file."""
    answer = load("depths.py", "two_loop")

    assert answer["message"] == "depths.py has no function `two_loop`"
    assert answer["hint"].startswith("did you mean depths.py:two_loops? kernels in it: ")
    assert "build_from" not in answer["hint"]


def test_no_kernels(load, write):
    """A file without kernels says what it has."""
    answer = load(write("def add(a, b):\n    return a + b\n"), "gemm")

    assert answer["message"] == (
        "kernel.py has no `gemm`, and nothing in it looks like a kernel (its functions are add)"
    )


def test_no_bytecode_is_left(load, tmp_path):
    """Nothing is written beside the user's files."""
    for name in ("tiny.py", "spellings.py"):
        shutil.copy(KERNELS / name, tmp_path)
    load(tmp_path / "spellings.py", "lazy", N=256)

    assert sorted(p.name for p in tmp_path.iterdir()) == ["spellings.py", "tiny.py"]
