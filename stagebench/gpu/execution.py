"""What does one variant compute, and how long do its builds take?  On an open device.

The base build runs first, several times, on the same inputs; control and probed builds then run on
the same inputs and are held against it bit by bit; only then is anything timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle
from stagebench.bundle.records import CUBIN_KINDS, BundledVariant, CubinKind
from stagebench.dump.atomic_file import write_file
from stagebench.gpu import tensor_map
from stagebench.gpu.correctness import compare
from stagebench.gpu.device import runs_on
from stagebench.gpu.driver import DriverError
from stagebench.gpu.dtypes import Raw, UnknownDtypeError, dtype_of
from stagebench.gpu.judging import Judge
from stagebench.gpu.kernel_clock import KernelClockError
from stagebench.gpu.launch import (
    LoadedKernel,
    launch_config,
    load_kernel,
    pack_arguments,
    start,
    unload_kernel,
)
from stagebench.gpu.memory import Memory
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.probe_buffer import ProbeBuffer, ProbeError
from stagebench.gpu.records import BuildRun, ProfiledVariant, RunError, Verdict
from stagebench.gpu.results import not_run, profiled
from stagebench.gpu.run_request import RunRequest
from stagebench.gpu.saved_outputs import save_outputs
from stagebench.gpu.session import Session
from stagebench.gpu.statistics import measurement
from stagebench.gpu.tensors import DeviceTensors, HostTensor, host_tensors
from stagebench.gpu.timing import event_turn, kernel_clock_turn, sets_needed, time_in_turns

_EVICTING = 2
"""How many times the L2 cache is written over."""


@dataclass(frozen=True)
class Ended:
    """A variant's result; ``lost``: the context is gone with it."""

    result: ProfiledVariant
    lost: bool


@dataclass(frozen=True)
class _Prepared:
    """A build that ran once on the inputs; ``same``: with base's bits (``None``: it is base)."""

    kind: CubinKind
    kernel: LoadedKernel
    buffer: ProbeBuffer | None
    same: bool | None


def run_variant(
    session: Session, opened: OpenBundle, store: OutputStore, request: RunRequest
) -> Ended:
    """Run one variant; whatever goes wrong with it is in the result."""
    variant = opened.variant(request.id)
    capability = session.device.compute_capability
    if not runs_on(variant.cubin_arch, capability):
        mine = f"{capability[0]}.{capability[1]}"
        message = f"assembled for {variant.cubin_arch}, this device has compute capability {mine}"
        hint = f"bundle it with --device-arch sm_{capability[0]}{capability[1]}"
        error = RunError(name="another_arch", message=f"{message}: {hint}")
        return Ended(not_run(variant, "not_compared", error), lost=False)
    try:
        tensors = host_tensors(opened, variant, request.options.seed)
        cubins = {kind: opened.load(file) for kind, file in variant.cubins.items()}
        probe = None if variant.probe is None else opened.load(variant.probe)
    except BundleError as exc:
        return Ended(_refused(variant, "bundle", exc.message), lost=False)
    except UnknownDtypeError as exc:
        return Ended(_refused(variant, "unknown_dtype", str(exc)), lost=False)
    try:
        with Memory(session.driver) as memory:
            running = _Running(session, opened, store, request, variant, tensors, memory)
            return Ended(running.all(cubins, probe), lost=False)
    except DriverError as exc:
        full = exc.name == "CUDA_ERROR_OUT_OF_MEMORY"
        verdict: Verdict = "not_compared" if full else "fails"
        error = RunError(name=exc.name, message=str(exc))
        return Ended(not_run(variant, verdict, error), lost=exc.sticky)


def _refused(variant: BundledVariant, name: str, message: str) -> ProfiledVariant:
    return not_run(variant, "not_compared", RunError(name=name, message=message))


