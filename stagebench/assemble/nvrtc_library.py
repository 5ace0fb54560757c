"""How is one CUDA text compiled by NVRTC, with headers precompiled once for all that follow?

Only the NVRTC process (`stagebench.assemble.nvrtc_server`) imports this: it loads the library.
Source: NVRTC 13.0's documentation, "Precompiled Headers": a header can be used by the process that
made it or one with the same addresses, and needs more heap than the default 256 MB here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stagebench.assemble.nvrtc_protocol import Compile, Compiled, Rejected
from stagebench.assemble.ptx_text import KERNEL_FILE

_Getter = Callable[..., Any]
_HEAP_BYTES = 1 << 30
_FOLDER = "stagebench-pch-"
_HEADER_NAME = "kernel.pch"
_HEADER_REMARK = re.compile(
    r'^"[^"\n]*": (?:using|creating) precompiled header file .*\n+', re.MULTILINE
)


nvrtc = importlib.import_module("cuda.bindings.nvrtc")  # has no types that mypy could check


class Nvrtc:
    """The library, and the header that its first kernel left behind (an unlinked, open file)."""

    def __init__(self) -> None:
        nvrtc.nvrtcSetPCHHeapSize(_HEAP_BYTES)
        self._header: int | None = None
        self.warm = False

    def compile_and_keep_header(self, request: Compile) -> Compiled | Rejected:
        """Compile the first kernel; `warm` is true from now on if its header could be made.

        Where the text has no header worth one, or NVRTC won't make it, later kernels go without.
        """
        try:
            _remove_leftovers()
            with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-") as folder:
                result = self._compile_into(Path(folder) / _HEADER_NAME, request)
        except OSError:  # no place for a header
            self.warm = True
            return _compile(request, None)
        return result

    def _compile_into(self, path: Path, request: Compile) -> Compiled | Rejected:
        result = _compile(request, f"--create-pch={path}")
        if path.is_file():
            self._header = os.open(path, os.O_RDONLY)
        if isinstance(result, Rejected) and str(path) in result.log:
            self.warm = True  # the header can't be written: the text is innocent
            return _compile(request, None)
        # A kernel with an error leaves no header though it might have: then the next one tries.
        self.warm = self._header is not None or isinstance(result, Compiled)
        return result

    def compile(self, request: Compile) -> Compiled | Rejected:
        """Compile a kernel with the header, if there is one."""
        if self._header is None:
            return _compile(request, None)
        path = f"/proc/self/fd/{self._header}"
        result = _compile(request, f"--use-pch={path}")
        if isinstance(result, Rejected) and path in result.log:  # the header can't be read
            return _compile(request, None)
        return result


def _remove_leftovers() -> None:
    """Remove what processes left that were killed while they made a header (260 MB each)."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        owner = folder.name[len(_FOLDER) :].partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _compile(request: Compile, header_option: str | None) -> Compiled | Rejected:
    started = time.perf_counter()
    options = [*request.options, *([header_option] if header_option else [])]
    status, program = nvrtc.nvrtcCreateProgram(
        request.source.encode(),
        KERNEL_FILE.encode(),
        len(request.headers),
        [text.encode() for text in request.headers.values()],
        [name.encode() for name in request.headers],
    )
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return Rejected(status=status.name, log="")
    try:
        (status,) = nvrtc.nvrtcCompileProgram(
            program, len(options), [option.encode() for option in options]
        )
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return Rejected(status=status.name, log=_HEADER_REMARK.sub("", log))
        ptx = _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        used = "using precompiled header" in log
        seconds = time.perf_counter() - started
        return Compiled(ptx=ptx, seconds=seconds, precompiled=used)
    finally:
        with contextlib.suppress(Exception):
            nvrtc.nvrtcDestroyProgram(program)


def _text(get_size: _Getter, get: _Getter, program: object) -> str:
    status, size = get_size(program)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return ""
    data = bytes(size)
    get(program, data)
    return data.rstrip(b"\0").decode(errors="replace")
