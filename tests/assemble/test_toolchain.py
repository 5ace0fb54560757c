"""Is what assembles kernels found without starting anything, or named where it is missing?"""

import subprocess
import sys
from importlib import metadata

import pytest

from stagebench.assemble import toolchain, wheels
from stagebench.assemble.toolchain import find_toolchain
from stagebench.errors import MachineError


@pytest.fixture
def without(monkeypatch):
    """A function that makes distributions look as if they were not installed."""
    gone = set()
    real = metadata.distribution

    def distribution(name):
        if name in gone:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(wheels.metadata, "distribution", distribution)
    return gone.update


@pytest.mark.parametrize("wheel", [wheel.name for wheel in wheels.ALL_WHEELS])
def test_a_missing_wheel_is_named(without, monkeypatch, wheel):
    """Each wheel that is missing is named, with what it is for and the command that installs it."""
    without([wheel])
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError) as raised:
        find_toolchain()
    purpose = next(w.purpose for w in wheels.ALL_WHEELS if w.name == wheel)
    assert raised.value.message == (
        f"kernels can't be assembled here: {wheel} ({purpose}) is not installed"
    )
    assert raised.value.hint == "pip install 'stagebench[cuda]'"


def test_several_missing_wheels_are_all_named(without):
    """Nobody installs one only to hear of the next."""
    without(["nvidia-cuda-nvrtc", "nvidia-cuda-crt"])
    with pytest.raises(MachineError) as raised:
        find_toolchain()
    assert "nvidia-cuda-nvrtc" in raised.value.message
    assert "nvidia-cuda-crt" in raised.value.message
    assert "nvidia-cuda-runtime" not in raised.value.message


def test_a_wheel_whose_file_is_gone(monkeypatch, tmp_path):
    """A distribution without the program that it is for counts as missing."""
    real = metadata.distribution

    class Moved:
        version = "13.0.88"

        def locate_file(self, _):
            return tmp_path

    def distribution(name):
        return Moved() if name == "nvidia-cuda-nvcc" else real(name)

    monkeypatch.setattr(wheels.metadata, "distribution", distribution)
    with pytest.raises(MachineError, match=r"nvidia-cuda-nvcc \(ptxas: assembles PTX\)"):
        find_toolchain()


def test_versions_come_from_the_wheels():
    """The versions shown are those of the wheels."""
    versions = find_toolchain().versions
    assert versions.assembler == "nvrtc"
    assert versions.ptx_compiler == f"nvrtc {metadata.version('nvidia-cuda-nvrtc')}"
    assert versions.ptx_assembler == f"ptxas {metadata.version('nvidia-cuda-nvcc')}"
    assert versions.disassembler == f"nvdisasm {metadata.version('nvidia-cuda-nvdisasm')}"


