"""How are variants assembled beside their lowering?

As soon as a variant is lowered its CUDA goes to the assembler's processes, so that it does not wait
for the lowering of the others; once all are lowered, what came back is read (PTX, SASS, the walk)
in a pool of our own processes.  A variant that does not assemble keeps its other facts and gets a
diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import Assembled, NotAssembled
from stagebench.assemble.toolchain import Toolchain, find_toolchain
from stagebench.dump.files import Assembly
from stagebench.lowering.cache import Cache
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.lowering.lower import Limits, LowerFunction, Lowering, Watcher, lower_all
from stagebench.machine.derive import not_assembled, not_read, read_machine
from stagebench.machine.flags import flags, not_applied
from stagebench.machine.reading_cache import ReadingCache, reading_key
from stagebench.machine.reading_pool import ReadingPool, read_alone
from stagebench.model import Diagnostic, MachineCode
from stagebench.worker.protocol import LowerRequest

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class MachineOptions:
    """How to assemble: ``jobs`` kernels at a time, ``timeout_seconds`` for each.

    ``cache_folder`` is ``None`` where nothing is kept.
    """

    assembler: str
    jobs: int
    timeout_seconds: float
    cache_folder: Path | None
    warn: Callable[[str], None]


def machine_lowerer(options: MachineOptions, wanted: Sequence[bool] | None = None) -> LowerFunction:
    """Return a `lower_all` that assembles too; `MachineError` where a part of that is missing.

    ``wanted`` says for each request whether to assemble it (``None``: each of them).
    """
    toolchain = find_toolchain(options.assembler)

    def lower(
        requests: Sequence[LowerRequest],
        environment: CompilerEnvironment,
        limits: Limits,
        cache: Cache | None,
        watcher: Watcher,
    ) -> list[Lowering]:
        own = toolchain
        package = environment.package if environment.compiler.name == "tilelang" else None
        if package is not None:  # generated CUDA includes its own release's templates
            own = find_toolchain(options.assembler, tilelang=Path(package))
        with _Assembling(options, own, watcher, wanted) as assembling:
            lowerings = lower_all(requests, environment, limits, cache, assembling)
            return assembling.finish(lowerings)

    return lower


_Read = MachineCode | Diagnostic
"""What reading gives: the facts, or why there are none."""


class _Assembling:
    """A watcher that sends every lowered variant on to the assembler, and reads what comes back."""

    def __init__(
        self,
        options: MachineOptions,
        toolchain: Toolchain,
        watcher: Watcher,
        wanted: Sequence[bool] | None,
    ) -> None:
        self._wanted = wanted
        self._options = options
        self._toolchain = toolchain
        self._watcher = watcher
        self._readings = ReadingCache(options.cache_folder, options.warn)
        self._assembler = Assembler(
            toolchain,
            jobs=options.jobs,
            timeout_seconds=options.timeout_seconds,
            cache_folder=options.cache_folder,
            warn=options.warn,
        )
        self._pool = ReadingPool(options.jobs)
        self._assembled: dict[int, Future[Assembled | NotAssembled]] = {}
        self._read: dict[int, Future[_Read]] = {}
        self._notes: dict[int, Diagnostic] = {}

    def __enter__(self) -> Self:
        self._assembler.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.close(wait=error is None)
        self._assembler.__exit__(kind, error, trace)

    def importing(self) -> None:
        self._watcher.importing()

    def started(self, index: int) -> None:
        self._watcher.started(index)

    def assembled(self, index: int, lowering: Lowering) -> None:
        self._watcher.assembled(index, lowering)

    def finished(self, index: int, lowering: Lowering) -> None:
        """Assemble a variant that has been lowered, without waiting for it."""
        self._watcher.finished(index, lowering)
        result = lowering.result
        if result.facts is None or lowering.kernel_cu is None:
            return
        if self._wanted is not None and not self._wanted[index]:
            return
        nvcc = self._toolchain.nvcc is not None
        own = flags(result, nvcc=nvcc)
        note = not_applied(own, nvcc=nvcc)
        if note is not None:
            self._notes[index] = note
        self._assembled[index] = self._assembler.submit(
            lowering.kernel_cu,
            result.variant.arch,
            result.facts.launch.function,
            cuda_flags=own.cuda,
            ptxas_flags=own.ptxas,
        )

    def finish(self, lowerings: Sequence[Lowering]) -> list[Lowering]:
        """All variants with their machine code, as soon as each has it."""
        complete = [_noted(one, self._notes.get(at)) for at, one in enumerate(lowerings)]
        waiting: dict[Future[Assembled | NotAssembled], list[int]] = {}
        for index, future in self._assembled.items():  # equal texts share one future
            waiting.setdefault(future, []).append(index)
        reading: dict[Future[_Read], int] = {}
        for future in as_completed(waiting):
            made = future.result()
            for index in waiting[future]:
                if isinstance(made, NotAssembled):
                    self._tell(complete, index, _without(complete[index], not_assembled(made)))
                    continue
                known = self._readings.get(reading_key(complete[index], made))
                if known is None:
                    reading[self._submit(complete[index], made)] = index
                else:
                    self._tell(complete, index, _with(complete[index], made, known))
        for read in as_completed(reading):
            index = reading[read]
            made = self._assembled[index].result()
            if isinstance(made, Assembled):
                self._take(complete, index, made, read)
        return complete

    def _take(
        self, complete: list[Lowering], index: int, made: Assembled, read: Future[_Read]
    ) -> None:
        lowering = complete[index]
        try:
            machine = read.result()
        except BrokenProcessPool:  # perhaps of another's reading
            machine = self._again(lowering, made)
        if isinstance(machine, Diagnostic):
            self._tell(complete, index, _without(lowering, machine, _files(made)))
            return
        self._readings.put(reading_key(lowering, made), machine)
        self._tell(complete, index, _with(lowering, made, machine))

    def _tell(self, complete: list[Lowering], index: int, lowering: Lowering) -> None:
        complete[index] = lowering
        self._watcher.assembled(index, lowering)

    def _submit(self, lowering: Lowering, made: Assembled) -> Future[_Read]:
        return self._pool.submit(read_machine, *self._text(lowering, made))

    def _again(self, lowering: Lowering, made: Assembled) -> _Read:
        try:
            return read_alone(read_machine, *self._text(lowering, made))
        except BrokenProcessPool:
            return not_read("the process that read it died")

    def _text(self, lowering: Lowering, made: Assembled) -> tuple[object, ...]:
        return lowering.result, lowering.kernel_cu or "", made, self._toolchain.versions


def _noted(lowering: Lowering, note: Diagnostic | None) -> Lowering:
    """The variant with what is to be known of its machine code."""
    facts = lowering.result.facts
    if note is None or facts is None:
        return lowering
    return _replaced(lowering, assembly=lowering.assembly, diagnostics=(*facts.diagnostics, note))


def _with(lowering: Lowering, made: Assembled, machine: MachineCode) -> Lowering:
    return _replaced(lowering, machine=machine, assembly=_files(made))


def _files(made: Assembled) -> Assembly:
    return Assembly(ptx=made.ptx, sass=made.sass, cubin=made.cubin)


def _without(lowering: Lowering, why: Diagnostic, assembly: Assembly | None = None) -> Lowering:
    facts = lowering.result.facts
    diagnostics = () if facts is None else (*facts.diagnostics, why)
    return _replaced(lowering, diagnostics=diagnostics, assembly=assembly)


def _replaced(lowering: Lowering, *, assembly: Assembly | None, **fields: object) -> Lowering:
    facts = lowering.result.facts
    if facts is None:
        return lowering
    changed = msgspec.structs.replace(facts, **fields)
    result = msgspec.structs.replace(lowering.result, facts=changed)
    return replace(lowering, result=result, assembly=assembly)
