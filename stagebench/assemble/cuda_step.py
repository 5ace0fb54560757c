"""How does CUDA text become PTX: which flags, through NVRTC or nvcc, and what if it doesn't?

Flags and macros are TileLang's own, so that the machine code is the one that TileLang would run:
``tilelang/contrib/nvrtc.py:compile_cuda`` and ``tilelang/jit/adapter/nvrtc/libgen.py:compile_lib``
for NVRTC, ``tilelang/jit/adapter/libgen.py:compile_lib`` for nvcc (0.1.15), with line information.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from stagebench.assemble.cuda_log import first_error
from stagebench.assemble.cuda_text import (
    leading_directives,
    uses_tilelang_templates,
    without_line_directives,
)
from stagebench.assemble.nvrtc_process import Lost, NvrtcPool
from stagebench.assemble.nvrtc_protocol import Compile, Compiled
from stagebench.assemble.programs import Programs, Ran
from stagebench.assemble.ptx_text import KERNEL_FILE, with_portable_names
from stagebench.assemble.records import NotAssembled
from stagebench.assemble.toolchain import Program, Toolchain

_TENSOR_MAP = re.compile(r"\bCUtensorMap\b")
_WIDE = re.compile(r"\b__u?int128(?:_t)?\b")
_TENSOR_MAP_HEADER = "stagebench_tensor_map.h"
OWN_HEADERS = {
    # Apache TVM's CUDA includes cuda.h for nvcc alone, and NVRTC can't read that: it needs the C
    # library's headers.  The type is cuda.h's (CUDA 13.0): 16 words, aligned to 128 bytes, and in
    # its words: CCCL's <cuda/barrier> declares both names before.
    _TENSOR_MAP_HEADER: "struct alignas(128) CUtensorMap_st { unsigned long long opaque[16]; };\n"
    "typedef struct CUtensorMap_st CUtensorMap;\n",
}
_DEPENDENT_LAUNCH = (
    "cudaGridDependencySynchronize",
    "cudaTriggerProgrammaticLaunchCompletion",
)


def compile_with_nvrtc(
    kernel_cu: str,
    arch: str,
    flags: tuple[str, ...],
    toolchain: Toolchain,
    pool: NvrtcPool,
    timeout_seconds: float,
) -> tuple[str, float] | NotAssembled:
    """The PTX and the seconds that NVRTC took."""
    text = without_line_directives(kernel_cu)
    options = nvrtc_options(text, arch, flags, toolchain)
    header = "\0".join((*options, leading_directives(text)))
    request = Compile(source=text, options=options, headers=OWN_HEADERS)
    answer = pool.compile(header, request, timeout_seconds)
    if isinstance(answer, Compiled):
        return with_portable_names(answer.ptx, toolchain.include_folders), answer.seconds
    if isinstance(answer, Lost):
        return lost("cuda", "NVRTC", _why(answer, timeout_seconds), answer.log)
    log = _portable_log(answer.log, toolchain)
    return _rejected(log, f"NVRTC: {answer.status}")


def nvrtc_options(
    text: str, arch: str, flags: tuple[str, ...], toolchain: Toolchain
) -> tuple[str, ...]:
    """NVRTC's options for a text; ``--pre-include`` puts headers first without moving its lines."""
    first: list[str] = []
    if any(name in text for name in _DEPENDENT_LAUNCH):
        first.append("cuda_device_runtime_api.h")
    if uses_tilelang_templates(text):
        first.append("tl_templates/cuda/nvrtc_std.h")
    elif _TENSOR_MAP.search(text):
        first.append(_TENSOR_MAP_HEADER)
    return (
        "-default-device",
        f"--gpu-architecture={arch.replace('sm_', 'compute_')}",
        "-lineinfo",
        "-w",
        *(f"-I{folder}" for folder in toolchain.include_folders),
        f"-D__CUDACC_VER_MAJOR__={toolchain.cuda_major}",
        *(f"--pre-include={name}" for name in first),
        *(("-device-int128",) if _WIDE.search(text) else ()),  # nvcc takes it unasked
        *flags,
    )


def compile_with_nvcc(
    kernel_cu: str,
    arch: str,
    flags: tuple[str, ...],
    toolchain: Toolchain,
    nvcc: Program,
    programs: Programs,
    timeout_seconds: float,
) -> tuple[str, float] | NotAssembled:
    """The PTX and the seconds that nvcc took."""
    with tempfile.TemporaryDirectory(prefix="stagebench-") as name:
        folder = Path(name)
        (folder / KERNEL_FILE).write_text(without_line_directives(kernel_cu))
        command: list[str | Path] = [
            nvcc.path,
            "-ptx",
            "-std=c++20",
            "-w",
            "-Xcudafe",
            "--diag_suppress=177",
            "-lineinfo",
            f"-arch={arch}",
            *(f"-I{place}" for place in toolchain.include_folders),
            *flags,
            KERNEL_FILE,
            "-o",
            "kernel.ptx",
        ]
        ran = programs.run(command, folder, timeout_seconds)
        if ran.timed_out or ran.code < 0:
            return lost("cuda", "nvcc", why(ran, timeout_seconds), ran.log)
        if ran.code != 0:
            return _rejected(
                _portable_log(ran.log + ran.output, toolchain), f"nvcc: exit code {ran.code}"
            )
        made = folder / "kernel.ptx"
        if not made.is_file():
            return lost("cuda", nvcc.path.name, "ended without an error and without PTX", ran.log)
        ptx = made.read_text()
    return with_portable_names(ptx, toolchain.include_folders), ran.seconds


def _rejected(log: str, otherwise: str) -> NotAssembled:
    message, line = first_error(log)
    return NotAssembled(
        step="cuda",
        message=message or otherwise,
        cuda_line=line,
        ptx_line=None,
        log=log,
        ptx=None,
        lasting=bool(message),
    )


def lost(step: str, program: str, reason: str, log: str) -> NotAssembled:
    """The result for a program that was stopped or died: another try may end otherwise."""
    return NotAssembled(
        step="cuda" if step == "cuda" else "ptx" if step == "ptx" else "disassembly",
        message=f"{program} {reason}",
        cuda_line=None,
        ptx_line=None,
        log=log,
        ptx=None,
        lasting=False,
    )


def why(ran: Ran, timeout_seconds: float) -> str:
    """In words, how a program was lost."""
    if ran.timed_out:
        return f"took longer than {timeout_seconds:g} s"
    return f"was killed by signal {-ran.code}"


def _why(answer: Lost, timeout_seconds: float) -> str:
    if answer.timed_out:
        return f"took longer than {timeout_seconds:g} s"
    if answer.code is None:
        return "can't be loaded"
    if answer.code < 0:
        return f"was killed by signal {-answer.code}"
    return f"ended with exit code {answer.code} and no result"


def _portable_log(log: str, toolchain: Toolchain) -> str:
    """What the compiler printed, without the folders that are this machine's own."""
    for folder in sorted(toolchain.include_folders, key=len, reverse=True):
        log = log.replace(folder + "/", "")
    return log
