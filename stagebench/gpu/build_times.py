"""How long does each build of a variant take?  The builds take turns; CUPTI's times come after.

By events first: activity records would disturb them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from stagebench.bundle.records import CubinKind
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.driver import DriverError
from stagebench.gpu.kernel_clock import KernelClockError
from stagebench.gpu.memory import Memory
from stagebench.gpu.records import OUT_OF_MEMORY, BuildRun
from stagebench.gpu.run_request import RunOptions
from stagebench.gpu.session import Session
from stagebench.gpu.statistics import measurement
from stagebench.gpu.tensors import DeviceTensors, HostTensor
from stagebench.gpu.timing import (
    Launches,
    Turn,
    event_turn,
    kernel_clock_turn,
    sets_needed,
    time_in_turns,
)


@dataclass(frozen=True)
class BuildTimes:
    """The times of builds that have run before; ``notes`` say what could not be measured."""

    session: Session
    memory: Memory
    tensors: Sequence[HostTensor]
    sets: list[DeviceTensors]
    options: RunOptions
    announcer: Announcer
    notes: list[str]

    def by_events(
        self,
        builds: Sequence[BuildRun],
        launcher: Callable[[CubinKind, DeviceTensors], Callable[[], None]],
    ) -> tuple[list[BuildRun], dict[CubinKind, Launches]]:
        """Each build with its time between events, and the launches that were timed."""
        self._make_sets()
        launches: dict[CubinKind, Launches] = {
            build.kind: [launcher(build.kind, tensors) for tensors in self.sets] for build in builds
        }
        driver = self.session.driver
        driver.call("cuCtxSynchronize")
        turn = event_turn(driver, self.session.stream)
        times = self._timed(turn, launches, self.options.warmup)
        rotation = len(self.sets)
        timed = [
            msgspec.structs.replace(
                build,
                time=measurement(found),
                min_us=min(found),
                rotation=rotation,
                rotation_bytes=rotation * self._set_bytes(),
            )
            for build, found in zip(builds, times, strict=True)
        ]
        return timed, launches

    def by_kernel_clock(
        self, builds: Sequence[BuildRun], launches: dict[CubinKind, Launches]
    ) -> list[BuildRun]:
        """Each build with the kernel's own time too, where CUPTI is there."""
        clock = self.session.kernel_clock
        if clock is None or clock.broken:
            return list(builds)
        turn = kernel_clock_turn(self.session.driver, self.session.stream, clock)
        try:
            times = self._timed(turn, launches, 0)
        except KernelClockError as exc:
            self.notes.append(f"no times from CUPTI: {exc}")
            return list(builds)
        return [
            msgspec.structs.replace(build, device_time=measurement(found))
            for build, found in zip(builds, times, strict=True)
        ]

    def _timed(
        self, turn: Turn, launches: dict[CubinKind, Launches], warmup: int
    ) -> list[list[float]]:
        """A turn, and each warm-up, is a build's launches that are waited for."""

        def of(kind: CubinKind) -> Turn:
            def watched(batch: Launches) -> list[float]:
                with self.announcer.launches(kind, len(batch)):
                    return turn(batch)

            return watched

        for kind, own in launches.items() if warmup else ():
            with self.announcer.launches(kind, warmup):
                for index in range(warmup):
                    own[index % len(own)]()
                self.session.driver.call("cuStreamSynchronize", self.session.stream)
        pairs = [(of(kind), own) for kind, own in launches.items()]
        return time_in_turns(pairs, self.options.runs)

    def _make_sets(self) -> None:
        """More sets of the tensors, the same in each, until they are larger than the L2 cache."""
        free, _ = self.session.driver.call("cuMemGetInfo")
        wanted = sets_needed(self._set_bytes(), self.session.device, int(free))
        while len(self.sets) < wanted:
            try:
                self.sets.append(DeviceTensors(self.memory, list(self.tensors)))
            except DriverError as exc:
                if exc.name != OUT_OF_MEMORY:
                    raise
                self.notes.append(f"timed with {len(self.sets)} of {wanted} sets of inputs: {exc}")
                return

    def _set_bytes(self) -> int:
        return sum(one.bytes for one in self.tensors)
