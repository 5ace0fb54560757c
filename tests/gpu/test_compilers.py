"""Are variants of several compilers profiled each for itself, and never mixed?"""

import argparse
import functools
import os
import sys
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.commands import profile as profile_command
from stagebench.commands.profile_source import is_kernel
from stagebench.dump.directory import DumpDirectory
from stagebench.errors import MachineError, StagebenchError, UsageError
from stagebench.experiment.sweep import SweepResult
from stagebench.gpu import profile as profiling
from stagebench.gpu.driver import Driver
from stagebench.model import Compiler, Run
from stagebench.timing.correlate import depth_steps
from stagebench.timing.measured import sweep_names
from stagebench.timing.recorded import read_measured
from tests.bundle.building import bundle, parts, result, variant
from tests.dumping import building as dumps
from tests.gpu.fake_driver import FakeApi
from tests.gpu.test_commands import Source, parsed

ROOT = Path(__file__).parents[2]
OLD, NEW = "0.1.14", "0.1.15"


def child(path, outputs):
    return [sys.executable, "-m", "tests.gpu.fake_child", str(path), str(outputs)]


def by(version, depth, behaviour="copy", name="tilelang"):
    """The parts of a variant that another compiler made."""
    plain = parts(depth, behaviour)
    made = msgspec.structs.replace(
        plain.result.variant, compiler=Compiler(name=name, version=version)
    )
    return plain.__class__(
        **{**vars(plain), "result": msgspec.structs.replace(plain.result, variant=made)}
    )


