"""How are many variants lowered: from the cache where possible, else by one worker, in parallel?

One variant's failure is a result; only the caller's mistakes raise.  Does not handle: which
variants there are (`stagebench.sweep`), dumps, or anything printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from stagebench.dump.files import Assembly
from stagebench.errors import MachineError, UsageError
from stagebench.facts.arch import capability_of
from stagebench.lowering import failure
from stagebench.lowering.cache import Cache
from stagebench.lowering.choose_compilers import Chosen, NoCompiler
from stagebench.lowering.compiler_environment import CompilerEnvironment
from stagebench.lowering.kept_worker import KeptWorker
from stagebench.model import Compiler, VariantResult
from stagebench.worker.protocol import (
    TIR_PIPELINE,
    Died,
    Done,
    Lower,
    Lowered,
    LowerRequest,
    Raised,
    Rejected,
    Started,
    Times,
)

_MAX_WORKER_STARTS = 3


@dataclass(frozen=True)
class Lowering:
    """One variant's result with the artifacts that a dump holds; ``None`` where it failed.

    ``assembly`` is ``None`` too where nobody asked for machine code, or it did not assemble.
    """

    result: VariantResult
    kernel_cu: str | None
    snapshots: bytes | None
    times: Times | None
    cached: bool
    assembly: Assembly | None = None

    @property
    def kernel_unseen(self) -> bool:
        """Whether it failed before there was a kernel: its depths are asked for, not its own."""
        failed = self.result.failure
        return failed is not None and (failed.kind == "no_compiler" or failed.before_the_kernel)


class NoDepthParameterError(UsageError):
    """No parameter of the kernel carries its depth, so this axis can't be swept."""


class Watcher(Protocol):
    """Is told what happens while it happens; ``index`` is the request's position."""

    def importing(self) -> None:
        """A worker starts to import the compiler."""

    def started(self, index: int) -> None:
        """A variant's child is running."""

    def finished(self, index: int, lowering: Lowering) -> None:
        """A variant has its result."""

    def assembled(self, index: int, lowering: Lowering) -> None:
        """A variant that has been lowered has its machine code too (only where asked for)."""


@dataclass(frozen=True)
class Limits:
    """What a run may use: parallel children, seconds and bytes for each of them.

    ``worker`` serves it and stays for the next run; ``None``: a worker of its own.
    """

    jobs: int
    timeout_seconds: float
    memory_bytes: int | None = None
    worker: KeptWorker | None = None


class LowerFunction(Protocol):
    """Something that lowers requests as `lower_all` does."""

    def __call__(
        self,
        requests: Sequence[LowerRequest],
        environment: CompilerEnvironment,
        limits: Limits,
        cache: Cache | None,
        watcher: Watcher,
    ) -> list[Lowering]:
        """See `lower_all`."""


def lower_all(
    requests: Sequence[LowerRequest],
    environment: CompilerEnvironment,
    limits: Limits,
    cache: Cache | None,
    watcher: Watcher,
) -> list[Lowering]:
    """Lower every request; the results are in the requests' order.

    Raises `UsageError` where every request is wrong in itself, `MachineError` where no worker can
    be started.
    """
    results: dict[int, Lowering] = {}

    def finish(index: int, lowering: Lowering) -> None:
        results[index] = lowering
        watcher.finished(index, lowering)

    for index, request in enumerate(requests):
        known = cache.get(request, environment) if cache else None
        if known is not None:
            finish(index, _lowering(known, environment, cached=True))
    missing = [index for index in range(len(requests)) if index not in results]
    if missing:
        _Batch(requests, environment, limits, cache, watcher, finish).run(missing)
    return [results[index] for index in range(len(requests))]


@dataclass(frozen=True)
class Part:
    """Some of a run's requests, by position, that one compiler lowers."""

    compiler: Chosen
    indices: Sequence[int]
    lower: LowerFunction = lower_all