class _Running:
    """One variant with its memory."""

    def __init__(
        self,
        session: Session,
        opened: OpenBundle,
        store: OutputStore,
        request: RunRequest,
        variant: BundledVariant,
        tensors: list[HostTensor],
        memory: Memory,
    ) -> None:
        self._session = session
        self._driver = session.driver
        self._opened = opened
        self._store = store
        self._request = request
        self._variant = variant
        self._tensors = tensors
        self._memory = memory
        self._sets = [DeviceTensors(memory, tensors)]
        self._evicting: int | None = None
        self._notes: list[str] = []

    def all(self, cubins: dict[CubinKind, bytes], probe: bytes | None) -> ProfiledVariant:
        """Correctness of base, then the other builds, then times."""
        base = load_kernel(self._driver, cubins["base"], self._variant.launch)
        first, buffers, differing = self._repeat(base)
        outputs = self._save(first, buffers)
        self._store.keep(self._variant.id, first)
        judge = Judge(
            self._opened,
            self._store,
            self._request,
            self._variant,
            self._tensors,
            smem_poisoned=self._session.poison is not None,
        )
        correctness = judge.judge(first, differing)
        prepared = [_Prepared("base", base, None, None)]
        failed: dict[CubinKind, BuildRun] = {}
        for kind in CUBIN_KINDS[1:]:
            if kind not in cubins or not self._request.options.probes:
                continue
            try:
                prepared.append(self._prepare(kind, cubins[kind], first, probe))
            except ProbeError as exc:
                failed[kind] = _failed_build(kind, "probe", str(exc))
            except DriverError as exc:
                if exc.sticky:
                    raise
                failed[kind] = _failed_build(kind, exc.name, str(exc))
        runs = {build.kind: build for build in self._timed(prepared)} | failed
        probe_file = self._save_probes(prepared)
        for one in prepared:
            unload_kernel(self._driver, one.kernel)
        builds = tuple(runs[kind] for kind in CUBIN_KINDS if kind in runs)
        return profiled(self._variant, correctness, builds, probe_file, outputs, tuple(self._notes))

    def _repeat(self, kernel: LoadedKernel) -> tuple[dict[str, Raw], dict[str, Raw], int]:
        """What the first run wrote, also to profilers, and how many others had other bits."""
        first = self._once(kernel)
        buffers = self._sets[0].profiler_buffers()
        differing = 0
        for index in range(self._request.options.repeats - 1):
            again = self._once(kernel, cold=index % 2 == 0)
            differing += any(self._moved(one, first, again) for one in self._tensors if one.written)
        return first, buffers, differing

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

    def _once(self, kernel: LoadedKernel, *, cold: bool = False) -> dict[str, Raw]:
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

    def _prepare(
        self, kind: CubinKind, cubin: bytes, first: dict[str, Raw], probe: bytes | None
    ) -> _Prepared:
        """A control or probed build: same inputs, same bits?"""
        kernel = load_kernel(self._driver, cubin, self._variant.launch)
        buffer = None
        if kind == "probed":
            if probe is None:
                raise ProbeError("the bundle has no probe metadata for it")
            buffer = ProbeBuffer(self._driver, self._memory, kernel, probe)
        outputs = self._once(kernel)
        same = all(np.array_equal(first[name], outputs[name]) for name in first)
        return _Prepared(kind, kernel, buffer, same)

    def _save_probes(self, prepared: list[_Prepared]) -> str | None:
        """Write what the probed build records in one run of its own; the file's name."""
        for one in prepared:
            if one.buffer is not None and self._request.probe_file is not None:
                one.buffer.clear()
                self._once(one.kernel)
                write_file(Path(self._request.probe_file), one.buffer.contents().tobytes())
                return Path(self._request.probe_file).name
        return None

    def _timed(self, prepared: list[_Prepared]) -> list[BuildRun]:
        """Every build's time, the builds taking turns; by CUPTI too where it is there."""
        plain = [_untimed(one) for one in prepared]
        options = self._request.options
        if options.runs == 0:
            return plain
        self._make_sets()
        for one in prepared:
            if one.buffer is not None:
                one.buffer.clear()
        launches = [
            [self._launcher(one.kernel, tensors) for tensors in self._sets] for one in prepared
        ]
        self._driver.call("cuCtxSynchronize")
        turn = event_turn(self._driver, self._session.stream)
        times = time_in_turns(turn, launches, options.warmup, options.runs)
        rotation = len(self._sets)
        return [
            msgspec.structs.replace(
                build,
                time=measurement(found),
                min_us=min(found),
                device_time=None if own is None else measurement(own),
                rotation=rotation,
                rotation_bytes=rotation * self._set_bytes(),
            )
            for build, found, own in zip(plain, times, self._device_times(launches), strict=True)
        ]

    def _device_times(self, launches: list[list[Callable[[], None]]]) -> list[list[float] | None]:
        """The kernels' own times, after those by events: activity records would disturb them."""
        clock, options = self._session.kernel_clock, self._request.options
        if clock is None or clock.broken:
            return [None] * len(launches)
        turn = kernel_clock_turn(self._driver, self._session.stream, clock)
        try:
            return list(time_in_turns(turn, launches, 0, options.runs))
        except KernelClockError as exc:
            self._notes.append(f"no times from CUPTI: {exc}")
            return [None] * len(launches)

    def _make_sets(self) -> None:
        """More sets of the tensors, the same in each, until they are larger than the L2 cache."""
        free, _ = self._driver.call("cuMemGetInfo")
        wanted = sets_needed(self._set_bytes(), self._session.device, int(free))
        while len(self._sets) < wanted:
            self._sets.append(DeviceTensors(self._memory, self._tensors))

    def _set_bytes(self) -> int:
        return sum(one.bytes for one in self._tensors)


def _untimed(one: _Prepared) -> BuildRun:
    return BuildRun(
        kind=one.kind,
        registers=one.kernel.registers,
        local_bytes=one.kernel.local_bytes,
        static_smem_bytes=one.kernel.static_smem_bytes,
        same_as_base=one.same,
        time=None,
        min_us=None,
        rotation=None,
        rotation_bytes=None,
        error=None,
    )


def _failed_build(kind: CubinKind, name: str, message: str) -> BuildRun:
    return BuildRun(
        kind=kind,
        registers=None,
        local_bytes=None,
        static_smem_bytes=None,
        same_as_base=None,
        time=None,
        min_us=None,
        rotation=None,
        rotation_bytes=None,
        error=RunError(name=name, message=message),
    )
