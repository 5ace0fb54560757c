"""Is every mistake told clearly, with exit code 2, and without writing anything anywhere else?"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from stagebench.dump.folder_name import variant_folder
from stagebench.model import Compiler, Variant
from tests.command_line import stagebench

KERNELS = Path(__file__).parent / "kernels"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--arch", "sm_99"], ["unknown arch 'sm_99'", "did you mean sm_90"]),
        (["--arch", "80"], ["unknown arch '80'"]),
        (["--num-stages", "-1"], ["num_stages -1 is out of range", "0 to 1024"]),
        (["--num-stages", "two"], ["'two' is not an integer"]),
        (["--num-stages", "1", "1"], ["--num-stages has a value twice"]),
        (["--num-stages", "2", "k.py:f"], ["put the kernel before the options"]),
        (["gem"], ["no built-in kernel 'gem'", "did you mean gemm?"]),
        (["missing.py:f"], ["no file missing.py"]),
        (["--set", "K"], ["--set K: not of the form NAME=VALUE"]),
        (["--set", "K=1", "--K", "2"], ["K is given by --K and by --set"]),
        (["--set", "K=1,1"], ["1 is there twice"]),
        (["--set", "num_stages=2"], ["num_stages carries the depth", "--num-stages"]),
        (["--jobs", "0"], ["--jobs: '0' is not a number of at least one"]),
        (["--jobs", "k.py:f"], ["put the kernel before the options"]),
        (["--timeout", "-3"], ["positive number of seconds"]),
        (["--memory-limit", "lots"], ["not a size such as"]),
        (["--pass-config", "tl.x=1,2"], ["one value, not several"]),
    ],
)
def test_a_mistake_in_the_arguments(tmp_path, arguments, words):
    """The message names the argument and the value, and the hint says what to do."""
    ran = stagebench("sweep", *arguments, cwd=tmp_path)
    assert ran.code == 2
    for word in words:
        assert word in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == [] or list(tmp_path.iterdir()) == [
        tmp_path / "stagebench-dumps"
    ]


@pytest.mark.parametrize(
    ("source", "reference", "words"),
    [
        ("x = 1\n", "file.py", ["defines no function"]),
        ("def f(x):\n    return x +\n", "file.py:f", ["file.py:2", "invalid syntax"]),
        ("def a(): pass\ndef b(): pass\n", "file.py", ["which kernel", "a, b"]),
        ("\x00\x01", "file.py:f", ["file.py"]),
    ],
)
def test_a_file_without_a_kernel(tmp_path, source, reference, words):
    """What is wrong with the file is told without starting a compiler."""
    (tmp_path / "file.py").write_text(source)
    ran = stagebench("sweep", reference, "--no-dumps", cwd=tmp_path)
    assert ran.code == 2
    for word in words:
        assert word in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.tilelang
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "KK=256"], ["`KK`", "did you mean `K`", "num_stages: int = 2"]),
        (["--set", "K=wide"], ["K", "wide"]),
        (["--stage-param", "depth"], ["depth"]),
        (["--pass-config", "tl.disable_warp_specialised=true"], ["tl.disable_warp_specialized"]),
    ],
)
def test_a_mistake_that_only_the_kernel_can_tell(tmp_path, arguments, words):
    """A parameter or pass config that does not exist is named with the nearest one."""
    ran = stagebench(
        "sweep", KERNELS / "small.py:small_gemm", "--num-stages", 2, "--arch", "sm_90a",
        "--no-dumps", *arguments, cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 2, ran.out
    for word in words:
        assert word in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.tilelang
def test_a_function_that_is_not_there(tmp_path):
    """A misspelt function is answered with those of the file."""
    ran = stagebench("sweep", KERNELS / "small.py:small_gem", "--no-dumps", cwd=tmp_path)
    assert ran.code == 2
    assert "small_gemm" in ran.err


@pytest.mark.tilelang
def test_a_path_with_spaces_and_other_scripts(tmp_path):
    """A kernel lies wherever the user keeps it."""
    place = tmp_path / "my kernels" / "Größe 漢字"
    place.mkdir(parents=True)
    for name in ("small.py", "small_tiles.py"):
        shutil.copy(KERNELS / name, place / name)
    (place / "small.py").rename(place / "klein und größer.py")
    ran = stagebench(
        "sweep", place / "klein und größer.py:small_gemm", "--num-stages", 2, "--arch", "sm_90a",
        "--dump-dir", tmp_path / "out", cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (folder,) = [path for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert folder.name.startswith("klein_und_gr")
    assert folder.name.isascii()


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform != "linux", reason="root may write anywhere")
def test_a_dump_directory_that_cannot_be_written(tmp_path):
    """It is told before anything is lowered."""
    (tmp_path / "file").write_text("in the way")
    ran = stagebench("sweep", "--dump-dir", tmp_path / "file" / "dumps", cwd=tmp_path)
    assert ran.code == 2
    assert "can't write dumps to" in ran.err
    assert "--dump-dir" in ran.err


@pytest.mark.parametrize("kernel", ["../../etc/passwd.py:../x", "..", "a/../../b", ".hidden", ""])
def test_no_name_leads_out_of_the_dump_directory(kernel):
    """A folder is made of harmless parts whatever the kernel and its parameters are called."""
    variant = Variant(
        kernel=kernel,
        params={"num_stages": 2, "../up": "../../x", "tile": (64, 64)},
        arch="sm_80",
        compiler=Compiler(name="tilelang", version="0"),
        pass_configs={},
    )
    folder = variant_folder(variant, ("../up", "tile"))
    parts = folder.split("/")
    assert len(parts) == 3
    for part in parts:
        assert part not in ("", ".", "..")
        assert not part.startswith(".")
        assert len(part) <= 120


def test_variants_that_differ_do_not_share_a_folder():
    """What had to be changed in a name is told apart by a digest."""

    def folder(value):
        variant = Variant(
            kernel="k", params={"num_stages": 1, "x": value}, arch="sm_80",
            compiler=Compiler(name="tilelang", version="0"), pass_configs={},
        )  # fmt: skip
        return variant_folder(variant, ("x",))

    names = [folder(value) for value in ("a b", "a_b", "a/b", "a" * 300, "a" * 301, "ä", "ö")]
    assert len(set(names)) == len(names)


@pytest.mark.tilelang
def test_a_depth_of_1000_is_for_the_compiler_to_decide(tmp_path):
    """A depth far beyond the trip count ends: lowered, or failed with a message."""
    ran = stagebench(
        "sweep", KERNELS / "small.py:small_gemm", "--num-stages", 1000, "--arch", "sm_90a",
        "--timeout", 15, "--no-dumps", "--json", "-", cwd=tmp_path,
    )  # fmt: skip
    (variant,) = ran.json["variants"]
    assert (ran.code, variant["outcome"]) in ((0, "lowered"), (3, "failed"))
