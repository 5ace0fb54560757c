"""How does one variant become a reply, whichever TVM lowers it?  The steps, and how each can end.

An adapter says how its compiler loads, lowers and is read (`Steps`).  What the kernel's Python or
the compiler raises is a `Raised`; so is what reading the IR raises after a lowering that went well,
as the reader's own.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from stagebench.dump import snapshots
from stagebench.errors import UsageError
from stagebench.facts.derive import derive_facts
from stagebench.model import Compiler, Diagnostic, Observation, ParamValue, Scalar, Variant
from stagebench.model.observation import SeenBuffer, SeenKernel, SeenLoopRequest
from stagebench.worker import replies
from stagebench.worker.loading.stage_param import NoDepthParameterError
from stagebench.worker.protocol import Lowered, LowerRequest, Rejected, Reply, Times
from stagebench.worker.stderr_log import compiler_warnings
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir.pass_recorder import PassRecorder


class Loaded(Protocol):
    """A kernel that is ready to be lowered: what its variant and its cache entry tell of it."""

    @property
    def params(self) -> dict[str, ParamValue]:
        """All parameters with their final values."""

    @property
    def stage_param(self) -> str | None:
        """The depth's own name."""

    @property
    def module_files(self) -> tuple[str, ...]:
        """The user's files that it was made from."""


class Followed(Protocol):
    """What was seen of loops and buffers in the course of a lowering."""

    def requests(self) -> tuple[SeenLoopRequest, ...]:
        """Every loop that asks for a pipeline, with its fate."""

    def buffers(self) -> tuple[SeenBuffer, ...]:
        """Every shared buffer."""


_L = TypeVar("_L", bound=Loaded)
_A = TypeVar("_A")
_R = TypeVar("_R", bound=PassRecorder[Any])


class Steps(ABC, Generic[_L, _A, _R]):
    """One compiler's part: a loaded kernel, the artifact of a lowering, the recorder of both."""

    compiler: Compiler

    @abstractmethod
    def recorder(self, report_pass: Callable[[str], None]) -> _R:
        """What observes one lowering."""

    @abstractmethod
    def load(self, request: LowerRequest, on_files: Callable[[tuple[str, ...]], None]) -> _L:
        """The kernel of a request; ``on_files`` is told the user's files that were imported."""

    @abstractmethod
    def configs(self, request: LowerRequest, loaded: _L | None) -> dict[str, Scalar]:
        """All pass configs; `UsageError` for one that the compiler has not."""

    @abstractmethod
    def lower(self, loaded: _L, arch: str, configs: dict[str, Scalar], recorder: _R) -> _A:
        """The compiler's own lowering."""

    @abstractmethod
    def kernel_cu(self, artifact: _A) -> str:
        """The CUDA text that it generated."""

    @abstractmethod
    def observe(self, loaded: _L, artifact: _A, recorder: _R) -> Observation:
        """Read everything that it left."""

    def notes(self, loaded: _L) -> tuple[Diagnostic, ...]:
        """What loading has to say about the kernel."""
        del loaded
        return ()

    def mistaken(
        self, request: LowerRequest, files: Sequence[str], error: Exception
    ) -> UsageError | None:
        """What to say of an error instead of itself, where the request was the mistake."""
        del request, files
        return error if isinstance(error, UsageError) else None


def reply_to(
    steps: Steps[_L, _A, _R], request: LowerRequest, report_pass: Callable[[str], None]
) -> Reply:
    """Load, lower and observe one variant in this process."""
    begun = time.perf_counter()
    loaded: _L | None = None
    files: list[str] = []
    recorder = steps.recorder(report_pass)
    try:
        loaded = steps.load(request, files.extend)
        configs = steps.configs(request, loaded)
        load_seconds = time.perf_counter() - begun
        lowering_began = time.perf_counter()
        artifact = steps.lower(loaded, request.arch, configs, recorder)
        lower_seconds = time.perf_counter() - lowering_began
    except NoDepthParameterError as exc:
        return Rejected(code="no-depth", message=exc.message, hint=exc.hint)
    except Exception as exc:  # noqa: BLE001 - whatever the kernel or the compiler raises is a result
        mistake = steps.mistaken(request, files, exc)
        if mistake is not None:
            return Rejected(code="usage", message=mistake.message, hint=mistake.hint)
        return replies.raised(
            exc,
            request,
            _failed_variant(steps, request, loaded),
            loaded=loaded is not None,
            files=files,
            open_passes=recorder.open_passes,
            notes=steps.notes(loaded) if loaded is not None else (),
        )
    facts_began = time.perf_counter()
    kernel_cu = steps.kernel_cu(artifact)
    variant = replies.variant_of(
        request, steps.compiler, configs, (loaded.params, loaded.stage_param)
    )
    facts = None
    if recorder.unreadable is None:
        with recorder.reading():
            facts = derive_facts(
                steps.observe(loaded, artifact, recorder),
                kernel_cu,
                arch=request.arch,
                num_stages=request.num_stages,
                notes=steps.notes(loaded),
            )
    unreadable = recorder.unreadable
    if facts is None or unreadable is not None:
        assert unreadable is not None  # noqa: S101 - without facts something was raised
        return replies.unreadable(
            unreadable.error,
            request,
            variant,
            files=files,
            pass_name=unreadable.pass_name,
            notes=steps.notes(loaded),
        )
    return Lowered(
        variant=variant,
        facts=facts,
        kernel_cu=kernel_cu,
        snapshots=snapshots.pack(recorder.snapshots),
        times=Times(
            load=load_seconds,
            lower=lower_seconds,
            observe=recorder.observe_seconds,
            facts=time.perf_counter() - facts_began,
            passes=tuple(recorder.times),
        ),
        module_files=loaded.module_files,
    )


def _failed_variant(steps: Steps[_L, _A, _R], request: LowerRequest, loaded: _L | None) -> Variant:
    configs = dict(request.pass_configs)
    with contextlib.suppress(UsageError):
        configs = steps.configs(request, loaded)
    seen = (loaded.params, loaded.stage_param) if loaded is not None else None
    return replies.variant_of(request, steps.compiler, configs, seen)


def device_functions(module: Any) -> list[tuple[str, Any]]:
    """The functions of a module that is all device code, by name; the first is the kernel."""
    return [
        (str(name.name_hint), function)
        for name, function in module.functions.items()
        if isinstance(function, ir.tirx.PrimFunc)
    ]


def observation(
    kernel: SeenKernel,
    others: Sequence[str],
    recorder: PassRecorder[Any],
    history: Followed,
    *,
    other_reference: str | None = None,
) -> Observation:
    """What was read of a kernel, with what was followed in the course of its lowering."""
    return Observation(
        kernel=kernel,
        other_kernels=tuple(others),
        other_reference=other_reference,
        requests=history.requests(),
        buffers=history.buffers(),
        passes=tuple(recorder.passes),
        warnings=compiler_warnings(),
    )