def lower_with_each(
    requests: Sequence[LowerRequest],
    compilers: Sequence[Chosen],
    limits: Limits,
    cache: Cache | None,
    watcher: Watcher,
    lower: LowerFunction = lower_all,
) -> list[Lowering]:
    """Lower every request with every compiler; the results are compiler by compiler.

    What only Apache TVM has (its choice of passes) is left out for the others.  The watcher's
    indices go on over all of them.  Raises as `lower_parts` does.
    """
    count = len(requests)
    parts = [
        Part(compiler, range(number * count, (number + 1) * count), lower)
        for number, compiler in enumerate(compilers)
    ]
    own = [_of(request, one.compiler) for one in compilers for request in requests]
    return lower_parts(own, parts, limits, cache, watcher)


def _of(request: LowerRequest, compiler: Compiler) -> LowerRequest:
    """The request without what this compiler can't be asked for."""
    if compiler.name == "tvm" or TIR_PIPELINE not in request.pass_configs:
        return request
    configs = {key: value for key, value in request.pass_configs.items() if key != TIR_PIPELINE}
    return msgspec.structs.replace(request, pass_configs=configs)


def lower_parts(
    requests: Sequence[LowerRequest],
    parts: Sequence[Part],
    limits: Limits,
    cache: Cache | None,
    watcher: Watcher,
) -> list[Lowering]:
    """Lower every request with the compiler whose part it is; results in the requests' order.

    A compiler that can't be had or imported, or that takes none of its requests (an old release
    lacks a pass config), fails its own variants; where that is all of them, it raises as
    `lower_all` does.
    """
    results: dict[int, Lowering] = {}
    errors: list[MachineError | UsageError] = []
    for part in parts:
        watched = _Watched(watcher, part.indices)
        own = [requests[index] for index in part.indices]
        try:
            if isinstance(part.compiler, NoCompiler):
                raise part.compiler.error
            lowerings = part.lower(own, part.compiler, limits, cache, watched)
        except NoDepthParameterError:
            raise
        except (MachineError, UsageError) as exc:
            errors.append(exc)
            if len(errors) == len(parts):
                raise errors[0] from exc
            lowerings = [_lost(request, part.compiler.compiler, exc) for request in own]
            for index, lost in enumerate(lowerings):
                watched.finished(index, lost)
        results.update(zip(part.indices, lowerings, strict=True))
    return [results[index] for index in range(len(requests))]


def _lost(request: LowerRequest, compiler: Compiler, exc: MachineError | UsageError) -> Lowering:
    if isinstance(exc, MachineError):
        result = failure.from_no_compiler(request, compiler, exc.message, exc.hint)
    else:
        rejected = Rejected(code="usage", message=exc.message, hint=exc.hint)
        result = failure.from_rejected(rejected, request, compiler)
    return Lowering(result, None, None, None, cached=False)


class _Watched:
    """A watcher of one compiler's part of a run."""

    def __init__(self, watcher: Watcher, indices: Sequence[int]) -> None:
        self._watcher = watcher
        self._indices = indices

    def importing(self) -> None:
        self._watcher.importing()

    def started(self, index: int) -> None:
        self._watcher.started(self._indices[index])

    def finished(self, index: int, lowering: Lowering) -> None:
        self._watcher.finished(self._indices[index], lowering)

    def assembled(self, index: int, lowering: Lowering) -> None:
        self._watcher.assembled(self._indices[index], lowering)


