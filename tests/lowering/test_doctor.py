"""Does doctor say what works, what is missing, and exactly what to type?"""

import json
from importlib import metadata

import pytest

from stagebench import doctor
from stagebench.cli import main
from stagebench.doctor import Check, examine, main_job_works
from stagebench.lowering import tested_releases


@pytest.fixture
def without(monkeypatch):
    """A function that makes distributions look as if they were not installed."""
    gone = set()
    real = metadata.distribution

    def distribution(name):
        if name in gone:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "distribution", distribution)

    def remove(*names):
        gone.update(names)

    return remove


def by_name(checks):
    return {check.what: check for check in checks}


def test_without_tilelang(without):
    """The compiler is missing: said first of all checks after us, with the command to type."""
    without("tilelang")
    checks = examine(start_worker=False)
    assert [check.what for check in checks[:2]] == ["stagebench", "TileLang"]
    assert checks[1].status == "missing"
    assert checks[1].install == "pip install -c constraints.txt tilelang==0.1.15"
    assert not main_job_works(checks)


def test_without_torch_and_a_wheel(without):
    """TileLang can't do without torch; a CUDA wheel is only optional."""
    without("torch", "nvidia-cuda-nvrtc")
    checks = by_name(examine(start_worker=False))
    assert (checks["torch"].status, checks["torch"].install) == (
        "missing", "pip install -c constraints.txt torch",
    )  # fmt: skip
    assert (checks["nvidia-cuda-nvrtc"].status, checks["nvidia-cuda-nvrtc"].install) == (
        "optional", "pip install 'stagebench[cuda]'",
    )  # fmt: skip
    assert (checks["machine code"].status, checks["machine code"].install) == (
        "optional", "pip install 'stagebench[cuda]'",
    )  # fmt: skip
    assert checks["machine code"].found == (
        "not without nvidia-cuda-nvrtc: no PTX, no SASS, no registers"
    )


def test_every_cuda_wheel_has_a_line(without):
    """Each wheel is named with its version or its purpose; those that are there stay ✓."""
    without("nvidia-cuda-nvdisasm")
    checks = by_name(examine(start_worker=False))
    assert checks["nvidia-cuda-nvdisasm"].found == "not installed (nvdisasm: disassembles)"
    for wheel in ("cuda-bindings", "nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-cuda-crt"):
        assert (checks[wheel].status, checks[wheel].found) == ("works", metadata.version(wheel))
        assert checks[wheel].install is None


def test_a_wheel_without_its_files(monkeypatch):
    """A wheel that pip lists but whose program is gone is not said to work."""
    monkeypatch.setattr(doctor, "find_wheel", lambda _: None)
    check = by_name(examine(start_worker=False))["nvidia-cuda-nvcc"]
    assert check.status == "optional"
    version = metadata.version("nvidia-cuda-nvcc")
    assert check.install == f"pip install --force-reinstall nvidia-cuda-nvcc=={version}"


def test_programs_of_a_cuda_toolkit(monkeypatch, tmp_path):
    """A toolkit's programs are shown with version and path; one that doesn't start is not ✓."""
    for name, script in (
        ("nvcc", "echo 'Cuda compilation tools, release 12.8, V12.8.93'"),
        ("ptxas", "exit 3"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(doctor, "_SYSTEM_PROGRAMS", ("nvcc", "ptxas", "nvdisasm-of-nobody"))
    checks = by_name(examine(start_worker=False))
    nvcc, broken = checks["system nvcc"], checks["system ptxas"]
    assert (nvcc.status, nvcc.found) == ("works", f"12.8.93, {tmp_path}/nvcc")
    assert broken.status == "optional"
    assert f"{tmp_path}/ptxas doesn't say its version" in broken.found
    assert checks["system nvdisasm-of-nobody"].status == "optional"


def test_exit_code_and_json_without_tilelang(without, capfdbinary):
    """`doctor --quick --json` exits with 2 and prints every check in full."""
    without("tilelang")
    assert main(["doctor", "--quick", "--json"]) == 2
    printed = json.loads(capfdbinary.readouterr().out)
    assert printed["schema_version"] == 1
    for check in printed["checks"]:
        assert list(check) == ["what", "status", "found", "install"]
        assert check["status"] in ("works", "missing", "broken", "optional")
    assert printed["checks"][1]["install"] == "pip install -c constraints.txt tilelang==0.1.15"


def test_the_command_is_printed(without, capsys):
    """The table has the command on a line of its own, to be copied."""
    without("tilelang")
    assert main(["doctor", "--quick"]) == 2
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "pip install -c constraints.txt tilelang==0.1.15" in lines


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    """A read-only cache costs time only: the main job still works."""
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    cache = by_name(examine(start_worker=False))["cache"]
    assert cache.status == "optional"
    assert cache.install == "export STAGEBENCH_CACHE_DIR=/a/folder/you/can/write"


def test_what_the_cache_holds(monkeypatch, tmp_path):
    """Results are counted, and a cache that is not there yet works."""
    monkeypatch.setenv("STAGEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    cache = tmp_path / "cache"
    assert by_name(examine(start_worker=False))["cache"].found == f"{cache}: 0 results, 0 MiB"
    (cache / "variants").mkdir(parents=True)
    (cache / "variants" / "one").write_bytes(b"x" * (3 << 20))
    assert by_name(examine(start_worker=False))["cache"].found == f"{cache}: 1 results, 3 MiB"
    for name, size in (("compilers/cpython/tvm/a.py", 5 << 20), ("locks/one", 1)):
        (cache / name).parent.mkdir(parents=True)
        (cache / name).write_bytes(b"x" * size)
    found = by_name(examine(start_worker=False))["cache"].found
    assert found == f"{cache}: 1 results, 3 MiB; compilers, 5 MiB"


@pytest.mark.parametrize(
    ("statuses", "works"),
    [
        (("works", "optional"), True),
        (("works", "missing"), False),
        (("works", "broken"), False),
    ],
)
def test_what_keeps_the_main_job_from_working(statuses, works):
    """Optional things may be absent, nothing else."""
    checks = tuple(Check(what="x", status=status, found="") for status in statuses)
    assert main_job_works(checks) is works


@pytest.mark.tilelang
def test_an_untested_release_is_said(monkeypatch):
    """Another TileLang than the tested one is named as such."""
    monkeypatch.setattr(tested_releases, "TESTED", {"0.0.1": {}, "0.0.2": {}})
    found = by_name(examine(start_worker=False))["TileLang"].found
    assert found.endswith("(untested: this stagebench was tested with 0.0.1 to 0.0.2)")


@pytest.mark.tilelang
def test_a_compiler_that_does_not_start(monkeypatch, tmp_path):
    """An installed compiler that can't be imported is broken, not working."""
    from tests.lowering.fake_compiler import environment

    broken = environment(tmp_path, "say('refused', message='ImportError: libstdc++')\n")
    monkeypatch.setattr(doctor, "this_environment", lambda: broken)
    check = by_name(examine())["TileLang"]
    assert check.status == "broken"
    assert "ImportError: libstdc++" in check.found
    assert check.install == "pip install -c constraints.txt tilelang==0.1.15"
