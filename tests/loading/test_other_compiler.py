"""Is a file that was written for Apache TVM told so, and never one of TileLang's?"""

import pytest

from stagebench.errors import UsageError
from stagebench.worker.loading.other_compiler import for_apache_tvm

TVM = "from tvm.script import tirx as T\n"
ERROR = RuntimeError("Check failed: (x) is false\nStack trace: …")


@pytest.fixture
def told(tmp_path):
    """What is said of a file with this text, beside one that it imports."""

    def tell(text, beside=None, error=ERROR):
        kernel, other = tmp_path / "k.py", tmp_path / "other.py"
        kernel.write_text(text)
        files = [str(kernel)]
        if beside is not None:
            other.write_text(beside)
            files.append(str(other))
        return for_apache_tvm(str(kernel), files, error)

    return tell


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (TVM, "tvm.script"),
        ("import tvm\n", "tvm"),
        ("import numpy, tvm.te as te\n", "tvm.te"),
        ("def f():\n    from tvm.s_tir import schedule\n", "tvm.s_tir"),
    ],
)
def test_apache_tvms(told, text, how):
    """However it is imported, also inside a function; the error's own first line is kept."""
    said = told(text)
    assert said.message == (
        f"k.py is Apache TVM's (it imports {how}, and no tilelang), and TileLang can't lower it: "
        "RuntimeError: Check failed: (x) is false"
    )
    assert "--compiler tvm" in said.hint


def test_a_helper_counts(told):
    """A file that imports neither is what the user's files beside it are."""
    assert told("import other\n", TVM).message.startswith("k.py is Apache TVM's")


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("import tilelang\n", None),
        ("import tilelang\n" + TVM, None),
        ("import tvm\nfrom tilelang import language as T\n", None),
        (TVM, "import tilelang.language as T\n"),
        ("x = 'import tvm'\n", None),
        ("import tvmlike\n", None),
        ("from .tvm import script\n", None),
        ("not python", None),
    ],
)
def test_tilelangs_own(told, text, beside):
    """A kernel of TileLang may import its TVM too; what only looks like an import is none."""
    assert told(text, beside) is None


def test_a_mistake_of_the_callers_keeps_its_words(told):
    """They are told behind the thing that has to be done first."""
    said = told(TVM, error=UsageError("k.py has no function `f`", hint="did you mean g?"))
    assert said.message.endswith("can't lower it: k.py has no function `f`")


def test_a_built_in_is_nobodys_file():
    """It has no path."""
    assert for_apache_tvm(None, [], ERROR) is None