@pytest.fixture(autouse=True)
def _fake_device(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(profiling, "profile", functools.partial(profiling.profile, command=child))
    monkeypatch.setattr("stagebench.gpu.driver.open_driver", lambda: Driver(FakeApi()))


def profiled(tmp_path, source, *words):
    arguments = parsed(
        profile_command, str(source), "-o", str(tmp_path / "out"), "--repeats", "2", "--runs", "5",
        "--no-probes", *words,
    )  # fmt: skip
    return profile_command.run(arguments)


def test_each_compiler_is_its_own_reference(tmp_path):
    """Depths agree with their own compiler's depth 0, though the other compiler's is wrong."""
    path = bundle(
        tmp_path / "b", by(OLD, 0, "wrong"), by(OLD, 1, "wrong"), by(NEW, 0), by(NEW, 1),
        by("0.25", 1, name="tvm"),
    )  # fmt: skip
    opened = read_bundle(path)
    assert [v.id.rpartition("compiler=")[2].split("-")[0] for v in opened.bundle.variants] == [
        "tilelang==0.1.14", "tilelang==0.1.14", "tilelang==0.1.15", "tilelang==0.1.15",
        "tvm==0.25",
    ]  # fmt: skip
    ids = [v.id for v in opened.bundle.variants]
    assert [v.references for v in opened.bundle.variants] == [(), (ids[0],), (), (ids[2],), ()]
    assert len({v.case for v in opened.bundle.variants}) == 1, "they have the same inputs"
    assert profiled(tmp_path, path) == 0
    found = msgspec.json.decode((tmp_path / "out" / "profile.json").read_bytes())
    assert {
        (one["variant"]["compiler"]["version"], one["variant"]["params"]["num_stages"]):
        (one["correctness"]["verdict"], one["correctness"]["reference"])
        for one in found["variants"]
    } == {
        (OLD, 0): ("not_compared", None), (OLD, 1): ("correct", ids[0]),
        (NEW, 0): ("not_compared", None), (NEW, 1): ("correct", ids[2]),
        ("0.25", 1): ("not_compared", None),
    }  # fmt: skip


def test_names_say_what_differs_within_a_compiler(tmp_path):
    """Parameters that only the other compiler's kernel has are in no name: the compiler is."""
    here = by(NEW, 1)
    there = by("0.25", 1, name="tvm")
    params = {"block": 64, "num_stages": 1}
    variant = msgspec.structs.replace(here.result.variant, params={**params, "threads": 128})
    here = here.__class__(
        **{**vars(here), "result": msgspec.structs.replace(here.result, variant=variant)}
    )
    variants = read_bundle(bundle(tmp_path / "b", here, there)).bundle.variants
    assert ["threads" in v.id or "block" in v.id for v in variants] == [False, False]
    assert ["compiler=" in v.id for v in variants] == [True, True]
    assert profiled(tmp_path, tmp_path / "b") == 0
    assert sweep_names(read_measured(tmp_path / "out")) == (
        "k.py:copy/sm_90a/compiler=tilelang==0.1.15", "k.py:copy/sm_90a/compiler=tvm==0.25",
    )  # fmt: skip


def test_steps_are_of_one_compiler(tmp_path, capsys):
    """Each compiler has its own sweep of depths, rates from its own facts, and a row of times."""
    path = bundle(tmp_path / "b", by(OLD, 0), by(NEW, 0), by(OLD, 1, "wrong"), by(NEW, 1))
    assert profiled(tmp_path, path) == 3
    measured = read_measured(tmp_path / "out")
    assert sweep_names(measured) == (
        "k.py:copy/sm_90a/compiler=tilelang==0.1.14", "k.py:copy/sm_90a/compiler=tilelang==0.1.15",
    )  # fmt: skip
    told = [[step.verdict for step in depth_steps(sweep.timings)] for sweep in measured.sweeps]
    assert [len(steps) for steps in told] == [1, 1]
    assert "1 is wrong: no verdict on time" in told[0][0]
    assert "wrong" not in told[1][0]
    printed = capsys.readouterr().out
    assert "k.py:copy · sm_90a · tilelang 0.1.14 · on " in printed
    table = printed.partition("kernel, µs, by compiler")[2].split("\n\n")[0]
    rows = [line.split() for line in table.splitlines() if "tilelang" in line]
    assert [row[:2] for row in rows] == [["tilelang", OLD], ["tilelang", NEW]]
    assert [row[-2:] for row in rows] == [["✗", "wrong"], ["±", rows[1][-1]]]


def test_charts_are_one_for_each_compiler(tmp_path):
    """No chart is written over by another compiler's."""
    path = bundle(tmp_path / "b", by(OLD, 0), by(NEW, 0), by(OLD, 1), by(NEW, 1))
    profiled(tmp_path, path, "--chart", str(tmp_path / "charts"))
    assert sorted(file.name for file in (tmp_path / "charts").iterdir()) == [
        "k.py.copy.sm_90a.compiler=tilelang==0.1.14.svg",
        "k.py.copy.sm_90a.compiler=tilelang==0.1.15.svg",
    ]


def swept(plan, options, watcher):
    """In the place of `run_sweep`: a dump for each compiler and depth, one of them failed."""
    del watcher
    directory = DumpDirectory(options.dump_dir, by_compiler=True)
    folders = []
    for version in plan.compilers:
        for depth in plan.num_stages:
            compiler = Compiler(name="tilelang", version=version)
            of = msgspec.structs.replace(variant(depth, arch=plan.archs[0]), compiler=compiler)
            made = dumps.failed(of) if (version, depth) == (NEW, 1) else result(of)
            folders.append(directory.write(made, (), dumps.CUDA, None))
    directory.finish(tuple(folders), {})
    return SweepResult(Run(variants=()), (), (), (), 0, ())


class OneBehaviour(Source):
    """Whatever is assembled copies."""

    archs: ClassVar[list[str]] = []

    def submit(self, candidate, arch):
        del candidate
        self.archs.append(arch)
        return lambda: b"fake copy"


def test_a_kernel_in_one_step(tmp_path, monkeypatch, capsys):
    """Swept for this device's arch, bundled and run; what did not lower is told by its compiler."""
    monkeypatch.setattr("stagebench.experiment.sweep.run_sweep", swept)
    monkeypatch.setattr("stagebench.bundle.assembling.Assembling", OneBehaviour)
    code = profiled(tmp_path, "gemm", "--num-stages", "0", "1", "--compiler", OLD, NEW)
    printed = capsys.readouterr().out
    assert code == 3
    assert set(OneBehaviour.archs) == {"sm_90a"}
    assert "left out: k.py:copy sm_90a num_stages=1 by tilelang 0.1.15: it did not low" in printed
    assert (tmp_path / "out" / "dumps" / "run.json").is_file()
    assert [len(s.timings) for s in read_measured(tmp_path / "out").sweeps] == [2, 1]


def test_without_a_device_nothing_is_lowered(tmp_path, monkeypatch):
    """The device is asked before minutes are spent."""

    def none():
        raise MachineError("no device")

    monkeypatch.setattr("stagebench.gpu.driver.open_driver", none)
    monkeypatch.setattr("stagebench.experiment.sweep.run_sweep", lambda *_: pytest.fail("lowered"))
    with pytest.raises(MachineError, match="no device"):
        profiled(tmp_path, "gemm")


@pytest.mark.parametrize("words", [("--compiler", "tvm"), ("--num-stages", "2"), ("--M", "64")])
def test_what_to_lower_is_not_ignored(tmp_path, words):
    """A bundle has its variants already: flags that choose others are refused by name."""
    path = bundle(tmp_path / "b", parts(0))
    with pytest.raises(UsageError, match=f"{words[0]} says what to lower"):
        profiled(tmp_path, path, *words)


@pytest.mark.parametrize(
    ("source", "said"),
    [("nothing", "nothing is no built-in"), ("no.py:kernel", r"no file no\.py")],
)
def test_what_is_not_there(tmp_path, monkeypatch, source, said):
    """A name that leads nowhere is told before the device is asked."""
    monkeypatch.setattr("stagebench.gpu.driver.open_driver", lambda: pytest.fail("asked"))
    with pytest.raises(StagebenchError, match=said):
        profiled(tmp_path, source)


def test_a_folder_wins_over_a_built_in(tmp_path, monkeypatch):
    """A run that lies in a folder called gemm is that run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemm").mkdir()
    kernel = argparse.Namespace(bundle="gemm")
    assert not is_kernel(kernel.bundle)
    (tmp_path / "gemm").rmdir()
    assert is_kernel(kernel.bundle)
    assert not is_kernel("gemmm")