class _Batch:
    """The variants that have to be lowered now."""

    def __init__(
        self,
        requests: Sequence[LowerRequest],
        environment: CompilerEnvironment,
        limits: Limits,
        cache: Cache | None,
        watcher: Watcher,
        finish: Callable[[int, Lowering], None],
    ) -> None:
        self._requests = requests
        self._environment = environment
        self._limits = limits
        self._cache = cache
        self._watcher = watcher
        self._finish = finish
        self._rejected: dict[int, Rejected] = {}

    def run(self, indices: Sequence[int]) -> None:
        """Lower the given requests; a worker that is lost is started again for what is left.

        A request that the worker rejects is the caller's mistake where all are rejected (the
        kernel's name, a parameter); where others are not, it is its own values' failure.
        """
        left = set(indices)
        for _ in range(_MAX_WORKER_STARTS):
            left = self._run_worker(left)
            if not left:
                break
        for index in sorted(left):
            self._lose(index, "")
        if len(self._rejected) == len(self._requests):
            first = self._rejected[min(self._rejected)]
            kind = NoDepthParameterError if first.code == "no-depth" else UsageError
            raise kind(first.message, hint=first.hint)
        for index, rejected in self._rejected.items():
            result = failure.from_rejected(
                rejected, self._requests[index], self._environment.compiler
            )
            self._finish(index, Lowering(result, None, None, None, cached=False))

    def _run_worker(self, indices: set[int]) -> set[int]:
        """Lower with one worker; returns what it had not started when it ended."""
        if self._limits.worker is not None:
            return self._lower_with(self._limits.worker, indices)
        with KeptWorker() as own:
            return self._lower_with(own, indices)

    def _lower_with(self, kept: KeptWorker, indices: set[int]) -> set[int]:
        left = set(indices)
        running: set[int] = set()
        talk = kept.talk(self._environment, self._limits.jobs, self._watcher.importing)
        with talk as (worker, messages):
            for index in _longest_first(self._requests, indices):
                worker.send(
                    Lower(
                        job=index,
                        request=self._requests[index],
                        timeout_seconds=self._limits.timeout_seconds,
                        memory_limit_bytes=self._limits.memory_bytes,
                    )
                )
            for message in messages:
                if isinstance(message, Started):
                    running.add(message.job)
                    self._watcher.started(message.job)
                elif isinstance(message, Done | Died):
                    running.discard(message.job)
                    left.discard(message.job)
                    self._take(message)
                if not left:
                    return set()
            for index in sorted(running):  # the worker ended under them
                self._lose(index, worker.log_tail())
        return left - running

    def _take(self, message: Done | Died) -> None:
        request = self._requests[message.job]
        if isinstance(message, Died):
            result = failure.from_died(
                message, request, self._environment.compiler, self._limits.timeout_seconds
            )
            self._finish(message.job, Lowering(result, None, None, None, cached=False))
            return
        reply = message.reply
        if isinstance(reply, Rejected):
            self._rejected[message.job] = reply
            return
        if self._cache is not None and not (isinstance(reply, Raised) and reply.out_of_memory):
            self._cache.put(request, self._environment, reply)
        self._finish(message.job, _lowering(reply, self._environment, cached=False))

    def _lose(self, index: int, log: str) -> None:
        request = self._requests[index]
        result = failure.from_lost_worker(request, self._environment.compiler, log)
        self._finish(index, Lowering(result, None, None, None, cached=False))


def _longest_first(requests: Sequence[LowerRequest], indices: set[int]) -> list[int]:
    """Start what takes longest first: code without TMA lowers slower, and deeper slower."""

    def cost(index: int) -> tuple[bool, int, int]:
        request = requests[index]
        return (capability_of(request.arch) >= (9, 0), -(request.num_stages or 0), index)

    return sorted(indices, key=cost)


def _lowering(
    reply: Lowered | Raised, environment: CompilerEnvironment, *, cached: bool
) -> Lowering:
    if isinstance(reply, Raised):
        return Lowering(_named(failure.from_raised(reply), environment), None, None, None, cached)
    result = VariantResult(
        variant=reply.variant, outcome="lowered", failure=None, facts=reply.facts
    )
    named = _named(result, environment)
    return Lowering(named, reply.kernel_cu, reply.snapshots, reply.times, cached)


def _named(result: VariantResult, environment: CompilerEnvironment) -> VariantResult:
    """The result under the name that the caller gave the compiler."""
    variant = msgspec.structs.replace(result.variant, compiler=environment.compiler)
    return msgspec.structs.replace(result, variant=variant)
