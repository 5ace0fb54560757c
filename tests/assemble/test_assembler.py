"""Does CUDA become PTX, machine code and SASS, every failure a record, every repetition free?

Real NVRTC, ptxas and nvdisasm from wheels; small kernels without templates are compiled in a blink.
"""

import re
import shutil
import sys
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from tempfile import gettempdir

import pytest

from stagebench.assemble import assembler as assembler_module
from stagebench.assemble.assembler import Assembler, assemble_ptx
from stagebench.assemble.ptx_text import cuda_line_at
from stagebench.assemble.records import Assembled, MachineText, NotAssembled
from stagebench.assemble.toolchain import Program, find_toolchain
from stagebench.errors import UsageError

KERNELS = Path(__file__).parents[1] / "cuda" / "kernels"
FAKE_NVRTC = (sys.executable, "-I", str(Path(__file__).with_name("fake_nvrtc.py")))
REVERSE = """\
// reverses a warp's values
#line 90 "/home/someone/kernel.py"
extern "C" __global__ void reverse(float* x) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[31 - threadIdx.x];
}
"""
SYNC_LINE = 6


@pytest.fixture(scope="module")
def toolchain():
    return find_toolchain()


@pytest.fixture
def warned():
    return []


@pytest.fixture
def start(toolchain, tmp_path, warned):
    """A function that makes an assembler with this test's own cache."""

    def make(tools=toolchain, *, folder=tmp_path / "cache", **options):
        return Assembler(tools, jobs=2, cache_folder=folder, warn=warned.append, **options)

    return make


@pytest.fixture(scope="module")
def reversed_(toolchain):
    """The plain kernel on two architectures."""
    with Assembler(toolchain, jobs=2, cache_folder=None, warn=pytest.fail) as made:
        futures = {arch: made.submit(REVERSE, arch, "reverse") for arch in ("sm_80", "sm_90a")}
        return {arch: future.result() for arch, future in futures.items()}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_plain_kernel(reversed_, arch):
    """PTX for the architecture, a cubin, SASS, and what the kernel takes."""
    made = reversed_[arch]
    assert isinstance(made, Assembled), made
    assert f".target {arch}" in made.ptx
    assert made.cubin[:4] == b"\x7fELF"
    assert made.sass.count("BAR.SYNC") == 1
    taken = made.resources
    assert (taken.static_smem_bytes, taken.barriers) == (128, 1)
    assert (taken.spill_store_bytes, taken.spill_load_bytes, taken.stack_bytes) == (0, 0, 0)
    assert 0 < taken.registers < 32
    assert taken.code_bytes > 0
    assert taken.code_bytes % 128 == 0
    assert made.messages == ()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_sass_leads_to_the_line_of_the_kernel(reversed_, arch):
    """BAR.SYNC names its PTX line; PTX and SASS agree on the physical line, not ``#line``'s."""
    made = reversed_[arch]
    before = made.sass[: made.sass.index("BAR.SYNC")]
    ptx_line = int(re.findall(r'File "\.nv_debug_ptx_txt", line (\d+)', before)[-1])
    assert made.ptx.splitlines()[ptx_line - 1].split()[0] in ("bar.sync", "barrier.sync")
    assert cuda_line_at(made.ptx, ptx_line) == SYNC_LINE
    assert re.findall(r'File "kernel\.cu", line (\d+)', before)[-1] == str(SYNC_LINE)


def test_no_path_of_this_machine(toolchain, start):
    """A kernel with templates names headers from their include folders, in text and in bytes."""
    text = (KERNELS / "gemm.sm_90a.2.cu").read_text()
    with start() as made:
        result = made.submit(text, "sm_90a", kernel_name(text)).result()
    assert isinstance(result, Assembled), result
    assert '"tl_templates/cuda/' in result.ptx
    for folder in (*toolchain.include_folders, str(Path.cwd()), gettempdir()):
        assert folder not in result.ptx
        assert folder not in result.sass
        assert folder.encode() not in result.cubin


