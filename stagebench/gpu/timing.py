"""How long does one launch take?  Timed one by one, after a warm-up, over cold inputs.

Consecutive launches go round several sets of the kernel's tensors, together larger than twice the
L2 cache, so that no launch finds its inputs there.  Device events are there on every host, and a
pair costs about a microsecond of its own, the same for every build; CUPTI's times are the kernel's.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

from stagebench.gpu.driver import Driver
from stagebench.gpu.kernel_clock import KernelClock
from stagebench.gpu.records import Device

MAX_SETS = 64
_L2_FACTOR = 2
_TURN = 10
_REST_SECONDS = 0.03


def sets_needed(bytes_per_set: int, device: Device, free_bytes: int) -> int:
    """How many sets of tensors to go round: at least one more than the L2 cache can hold twice.

    No more than `MAX_SETS`, nor than half of the free memory holds.
    """
    size = max(1, bytes_per_set)
    wanted = 1 + -(-_L2_FACTOR * device.l2_bytes // size)
    return max(1, min(wanted, MAX_SETS, free_bytes // 2 // size))


Launches = Sequence[Callable[[], None]]
"""What launches a build, once for each set of its tensors."""
Turn = Callable[[Sequence[Callable[[], None]]], list[float]]
"""Makes these launches; the first is not timed, the times of the others in microseconds."""


def time_in_turns(builds: Sequence[tuple[Turn, Launches]], runs: int) -> list[list[float]]:
    """The time of each of ``runs`` launches of every build in microseconds.

    The builds take turns, a few launches each, so that a clock that drifts with heat is no
    difference between them; the launches of a build go round its sets of tensors.  Between turns
    the device rests, so that its power limit does not lower the clock half-way (on a Hopper GPU
    300 launches of a GEMM in a row ended 8 % slower than they began); before each turn one launch
    is not timed.
    """
    times: list[list[float]] = [[] for _ in builds]
    endless = [(turn, itertools.cycle(launches)) for turn, launches in builds]
    while any(len(found) < runs for found in times):
        for (turn, launches), found in zip(endless, times, strict=True):
            size = min(_TURN, runs - len(found))
            time.sleep(_REST_SECONDS)
            found.extend(turn(list(itertools.islice(launches, size + 1))))
    return times


def event_turn(driver: Driver, stream: Any) -> Turn:  # noqa: ANN401 - a handle of the bindings
    """Device events around each launch."""

    def turn(launches: Launches) -> list[float]:
        return _between_events(driver, stream, launches)

    return turn


def kernel_clock_turn(driver: Driver, stream: Any, clock: KernelClock) -> Turn:  # noqa: ANN401
    """The kernels' own times, by CUPTI; raises `KernelClockError`."""

    def turn(launches: Launches) -> list[float]:
        def work() -> int:
            for launch in launches:
                launch()
            driver.call("cuStreamSynchronize", stream)
            return len(launches)

        return clock.durations_us(work)[1:]

    return turn


def _between_events(
    driver: Driver,
    stream: Any,  # noqa: ANN401 - a handle of the bindings
    launches: Launches,
) -> list[float]:
    api = driver.api
    flag = api.CUevent_flags.CU_EVENT_DEFAULT
    first, *timed = launches
    events = [
        (driver.call("cuEventCreate", flag), driver.call("cuEventCreate", flag)) for _ in timed
    ]
    try:
        first()
        for launch, (begin, end) in zip(timed, events, strict=True):
            driver.call("cuEventRecord", begin, stream)
            launch()
            driver.call("cuEventRecord", end, stream)
        driver.call("cuStreamSynchronize", stream)
        return [1e3 * float(driver.call("cuEventElapsedTime", *pair)) for pair in events]
    finally:
        for event in itertools.chain.from_iterable(events):
            api.cuEventDestroy(event)  # after a fault this fails too: the fault is what is told
