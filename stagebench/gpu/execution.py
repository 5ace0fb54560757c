"""What does one variant compute, and how long do its builds take?  On an open device.

The base build runs first, several times, on the same inputs, and is judged; control and probed
builds then run on the same inputs and are held against it bit by bit; only then is anything timed.
What goes wrong with a control or probed build is that build's, and never the kernel's verdict.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle
from stagebench.bundle.records import CUBIN_KINDS, BundledVariant, CubinKind
from stagebench.dump.atomic_file import write_file
from stagebench.gpu import tensor_map
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.build_error import BuildError, of_build, run_error
from stagebench.gpu.build_times import BuildTimes
from stagebench.gpu.correctness import compare
from stagebench.gpu.device import runs_on
from stagebench.gpu.driver import DriverError
from stagebench.gpu.dtypes import Raw, UnknownDtypeError, dtype_of
from stagebench.gpu.judging import Judge
from stagebench.gpu.launch import (
    LoadedKernel,
    launch_config,
    pack_arguments,
    start,
)
from stagebench.gpu.loaded_kernels import LoadedKernels
from stagebench.gpu.memory import Memory
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.probe_buffer import ProbeBuffer, ProbeError
from stagebench.gpu.records import BuildRun, Correctness, ProfiledVariant, RunError
from stagebench.gpu.results import ended, not_run, profiled, with_failed
from stagebench.gpu.run_request import RunRequest
from stagebench.gpu.saved_outputs import save_outputs
from stagebench.gpu.session import Session
from stagebench.gpu.tensors import DeviceTensors, HostTensor, host_tensors

_EVICTING = 2
"""How many times the L2 cache is written over."""


@dataclass(frozen=True)
class _Build:
    """A build that ran once on the inputs."""

    kernel: LoadedKernel
    buffer: ProbeBuffer | None
    run: BuildRun


def run_variant(
    session: Session,
    opened: OpenBundle,
    store: OutputStore,
    request: RunRequest,
    announcer: Announcer,
) -> ProfiledVariant:
    """Run one variant; whatever goes wrong with it is in the result.

    Raises `DriverError` where the context is lost with it.
    """
    variant = opened.variant(request.id)
    capability = session.device.compute_capability
    if not runs_on(variant.cubin_arch, capability):
        mine = f"{capability[0]}.{capability[1]}"
        message = f"assembled for {variant.cubin_arch}, this device has compute capability {mine}"
        hint = f"bundle it with --device-arch sm_{capability[0]}{capability[1]}"
        return _refused(variant, "another_arch", f"{message}: {hint}")
    try:
        tensors = host_tensors(opened, variant, request.options.seed)
        base = opened.load(variant.cubins["base"])
    except BundleError as exc:
        return _refused(variant, "bundle", exc.message)
    except UnknownDtypeError as exc:
        return _refused(variant, "unknown_dtype", str(exc))
    try:
        with Memory(session.driver) as memory, LoadedKernels(session.driver) as kernels:
            running = _Running(
                session, opened, store, request, tensors, memory, announcer, kernels=kernels
            )
            return running.all(base)
    except DriverError as exc:
        if exc.sticky:
            raise
        return ended(variant, announcer.latest, run_error(exc))


def _refused(variant: BundledVariant, name: str, message: str) -> ProfiledVariant:
    return not_run(variant, "not_run", RunError(name=name, message=message))


class _Running:
    """One variant with its memory."""

    def __init__(
        self,
        session: Session,
        opened: OpenBundle,
        store: OutputStore,
        request: RunRequest,
        tensors: list[HostTensor],
        memory: Memory,
        announcer: Announcer,
        *,
        kernels: LoadedKernels,
    ) -> None:
        self._session = session
        self._driver = session.driver
        self._opened = opened
        self._store = store
        self._request = request
        self._variant = opened.variant(request.id)
        self._tensors = tensors
        self._memory = memory
        self._kernels = kernels
        self._announcer = announcer
        self._sets = [DeviceTensors(memory, tensors)]
        self._evicting: int | None = None
        self._notes: list[str] = []
        self._failed: dict[CubinKind, RunError] = {}

    def all(self, cubin: bytes) -> ProfiledVariant:
        """Correctness of base, then the other builds, then times; told after each."""
        with of_build("base"):
            base = self._kernels.load(cubin, self._variant.launch)
            first, buffers, differing = self._repeat(base)
        outputs = self._save(first, buffers)
        self._store.keep(self._variant.id, first)
        correctness = self._judge(first, differing)
        builds: dict[CubinKind, _Build] = {
            "base": _Build(base, None, _untimed("base", base, same=None))
        }

        def result(probe_file: str | None = None) -> ProfiledVariant:
            runs = tuple(build.run for build in builds.values())
            found = profiled(
                self._variant, correctness, runs, probe_file, outputs, tuple(self._notes)
            )
            return with_failed(found, self._failed)

        self._announcer.found(result())
        for kind in CUBIN_KINDS[1:]:
            if self._wanted(kind):
                with self._of_its_own(kind):
                    builds[kind] = self._prepare(kind, first, steady=not differing)
        self._announcer.found(result())
        if self._request.options.runs:
            self._time(builds, lambda: self._announcer.found(result()))
        probe_file = None
        if "probed" in builds:
            with self._of_its_own("probed"):
                probe_file = self._save_probes(builds["probed"])
        return result(probe_file)

    def _wanted(self, kind: CubinKind) -> bool:
        known = kind in self._variant.cubins and kind not in self._request.without
        return known and self._request.options.probes

    @contextlib.contextmanager
    def _of_its_own(self, kind: CubinKind) -> Iterator[None]:
        """What goes wrong inside with a build for probes loses that build alone."""
        try:
            with of_build(kind):
                yield
        except (BundleError, ProbeError) as exc:
            name = "probe" if isinstance(exc, ProbeError) else "bundle"
            self._failed[kind] = RunError(name=name, message=str(exc), build=kind)
        except BuildError as exc:
            if exc.sticky:
                raise
            self._failed[kind] = run_error(exc)

    def _judge(self, first: dict[str, Raw], differing: int) -> Correctness:
        judge = Judge(
            self._opened,
            self._store,
            self._request,
            self._variant,
            self._tensors,
            smem_poisoned=self._session.poison is not None,
        )
        return judge.judge(first, differing)

    def _repeat(self, kernel: LoadedKernel) -> tuple[dict[str, Raw], dict[str, Raw], int]:
        """What the first run wrote, also to profilers, and how many others had other bits."""
        first = self._once("base", kernel)
        buffers = self._sets[0].profiler_buffers()
        differing = 0
        for index in range(self._request.options.repeats - 1):
            again = self._once("base", kernel, cold=index % 2 == 0)
            differing += self._differs(first, again)
        return first, buffers, differing

    def _differs(self, first: dict[str, Raw], again: dict[str, Raw]) -> bool:
        return any(self._moved(one, first, again) for one in self._tensors if one.written)

    def _save(self, first: dict[str, Raw], buffers: dict[str, Raw]) -> tuple[str, ...]:
        """Keep the profiler's buffers, and the outputs if they were asked for."""
        folder, options = self._request.outputs_folder, self._request.options
        if folder is None:
            return ()
        kept = {**first, **buffers} if options.save_outputs else buffers
        return save_outputs(Path(folder), self._variant, self._tensors, kept)

    @staticmethod
    def _moved(one: HostTensor, first: dict[str, Raw], again: dict[str, Raw]) -> bool:
        """Has an output other bits than in the first run?

        What is read and written may be added to atomically, in any order: there, rounding is no
        difference.
        """
        name, dtype = one.tensor.name, dtype_of(one.tensor.dtype)
        if one.tensor.role == "inout":
            return not compare(name, dtype, first[name], again[name]).agrees
        return not np.array_equal(first[name], again[name])

    def _once(self, kind: CubinKind, kernel: LoadedKernel, *, cold: bool = False) -> dict[str, Raw]:
        """One run over poisoned outputs and shared memory.

        ``cold``: the inputs are not in the L2 cache, so that copies arrive late, which a missing
        wait needs to be seen.
        """
        tensors = self._sets[0]
        tensors.reset()
        if cold:
            self._evict()
        launch = self._launcher(kernel, tensors)
        self._driver.call("cuCtxSynchronize")
        with self._announcer.launches(kind):
            if self._session.poison is not None:
                self._session.poison()
            launch()
            self._driver.call("cuStreamSynchronize", self._session.stream)
        return tensors.outputs()

    def _evict(self) -> None:
        """Write more than the L2 cache holds."""
        size = _EVICTING * self._session.device.l2_bytes
        if self._evicting is None:
            self._evicting = self._memory.allocate(size)
        self._memory.fill(self._evicting, 0, size)

    def _launcher(self, kernel: LoadedKernel, tensors: DeviceTensors) -> Callable[[], None]:
        launch = self._variant.launch
        arguments = pack_arguments(
            launch,
            tensors.pointers,
            {scalar.name: scalar.value for scalar in self._variant.scalars},
            lambda descriptor, address: tensor_map.encode(self._driver, descriptor, address),
        )
        config: Any = launch_config(self._driver, launch, self._session.stream)
        return lambda: start(self._driver, kernel, config, arguments)

    def _prepare(self, kind: CubinKind, first: dict[str, Raw], *, steady: bool) -> _Build:
        """A control or probed build: same inputs, same bits?  Not asked where base's own move."""
        cubin = self._opened.load(self._variant.cubins[kind])
        kernel = self._kernels.load(cubin, self._variant.launch)
        buffer = None
        if kind == "probed":
            if self._variant.probe is None:
                raise ProbeError("the bundle has no probe metadata for it")
            probe = self._opened.load(self._variant.probe)
            buffer = ProbeBuffer(self._driver, self._memory, kernel, probe)
        outputs = self._once(kind, kernel)
        same = not self._differs(first, outputs) if steady else None
        return _Build(kernel, buffer, _untimed(kind, kernel, same=same))

    def _save_probes(self, probed: _Build) -> str | None:
        """Write what the probed build records in one run of its own; the file's name."""
        file = self._request.probe_file
        if probed.buffer is None or file is None or probed.run.problem is not None:
            return None
        probed.buffer.clear()
        self._once("probed", probed.kernel)
        write_file(Path(file), probed.buffer.contents().tobytes())
        return Path(file).name

    def _time(self, builds: dict[CubinKind, _Build], tell: Callable[[], None]) -> None:
        """Put the times into the sound ``builds``; one that can't be timed is left out of them."""
        times = BuildTimes(
            self._session, self._memory, self._tensors, self._sets, self._request.options,
            self._announcer, self._notes,
        )  # fmt: skip

        def keep(runs: list[BuildRun]) -> list[BuildRun]:
            for run in runs:
                builds[run.kind] = replace(builds[run.kind], run=run)
            tell()
            return runs

        for one in builds.values():
            if one.buffer is not None:
                one.buffer.clear()
        while True:
            sound = [one.run for one in builds.values() if one.run.problem is None]
            try:
                timed, launches = times.by_events(
                    sound, lambda kind, tensors: self._launcher(builds[kind].kernel, tensors)
                )
                keep(times.by_kernel_clock(keep(timed), launches))
            except BuildError as exc:
                if exc.sticky or exc.build == "base":
                    raise
                self._failed[exc.build] = run_error(exc)
                del builds[exc.build]
                continue
            return


def _untimed(kind: CubinKind, kernel: LoadedKernel, *, same: bool | None) -> BuildRun:
    return BuildRun.untimed(
        kind,
        registers=kernel.registers,
        local_bytes=kernel.local_bytes,
        static_smem_bytes=kernel.static_smem_bytes,
        same_as_base=same,
    )