def kernel_name(text):
    return re.search(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(", text)[1]


def test_tilelang_with_and_without_the_header(start):
    """The second kernel is compiled with the first one's header: the same PTX as without."""
    text = (KERNELS / "gemm.sm_80.3.cu").read_text()
    other = (KERNELS / "gemm.sm_80.2.cu").read_text()
    with start(folder=None) as made:
        alone = made.submit(text, "sm_80", kernel_name(text)).result()
    with start(folder=None) as made:
        made.submit(other, "sm_80", kernel_name(other)).result()
        second = made.submit(text, "sm_80", kernel_name(text)).result()
        assert made.nvrtc_processes == 1
    assert isinstance(alone, Assembled), alone
    assert (second.ptx, second.cubin, second.sass) == (alone.ptx, alone.cubin, alone.sass)
    assert "cp.async" in alone.ptx
    assert "LDGSTS" in alone.sass


@pytest.mark.parametrize(
    ("name", "arch", "instruction"),
    [
        ("tvm_stir_gemm.sm_80.3.cu", "sm_80", "LDGSTS"),
        ("tvm_tirx_gemm.sm_90a.3.cu", "sm_90a", "UTMALDG"),
        ("tcgen05_ring.sm_100a.2.cu", "sm_100a", "UTCHMMA"),
    ],
)
def test_other_kernels(start, name, arch, instruction):
    """Apache TVM's CUDA needs no templates; Blackwell's instructions assemble."""
    text = (KERNELS / name).read_text()
    with start() as made:
        result = made.submit(text, arch, kernel_name(text)).result()
    assert isinstance(result, Assembled), result
    assert instruction in result.sass


def test_an_error_in_the_cuda(start):
    """The compiler's own words and the physical line; the others are assembled."""
    wrong = REVERSE.replace("tile[threadIdx.x] = x", "tile[threadIdx.x] = y")
    with start() as made:
        failed = made.submit(wrong, "sm_80", "reverse")
        fine = made.submit(REVERSE, "sm_80", "reverse")
        assert isinstance(fine.result(), Assembled)
        result = failed.result()
    assert isinstance(result, NotAssembled)
    assert (result.step, result.cuda_line, result.lasting) == ("cuda", 5, True)
    assert result.message == 'identifier "y" is undefined'
    assert "precompiled" not in result.log


def test_an_error_in_the_ptx(start):
    """What ptxas refuses is traced to the CUDA line of its inline assembly."""
    wrong = REVERSE.replace("__syncthreads();", 'asm volatile("bar.sink 0;");')
    with start() as made:
        result = made.submit(wrong, "sm_80", "reverse").result()
    assert isinstance(result, NotAssembled)
    assert (result.step, result.cuda_line) == ("ptx", SYNC_LINE)
    assert result.ptx.splitlines()[result.ptx_line - 1].strip() == "bar.sink 0;"
    assert result.message == "Unknown modifier '.sink'"


def test_a_kernel_that_is_not_there(start):
    """The kernels that are there are named."""
    with start() as made:
        result = made.submit(REVERSE, "sm_80", "revers").result()
    assert isinstance(result, NotAssembled)
    assert result.message == "the PTX doesn't have the kernel revers; it has: reverse"


def test_architectures(start):
    """What is no architecture is the caller's mistake; one that NVRTC doesn't know a result."""
    with start() as made:
        with pytest.raises(UsageError, match="'cuda' is no architecture"):
            made.submit(REVERSE, "cuda", "reverse")
        result = made.submit(REVERSE, "sm_12", "reverse").result()
    assert isinstance(result, NotAssembled)
    assert result.step == "cuda"
    assert "gpu-architecture" in result.message


def test_what_is_cached_starts_no_process(start, warned):
    """Results and lasting failures come back equal; so does one that another run made."""
    wrong = REVERSE + "bogus;\n"
    with start() as made:
        first = [made.submit(text, "sm_80", "reverse").result() for text in (REVERSE, wrong)]
        assert made.processes_started > 0
    with start() as made:
        again = [made.submit(text, "sm_80", "reverse").result() for text in (REVERSE, wrong)]
        assert made.processes_started == 0
        assert isinstance(made.submit(REVERSE, "sm_86", "reverse").result(), Assembled)
        assert made.processes_started > 0
    assert again == first
    assert warned == []


def test_flags_are_part_of_what_is_asked(start):
    """A macro or a register limit makes another result, cached for itself."""
    with start() as made:
        plain = made.submit(REVERSE, "sm_80", "reverse").result()
        flags = ("-DthreadIdx=blockIdx",)
        other = made.submit(REVERSE, "sm_80", "reverse", cuda_flags=flags).result()
        slow = made.submit(REVERSE, "sm_80", "reverse", ptxas_flags=("-O0",)).result()
    assert "%ctaid" in other.ptx
    assert "%ctaid" not in plain.ptx
    assert slow.ptx == plain.ptx
    assert slow.cubin != plain.cubin


def test_a_damaged_entry_is_redone(start, tmp_path, warned):
    """A wrong byte costs a warning and the time to assemble again."""
    with start() as made:
        first = made.submit(REVERSE, "sm_80", "reverse").result()
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    with start() as made:
        again = made.submit(REVERSE, "sm_80", "reverse").result()
        assert made.processes_started > 0
    assert again.sass == first.sass
    assert len(warned) == 1
    assert "damaged cache entry" in warned[0]


def test_equal_texts_are_assembled_once(start):
    """Depths with byte-identical CUDA share one future."""
    with start() as made:
        assert made.submit(REVERSE, "sm_80", "reverse") is made.submit(REVERSE, "sm_80", "reverse")


def test_the_ptx_of_a_kernel_is_not_assembled_again(start):
    """Its machine code came with it; for another arch, or with other flags, it is another."""
    with start() as assembler:
        made = assembler.submit(REVERSE, "sm_80", "reverse").result()
        started = assembler.processes_started
        again = assembler.submit_ptx(made.ptx, "sm_80", "reverse").result()
        assert assembler.processes_started == started
        assert isinstance(again, MachineText)
        assert (again.ptx, again.cubin, again.sass) == (made.ptx, made.cubin, made.sass)
        assert (again.resources, again.messages) == (made.resources, made.messages)
        assembler.submit_ptx(made.ptx, "sm_90", "reverse").result()
        assert assembler.processes_started > started
    with start() as assembler:  # what is cached brings it too
        assembler.submit(REVERSE, "sm_80", "reverse").result()
        assert assembler.submit_ptx(made.ptx, "sm_80", "reverse").result() == again
        assert assembler.processes_started == 0


def test_ptx_alone(toolchain, tmp_path, reversed_):
    """PTX assembles to what its CUDA assembled to, and is cached likewise."""
    whole = reversed_["sm_90a"]
    for _ in range(2):
        made = assemble_ptx(
            whole.ptx, "sm_90a", toolchain=toolchain, cache_folder=tmp_path, warn=pytest.fail
        )
        assert isinstance(made, MachineText)
        assert (made.cubin, made.sass, made.resources) == (
            whole.cubin, whole.sass, whole.resources,
        )  # fmt: skip
    refused = assemble_ptx(
        whole.ptx, "sm_80", toolchain=toolchain, cache_folder=None, warn=pytest.fail
    )
    assert isinstance(refused, NotAssembled)
    assert "target" in refused.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crash", "NVRTC was killed by signal 11"),
        ("exit", "NVRTC ended with exit code 7 and no result"),
        ("hang", "NVRTC took longer than 0.5 s"),
    ],
)
def test_a_lost_compiler_is_a_record_that_is_not_kept(start, text, message):
    """Only that kernel is lost, and it is tried again next time."""
    with start(nvrtc_command=FAKE_NVRTC, timeout_seconds=0.5) as made:
        result = made.submit(text, "sm_80", "k").result()
        other = made.submit("fine", "sm_80", "k").result()
    assert isinstance(result, NotAssembled)
    assert (result.step, result.message, result.lasting) == ("cuda", message, False)
    assert "doesn't have the kernel k" in other.message  # the stand-in's PTX: it did compile
    with start(nvrtc_command=FAKE_NVRTC, timeout_seconds=0.5) as made:
        made.submit(text, "sm_80", "k").result()
        assert made.processes_started > 0


