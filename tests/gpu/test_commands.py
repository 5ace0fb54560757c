"""What do ``bundle`` and ``profile`` take and refuse, and what must a GPU host have installed?"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stagebench.bundle.read import read_bundle
from stagebench.commands import bisect as bisect_command
from stagebench.commands import bundle as bundle_command
from stagebench.commands import profile as profile_command
from stagebench.commands import sweep as sweep_command
from stagebench.commands.profile_source import is_bundle
from stagebench.dump.directory import DumpDirectory
from stagebench.dump.files import CUBIN, PTX, SASS
from stagebench.errors import UsageError
from stagebench.gpu.poison_ptx import PTX as POISON
from tests.bundle.building import bundle, name, parts, result, variant
from tests.command_line import unwrapped
from tests.dumping import building as dumps

ROOT = Path(__file__).parents[2]
NOT_ON_A_GPU_HOST = ("lark", "tilelang", "tomli", "torch", "tree_sitter", "tvm", "zstandard")
BLOCKED = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {NOT_ON_A_GPU_HOST!r}:
            raise ImportError("not on a GPU host: " + name)
sys.meta_path.insert(0, Blocked())
import argparse, numpy
from stagebench.commands import profile
import stagebench.gpu.profile, stagebench.gpu.run_variant, stagebench.report.profile_view
from stagebench.bundle.read import read_bundle
from pathlib import Path
print(len(read_bundle(Path(sys.argv[1])).bundle.variants))
"""


def parsed(command, *words):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_a_gpu_host_needs_little(tmp_path):
    """Reading a bundle and running it imports no compiler, no parser and no compressor."""
    path = bundle(tmp_path, parts(0), parts(1))
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(path)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seed", "-1"), "--seed -1: a number from 0 to"),
        (("--seed", str(1 << 63)), f"--seed {1 << 63}: a number from 0 to"),
        (("--no-probes", "--probe-ops", "mbarrier_wait"), "--probe-ops is of probes, and --no-pro"),
        (("--no-probes", "--max-ctas", "64"), "--max-ctas is of probes, and --no-probes asks"),
        (("--jobs", "2"), "--jobs says what to lower"),
        (("--no-cache",), "--no-cache says what to lower"),
    ],
)
def test_wrong_numbers(tmp_path, words, said):
    """Numbers that make no sense are refused before anything starts."""
    with pytest.raises(UsageError, match=said):
        profile_command.run(parsed(profile_command, str(tmp_path), *words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--repeats", "0"), "--repeats: '0' is not a number of at least one"),
        (("--max-ctas", "0"), "--max-ctas: '0' is not a number of at least one"),
        (("--jobs", "0"), "--jobs: '0' is not a number of at least one"),
        (("--runs=-1",), "--runs: '-1' is not a number of at least zero"),
        (("--warmup", "²"), "--warmup: '²' is not an integer"),
        (("--seed", "one"), "--seed: 'one' is not an integer"),
        (("--timeout", "0"), "--timeout: '0' is not a positive number of seconds"),
        (("--timeout", "inf"), "--timeout: 'inf' is not a positive number of seconds"),
        (("--timeout", "nan"), "--timeout: 'nan' is not a positive number of seconds"),
        (("--M", "0"), "--M: '0' is not a number of at least one"),
        (("--block-K=-64",), "--block-K: '-64' is not a number of at least one"),
    ],
)
def test_what_is_no_number_of_its_option(capsys, words, said):
    """Told as every command tells it, with the option."""
    with pytest.raises(SystemExit):
        parsed(profile_command, "gemm", *words)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", [sweep_command, bisect_command])
def test_no_command_takes_a_shape_of_nothing(capsys, command):
    """Sizes of the built-in GEMM are at least one wherever they are given."""
    with pytest.raises(SystemExit):
        parsed(command, "gemm", "--N", "0")
    assert "--N: '0' is not a number of at least one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--num-stages", "-1"), "num_stages -1 is out of range"),
        (("--num-stages", "2", "2"), "--num-stages has a value twice"),
        (("--arch", "sm_banana"), "sm_banana"),
    ],
)
def test_values_of_a_kernel_before_its_device(tmp_path, monkeypatch, words, said):
    """What no variant can have is told where there is no driver too; nothing is lowered."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        profile_command.run(parsed(profile_command, "gemm", *words))
    assert not list(tmp_path.iterdir())


def test_a_misspelt_kernel(tmp_path, monkeypatch):
    """The built-ins are named, and what writes the other things that can be given."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="gemmm is no built-in kernel, and no bundle") as caught:
        profile_command.run(parsed(profile_command, "gemmm"))
    assert caught.value.hint.startswith("did you mean gemm? Built-ins: gemm, ")
    assert "`stagebench bundle` writes bundles" in caught.value.hint


def test_a_bundle_is_told_from_a_run(tmp_path):
    """A folder with an index, or a file, is a bundle; a folder of dumps is not."""
    assert is_bundle(bundle(tmp_path / "b", parts(0)))
    assert is_bundle(bundle(tmp_path / "b.tar", parts(0)))
    assert not is_bundle(tmp_path)


class Source:
    """In the place of the assembler: `PTX` of any text for any arch."""

    assembler = None

    def __init__(self, warn):
        del warn

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, candidate, arch):
        return f"{candidate.ptx} {arch}".encode

    def ptx(self, text, archs):
        assert text == POISON
        return dict.fromkeys(archs, b"filler")


def dumped(root, depth, **files):
    folder = DumpDirectory(root).write(result(variant(depth)), (), dumps.CUDA, None)
    for file, data in files.items():
        (root / folder / {"ptx": PTX, "sass": SASS, "cubin": CUBIN}[file]).write_text(data)


def test_a_run_becomes_a_bundle(tmp_path, monkeypatch, capsys):
    """A dump's own cubin is packed as it is, what has none is assembled; failures are told."""
    monkeypatch.setattr("stagebench.bundle.assembling.Assembling", Source)
    root = tmp_path / "run"
    dumped(root, 0, ptx="ptx", sass="sass", cubin="made before")
    dumped(root, 1)
    DumpDirectory(root).write(dumps.failed(variant(2)), (), None, None)
    code = bundle_command.run(
        parsed(bundle_command, str(root), "--no-probes", "-o", str(tmp_path / "b"))
    )
    opened = read_bundle(tmp_path / "b")
    assert {v.id: opened.load(v.cubins["base"]) for v in opened.bundle.variants} == {
        name(0): b"made before", name(1): b"None sm_90a",
    }  # fmt: skip
    assert set(opened.bundle.poison) == {"sm_90a"}
    said = unwrapped(capsys.readouterr().out)
    assert said.startswith("2 variants in ")
    assert "num_stages=2: it did not lower: InternalError" in said
    assert code == 3
