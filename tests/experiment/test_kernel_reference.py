"""Which kernel is meant, and what is said where none is?"""

import pytest

from stagebench.errors import UsageError
from stagebench.experiment.kernel_reference import parse_kernel


def test_a_built_in():
    """A built-in is its name, with no file."""
    kernel = parse_kernel("gemm_nn")
    assert (kernel.path, kernel.function, kernel.name) == (None, "gemm_nn", "gemm_nn")


@pytest.mark.parametrize("name", ["kernel.py", "größe und 漢字.py", "a:b.py"])
def test_a_file(tmp_path, name):
    """A file's kernel has an absolute path, and a name without it."""
    (tmp_path / name).write_text("def f(): pass\n")
    kernel = parse_kernel(f"{tmp_path / name}:f")
    assert (kernel.path, kernel.function) == (str(tmp_path / name), "f")
    assert kernel.name == f"{name}:f"


def test_a_relative_path_and_one_by_a_link(tmp_path, monkeypatch):
    """Wherever one stands, the path that is kept is absolute and the file's own."""
    (tmp_path / "real.py").write_text("def f(): pass\n")
    (tmp_path / "link.py").symlink_to("real.py")
    monkeypatch.chdir(tmp_path)
    assert parse_kernel("./real.py:f").path == str(tmp_path / "real.py")
    assert parse_kernel("link.py:f").path == str(tmp_path / "real.py")


def refusal(text):
    with pytest.raises(UsageError) as caught:
        parse_kernel(text)
    return caught.value.message, caught.value.hint


def test_a_misspelt_built_in():
    """The built-ins are listed and the nearest is offered."""
    message, hint = refusal("flash_atention")
    assert message == (
        "no built-in kernel 'flash_atention' (there are: gemm, gemm_nn, gemm_tn, "
        "flash_attention, dequant_gemm, gemm_tensor_core, gemm_tirx, gemm_tirx_tma, "
        "gemm_tirx_profiled, gemm_tirx_tma_profiled)"
    )
    assert hint == "did you mean flash_attention?"
    assert refusal("xyzzy")[1] == "or name your own: path/to/file.py:function"


def test_a_file_that_is_not_there():
    """A missing file is named as it was typed."""
    message, hint = refusal("no/such.py:f")
    assert message == "no file no/such.py"
    assert "path/to/file.py:function" in hint
    assert refusal("no/such.py")[0] == "no file no/such.py"


def test_a_folder_is_no_file(tmp_path):
    """A folder in the file's place is no kernel."""
    assert refusal(f"{tmp_path}:f")[0] == f"no file {tmp_path}"


SOURCE = """
import tilelang
def helper(): pass
@tilelang.jit
def first(): pass
@tilelang.autotune(configs=[])
@tilelang.jit(out_idx=-1)
def second(): pass
"""


@pytest.mark.parametrize("tail", ["", ":"])
def test_a_file_without_a_function(tmp_path, tail):
    """The kernels of the file are offered, its other functions are not."""
    (tmp_path / "k.py").write_text(SOURCE)
    message, hint = refusal(f"{tmp_path / 'k.py'}{tail}")
    assert message == f"which kernel of {tmp_path / 'k.py'}?"
    assert hint == f"{tmp_path / 'k.py'}:first (it has: first, second)"


def test_a_file_without_any(tmp_path):
    """A file that defines no function has no kernel."""
    (tmp_path / "k.py").write_text("x = 1\n")
    assert "defines no function" in refusal(str(tmp_path / "k.py"))[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"def f(:\n", "k.py:1: "),
        (b"\xff\xfe\x00", "k.py"),
        (b"# coding: nonsense\n", "k.py"),
        (b"x = '\x00'\n", "k.py"),
    ],
)
def test_a_file_that_is_no_python(tmp_path, data, words):
    """What can't be parsed is told by file, and by line where there is one."""
    (tmp_path / "k.py").write_bytes(data)
    assert words in refusal(f"{tmp_path / 'k.py'}:f")[0]


def test_a_source_in_another_encoding(tmp_path):
    """A file may say its encoding, as Python allows."""
    (tmp_path / "k.py").write_bytes("# coding: latin-1\ndef f(): 'größe'\n".encode("latin-1"))
    assert parse_kernel(f"{tmp_path / 'k.py'}:f").function == "f"