def program(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Program(path=path, shown=name, identity=script)


@pytest.mark.parametrize(
    ("tool", "script", "step", "message"),
    [
        ("ptxas", "sleep 600 & wait", "ptx", "ptxas took longer than 1 s"),
        ("ptxas", "kill -SEGV $$", "ptx", "ptxas was killed by signal 11"),
        ("ptxas", "exit 4", "ptx", "ptxas ended with exit code 4 and no error"),
        (
            "nvdisasm",
            "echo 'nvdisasm fatal : no' >&2; exit 1",
            "disassembly",
            "nvdisasm fatal : no",
        ),
    ],
)
def test_programs_that_misbehave(toolchain, tmp_path, reversed_, tool, script, step, message):
    """A hang, a crash or a strange end of ptxas or nvdisasm is a record of its step."""
    broken = program(tmp_path, tool, script)
    tools = _replace(toolchain, **{tool: broken})
    result = assemble_ptx(
        reversed_["sm_80"].ptx, "sm_80", toolchain=tools, cache_folder=None, warn=pytest.fail,
        timeout_seconds=1,
    )  # fmt: skip
    assert isinstance(result, NotAssembled)
    assert (result.step, result.message) == (step, message)


def _replace(toolchain, **changes):
    from dataclasses import replace

    return replace(toolchain, **changes)


def test_leaving_early_ends_what_runs_and_cancels_what_waits(toolchain, tmp_path, reversed_):
    """A hanging ptxas doesn't hold the exit up."""
    ptx = reversed_["sm_80"].ptx
    began = tmp_path / "began"
    tools = _replace(toolchain, ptxas=program(tmp_path, "ptxas", f"touch {began}; sleep 600"))
    with Assembler(tools, jobs=1, cache_folder=None, warn=pytest.fail) as made:
        running = made.submit_ptx(ptx, "sm_80")
        waiting = made.submit_ptx(ptx + "\n", "sm_80")
        poll = threading.Event()
        while not began.exists():
            poll.wait(0.02)
    result = running.result(timeout=30)
    assert isinstance(result, NotAssembled)
    assert not result.lasting
    with pytest.raises(CancelledError):
        waiting.result(timeout=30)


@pytest.mark.parametrize(
    ("silent", "message"),
    [
        ("nvcc", "nvcc ended without an error and without PTX"),
        ("ptxas", "ptxas ended without an error and without a cubin"),
    ],
)
def test_a_program_that_succeeds_and_writes_nothing(toolchain, start, tmp_path, silent, message):
    """``--assembler /bin/true`` loses that kernel, in words; it is tried again next time."""
    nothing = program(tmp_path, silent, "exit 0")
    kind = "nvcc" if silent == "nvcc" else "nvrtc"
    tools = _replace(toolchain, compiler=kind, **{silent: nothing})
    with start(tools) as made:
        result = made.submit(REVERSE, "sm_80", "reverse").result()
    assert (result.message, result.lasting) == (message, False)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
def test_a_toolkits_nvcc_gives_the_same_facts(start, reversed_):
    """Compiled by nvcc: the same resources and lines as by NVRTC."""
    tools = find_toolchain("nvcc")
    with start(tools) as made:
        result = made.submit(REVERSE, "sm_90a", "reverse").result()
        wrong = made.submit(REVERSE.replace("= x", "= y"), "sm_90a", "reverse").result()
    assert isinstance(result, Assembled), result
    assert result.resources == reversed_["sm_90a"].resources
    assert '"kernel.cu"' in result.ptx
    before = result.sass[: result.sass.index("BAR.SYNC")]
    ptx_line = int(re.findall(r'File "\.nv_debug_ptx_txt", line (\d+)', before)[-1])
    assert cuda_line_at(result.ptx, ptx_line) == SYNC_LINE
    assert (wrong.step, wrong.message, wrong.cuda_line) == (
        "cuda", 'identifier "y" is undefined', 5,
    )  # fmt: skip


def test_a_bug_of_ours_is_not_hidden(start, monkeypatch):
    """An exception in a step reaches who asks for the result."""

    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(assembler_module, "compile_with_nvrtc", broken)
    with start() as made, pytest.raises(RuntimeError, match="a bug"):
        made.submit(REVERSE, "sm_80", "reverse").result()
