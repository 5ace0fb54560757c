"""Is what ``stagebench bundle`` takes held against the run, before anything is assembled?"""

import argparse
import errno
import json
import os
import tempfile

import numpy as np
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.commands import bundle as command
from stagebench.dump.directory import DumpDirectory
from stagebench.errors import MachineError, StagebenchError
from stagebench.model import LaunchParam
from tests.bundle.building import C, launch, result, tensor, variant
from tests.dumping import building as dumps

SYMBOLIC = launch(
    grid=("M", 1, 1),
    params=(*launch().params, LaunchParam(name="M", kind="scalar", dtype="int32")),
    tensors=(tensor("A", shape=("M",), read=True), C),
)


class Source:
    """In the place of the assembler."""

    assembler = None
    assembled = 0

    def __init__(self, warn):
        del warn

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def cache_folder(self):
        raise AssertionError("probes were not asked for")

    def submit(self, candidate, arch):
        Source.assembled += 1
        return f"{candidate.kernel_cu} {arch}".encode

    def ptx(self, text, archs):
        del text
        return dict.fromkeys(archs, b"filler")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Bundle a run of two depths with further words; the exit code."""
    monkeypatch.setattr("stagebench.bundle.assembling.Assembling", Source)
    monkeypatch.setattr(Source, "assembled", 0)
    for depth in (0, 1):
        DumpDirectory(tmp_path / "run").write(
            result(variant(depth), SYMBOLIC), (), dumps.CUDA, None
        )
    values = np.arange(256)
    np.savez(tmp_path / "own.npz", A=values.astype(np.float16))
    np.savez(tmp_path / "wide.npz", A=values)
    np.savez(tmp_path / "out.npz", C=values.astype(np.float16))

    def bundled(*words):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        words = [word.replace("@", f"{tmp_path}/") for word in words]
        out = [] if "-o" in words else ["-o", str(tmp_path / "b")]
        return command.run(parser.parse_args(["--no-probes", *out, *words]))

    return bundled


def test_what_fits(run, tmp_path, capsys):
    """Values arrive; a run that is named twice is bundled once."""
    words = ("--scalar", "M=256", "--inputs", "@own.npz", "--expected", "@out.npz")
    assert run("@run", "@run[num_stages=1]", *words) == 0
    found = read_bundle(tmp_path / "b").bundle.variants
    assert [(one.launch.grid[0], one.scalars[0].value) for one in found] == [(256, 256)] * 2
    assert found[0].tensors[0].contents.content_bytes == 512
    assert found[0].tensors[1].expected.content_bytes == 2048
    said = capsys.readouterr()
    assert said.out.startswith("2 variants in ")
    assert "1 variant is named twice, and bundled once" in said.err
    assert run("@run[num_stages=1]", "--scalar", "M=256") == 0
    assert capsys.readouterr().out.startswith("1 variant in ")
    assert len(read_bundle(tmp_path / "b").bundle.variants) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scalar", "M=256", "zeta=3"), "--scalar zeta: no variant"),
        (("--scalar", "M=0"), "--scalar M=0: M is a size"),
        (("--scalar", "M=256", "--range", "Z=0,3"), "--range Z=0,3: no variant has a tensor Z"),
        (("--scalar", "M=256", "--inputs", "@out.npz"), "gives C, which is an output"),
        (("--scalar", "M=256", "--inputs", "@wide.npz"), "gives A as int64, and the kernel takes"),
        (("--scalar", "M=256", "--expected", "@own.npz"), "gives A, which is an input"),
        (("--scalar", "M=255", "--inputs", "@own.npz"), r"shape \(256,\), and the kernel takes"),
        (("--device-arch", "banana", "--scalar", "M=256"), "--device-arch banana: no such arch"),
        (("-o", "@b.tar.gz", "--scalar", "M=256"), r"b\.tar\.gz: a bundle is a folder"),
        (("-o", "@run", "--scalar", "M=256"), "lies there, which is of no bundle"),
        (("-o", "@own.npz/b", "--scalar", "M=256"), "can't write -o .*: a file lies where"),
        (("--json", "@own.npz/b", "--scalar", "M=256"), "can't write --json .*: a file lies where"),
        (("--seed", "5", "--scalar", "M=256"), "--seed is of the values that --case makes"),
        (("--probe-ops", "cp_async_wait"), "--probe-ops is of probes, and --no-probes asks"),
        (("--max-ctas", "3"), "--max-ctas is of probes, and --no-probes asks for none"),
    ],
)
def test_what_does_not_fit(run, tmp_path, words, said):
    """It is refused by name; nothing was assembled, nothing is written."""
    with pytest.raises(StagebenchError, match=said) as raised:
        run("@run", *words)
    assert raised.value.hint
    assert Source.assembled == 0
    assert not (tmp_path / "b").exists()


def test_as_json(run, tmp_path, capsys):
    """The index of the bundle and what was told; the words go to standard error."""
    assert run("@run", "@run", "--scalar", "M=256", "--json", "-") == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert next(iter(told.items())) == ("schema_version", 1)
    assert told["bundle"] == json.loads((tmp_path / "b" / "bundle.json").read_text())
    assert told["notes"] == ["2 variants are named twice, and bundled once"]
    assert "2 variants in " in said.err
    assert run("@run", "--scalar", "M=256", "--json", "@told.json") == 0
    assert json.loads((tmp_path / "told.json").read_text())["notes"] == []
    assert capsys.readouterr().out.startswith("2 variants in ")


def test_a_missing_size_names_its_option(run):
    """The hint is the option, and not another sweep."""
    with pytest.raises(StagebenchError, match="M has no value") as raised:
        run("@run")
    assert raised.value.hint == "give it: --scalar M=1024"


def test_code_that_is_not_for_the_device(run, capsys):
    """It is told, and bundled as it is."""
    assert run("@run", "--scalar", "M=256", "--device-arch", "sm_100") == 0
    assert (
        "2 variants of sm_90a are not assembled for the device (sm_100): sm_90a is tied to its own"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("file", ["/somewhere/kernel.ptx", None])
def test_a_full_disk_behind_the_assembler(run, monkeypatch, file):
    """The place is named: a program's folder may be on another disk than the bundle."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file)

    monkeypatch.setattr(Source, "submit", full)
    with pytest.raises(MachineError, match="No space left on device") as raised:
        run("@run", "--scalar", "M=256")
    assert raised.value.message.startswith(file or tempfile.gettempdir())
    assert "TMPDIR" in raised.value.hint


def test_probes_know_the_scalars(run, tmp_path, monkeypatch):
    """A symbolic kernel is probed for the size that was given."""
    asked = []

    def all_with_probes(candidates, how, *_):
        asked.append((how.scalars, len(candidates)))
        return [one for one, _ in candidates]

    monkeypatch.setattr("stagebench.bundle.probing.all_with_probes", all_with_probes)
    monkeypatch.setattr(Source, "cache_folder", tmp_path / "cache")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    words = [str(tmp_path / "run"), "--scalar", "M=256", "-o", str(tmp_path / "b")]
    assert run is not None
    assert command.run(parser.parse_args(words)) == 0
    assert asked == [({"M": 256}, 2)]