def test_finding_it_imports_no_compiler_and_starts_nothing():
    """Neither TileLang, TVM, torch nor CUDA's bindings are imported; no process is started."""
    script = (
        "import sys, subprocess\n"
        "def refuse(*a, **k): raise AssertionError('a process')\n"
        "subprocess.Popen = subprocess.run = refuse\n"
        "from stagebench.assemble.assembler import Assembler\n"
        "from stagebench.assemble.toolchain import find_toolchain\n"
        "assert find_toolchain().include_folders\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'tilelang', 'tvm', 'torch', 'cuda'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def _tilelang(folder, text):
    templates = folder / "src" / "tl_templates" / "cuda"
    templates.mkdir(parents=True)
    (templates / "copy.h").write_text(text)
    return folder


def test_the_identity_changes_with_the_templates(tmp_path):
    """Another text of a template is another toolchain; the same text elsewhere is the same."""
    one = find_toolchain(tilelang=_tilelang(tmp_path / "a", "1"))
    same = find_toolchain(tilelang=_tilelang(tmp_path / "b", "1"))
    other = find_toolchain(tilelang=_tilelang(tmp_path / "c", "2"))
    assert one.identity == same.identity
    assert one.identity != other.identity
    assert one.template_folders == (str(tmp_path / "a" / "src"),)


def test_the_identity_changes_with_a_wheel(monkeypatch):
    """Another version of a wheel is another toolchain."""
    before = find_toolchain()
    real = wheels.find_wheel

    def newer(wheel):
        found = real(wheel)
        if wheel.name != "nvidia-cuda-nvrtc":
            return found
        return wheels.FoundWheel(name=found.name, version="13.9.1", root=found.root)

    monkeypatch.setattr(wheels, "find_wheel", newer)
    after = find_toolchain()
    assert after.versions.ptx_compiler == "nvrtc 13.9.1"
    assert after.identity != before.identity


def _program(path, version):
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V{version}'\n")
    path.chmod(0o755)
    return path


def test_nvcc_of_the_path(monkeypatch, tmp_path):
    """``nvcc`` takes the PATH's, with the ptxas beside it."""
    _program(tmp_path / "nvcc", "12.8.93")
    _program(tmp_path / "ptxas", "12.8.61")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    found = find_toolchain("nvcc")
    assert found.versions.ptx_compiler == "nvcc 12.8.93"
    assert found.versions.ptx_assembler == "ptxas 12.8.61"
    assert (found.cuda_major, found.cuda_folders) == (12, ())
    assert found.ptxas.path == tmp_path / "ptxas"


def test_a_ptxas_by_its_path(tmp_path):
    """A path to a ptxas keeps NVRTC and assembles with that one."""
    found = find_toolchain(str(_program(tmp_path / "ptxas", "13.2.7")))
    assert found.compiler == "nvrtc"
    assert found.versions.ptx_assembler == "ptxas 13.2.7"
    assert found.identity != find_toolchain().identity


def test_no_such_assembler(monkeypatch, tmp_path):
    """What is no program, or one that doesn't start, is refused by name."""
    with pytest.raises(MachineError, match="neither nvrtc, nvcc nor a program"):
        find_toolchain("nvc")
    broken = tmp_path / "nvcc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(MachineError, match="doesn't say its version"):
        find_toolchain(str(broken))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(MachineError, match="no nvcc on the PATH"):
        find_toolchain("nvcc")


_NVIDIAS = "{}: NVIDIA (R) {}\nCuda compilation tools, release 13.0, V13.0.88\n"


@pytest.mark.parametrize(
    ("name", "said", "first"),
    [
        ("ls", "ls (GNU coreutils) 9.1\n", "ls (GNU coreutils) 9.1"),
        ("nvcc", "", "nothing"),
        ("ptxas", "ptxas, no release\n", "ptxas, no release"),
        ("nvcc", _NVIDIAS.format("nvdisasm", "CUDA disassembler"), "nvdisasm: NVIDIA"),
    ],
)
def test_a_program_that_is_no_assembler(tmp_path, name, said, first):
    """Refused with what it says of itself, before anything is lowered; its name is no proof."""
    program = tmp_path / name
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{said}EOF\n")
    program.chmod(0o755)
    with pytest.raises(MachineError, match="is neither an nvcc nor a ptxas") as raised:
        find_toolchain(str(program))
    assert first in raised.value.message


@pytest.mark.parametrize(
    ("said", "compiler"), [(("ptxas", "Ptx optimizing assembler"), "nvrtc"),
                           (("nvcc", "Cuda compiler driver"), "nvcc")]
)  # fmt: skip
def test_an_assembler_under_another_name(tmp_path, said, compiler):
    """What it says counts: a ptxas may be called ``newest``, and an nvcc ``ptxas-like``."""
    _program(tmp_path / "ptxas", "12.8.61")
    program = tmp_path / ("newest" if compiler == "nvrtc" else "ptxas-like")
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{_NVIDIAS.format(*said)}EOF\n")
    program.chmod(0o755)
    assert find_toolchain(str(program)).compiler == compiler


def test_without_tilelang_there_are_no_templates(monkeypatch):
    """Plain CUDA needs none: the toolchain is found all the same."""
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda _: None)
    assert find_toolchain().template_folders == ()
