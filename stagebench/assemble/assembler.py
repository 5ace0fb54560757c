"""How are many kernels assembled beside everything else that a run does?

`Assembler.submit` returns at once; threads wait for the processes that do the work.  What is
cached starts none.  Leaving the context ends every process and cancels what is left.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from stagebench.assemble.cache import Entry, MachineCache, entry_key
from stagebench.assemble.cuda_step import compile_with_nvcc, compile_with_nvrtc
from stagebench.assemble.nvrtc_process import NvrtcPool
from stagebench.assemble.programs import Programs
from stagebench.assemble.ptx_step import assemble_text
from stagebench.assemble.records import Assembled, MachineText, NotAssembled
from stagebench.assemble.toolchain import Toolchain
from stagebench.closing import Closing
from stagebench.errors import UsageError

DEFAULT_TIMEOUT_SECONDS = 300.0
_ARCH = re.compile(r"sm_\d+[af]?")
T = TypeVar("T", Assembled, MachineText)


class Assembler(Closing):
    """Assembles up to ``jobs`` kernels at a time, each step of one in at most the given time.

    ``cache_folder`` is where results are kept (``None``: nowhere); ``warn`` is told of its damages,
    from any thread.
    """

    def __init__(
        self,
        toolchain: Toolchain,
        *,
        jobs: int,
        cache_folder: Path | None,
        warn: Callable[[str], None],
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        nvrtc_command: tuple[str, ...] | None = None,
    ) -> None:
        self.toolchain = toolchain
        self._cache = None if cache_folder is None else MachineCache(cache_folder, warn)
        self._timeout_seconds = timeout_seconds
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="assemble")
        self._pool = NvrtcPool(nvrtc_command)
        self._programs = Programs()
        self._asked: dict[str, Future[Entry]] = {}
        self._lock = threading.Lock()

    @property
    def processes_started(self) -> int:
        """How many processes it has started so far; none for what is cached."""
        return self._pool.started + self._programs.started

    @property
    def nvrtc_processes(self) -> int:
        """How many NVRTC processes it has started so far."""
        return self._pool.started

    def submit(
        self,
        kernel_cu: str,
        arch: str,
        function: str,
        *,
        cuda_flags: tuple[str, ...] = (),
        ptxas_flags: tuple[str, ...] = (),
    ) -> Future[Assembled | NotAssembled]:
        """Assemble CUDA text for ``arch``; ``function`` is the kernel whose resources to report."""
        key = self._key("cuda", kernel_cu, arch, function, cuda_flags, ptxas_flags)

        def work() -> Assembled | NotAssembled:
            return self._assemble_cuda(kernel_cu, arch, function, cuda_flags, ptxas_flags)

        def task() -> Entry:
            made = self._cached(key, work, Assembled)
            if isinstance(made, Assembled):
                self._know(made, self._key("ptx", made.ptx, arch, function, (), ptxas_flags))
            return made

        return self._submit(key, task, Assembled)

    def submit_ptx(
        self,
        ptx: str,
        arch: str,
        function: str | None = None,
        *,
        ptxas_flags: tuple[str, ...] = (),
    ) -> Future[MachineText | NotAssembled]:
        """Assemble PTX for ``arch``; without ``function`` it has to have exactly one kernel."""
        key = self._key("ptx", ptx, arch, function or "", (), ptxas_flags)

        def work() -> MachineText | NotAssembled:
            return self._assemble_ptx(ptx, arch, function, ptxas_flags)

        return self._submit(key, lambda: self._cached(key, work, MachineText), MachineText)

    def close(self) -> None:
        """Cancel what waits, end what runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._programs.kill()
        self._pool.kill()
        self._threads.shutdown(wait=True)
        self._pool.close()

    def _key(
        self,
        kind: str,
        text: str,
        arch: str,
        function: str,
        cuda_flags: tuple[str, ...],
        ptxas_flags: tuple[str, ...],
    ) -> str:
        if not _ARCH.fullmatch(arch):
            raise UsageError(
                f"{arch!r} is no architecture to assemble for", hint="such as sm_80 or sm_90a"
            )
        flags = ("\0".join(cuda_flags), "\0".join(ptxas_flags))
        return entry_key(kind, text, arch, function, *flags, self.toolchain.identity)

    def _submit(
        self, key: str, task: Callable[[], Entry], kind: type[T]
    ) -> Future[T | NotAssembled]:
        """One future for each key: equal texts (depths often give them) are assembled once."""
        del kind  # of the result: the key starts with it
        with self._lock:
            future = self._asked.get(key)
            if future is None or future.cancelled():
                future = self._threads.submit(task)
                self._asked[key] = future
        return future  # type: ignore[return-value] # as the key says

    def _know(self, made: Assembled, ptx_key: str) -> None:
        """Its PTX was assembled with it: who asks for that PTX (a probed build's base) has it."""
        text = MachineText(
            ptx=made.ptx,
            cubin=made.cubin,
            sass=made.sass,
            resources=made.resources,
            messages=made.messages,
            ptxas_seconds=made.ptxas_seconds,
            disassembly_seconds=made.disassembly_seconds,
        )
        done: Future[Entry] = Future()
        done.set_result(text)
        with self._lock:
            self._asked.setdefault(ptx_key, done)

    def _cached(self, key: str, work: Callable[[], T | NotAssembled], kind: type[T]) -> Entry:
        if self._cache is not None:
            found = self._cache.get(key)
            if isinstance(found, kind | NotAssembled):
                return found
        result = work()
        if self._cache is not None and not (
            isinstance(result, NotAssembled) and not result.lasting
        ):
            self._cache.put(key, result)
        return result

    def _assemble_cuda(
        self,
        kernel_cu: str,
        arch: str,
        function: str,
        cuda_flags: tuple[str, ...],
        ptxas_flags: tuple[str, ...],
    ) -> Assembled | NotAssembled:
        limit = self._timeout_seconds
        nvcc = self.toolchain.nvcc
        compiled = (
            compile_with_nvrtc(kernel_cu, arch, cuda_flags, self.toolchain, self._pool, limit)
            if nvcc is None
            else compile_with_nvcc(
                kernel_cu, arch, cuda_flags, self.toolchain, nvcc, self._programs, limit
            )
        )
        if isinstance(compiled, NotAssembled):
            return compiled
        ptx, seconds = compiled
        made = self._assemble_ptx(ptx, arch, function, ptxas_flags)
        if isinstance(made, NotAssembled):
            return made
        return Assembled(
            ptx=ptx,
            cubin=made.cubin,
            sass=made.sass,
            resources=made.resources,
            messages=made.messages,
            ptx_seconds=seconds,
            ptxas_seconds=made.ptxas_seconds,
            disassembly_seconds=made.disassembly_seconds,
        )

    def _assemble_ptx(
        self, ptx: str, arch: str, function: str | None, ptxas_flags: tuple[str, ...]
    ) -> MachineText | NotAssembled:
        return assemble_text(
            ptx, arch, function, ptxas_flags, self.toolchain, self._programs, self._timeout_seconds
        )


def assemble_ptx(
    ptx: str,
    arch: str,
    *,
    function: str | None = None,
    toolchain: Toolchain,
    cache_folder: Path | None,
    warn: Callable[[str], None],
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> MachineText | NotAssembled:
    """Assemble and disassemble one PTX text, and wait for it (see `Assembler.submit_ptx`)."""
    with Assembler(
        toolchain, jobs=1, cache_folder=cache_folder, warn=warn, timeout_seconds=timeout_seconds
    ) as assembler:
        return assembler.submit_ptx(ptx, arch, function).result()
