"""How long does one launch take?  Device events around each, after a warm-up, over cold inputs.

Consecutive launches go round several sets of the kernel's tensors, together larger than twice the
L2 cache, so that no launch finds its inputs there.  An event pair costs about a microsecond of its
own, the same for every build.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from stagebench.gpu.driver import Driver
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


def time_in_turns(
    driver: Driver,
    stream: Any,  # noqa: ANN401 - a handle of the bindings
    builds: Sequence[Sequence[Callable[[], None]]],
    warmup: int,
    runs: int,
) -> list[list[float]]:
    """The time of each of ``runs`` launches of every build in microseconds.

    The builds take turns, a few launches each, so that a clock that drifts with heat is no
    difference between them; the launches of a build go round its sets of tensors.  Between turns
    the device rests, so that its power limit does not lower the clock half-way (on a Hopper GPU
    300 launches of a GEMM in a row ended 8 % slower than they began); before each turn one launch
    is not timed.
    """
    times: list[list[float]] = [[] for _ in builds]
    placed = [0] * len(builds)
    for build, launches in enumerate(builds):
        for _ in range(warmup):
            launches[placed[build] % len(launches)]()
            placed[build] += 1
    while any(len(found) < runs for found in times):
        for build, launches in enumerate(builds):
            turn = min(_TURN, runs - len(times[build]))
            time.sleep(_REST_SECONDS)
            times[build] += _timed_turn(driver, stream, launches, placed[build], turn)
            placed[build] += turn + 1
    return times


def _timed_turn(
    driver: Driver,
    stream: Any,  # noqa: ANN401 - a handle of the bindings
    launches: Sequence[Callable[[], None]],
    start: int,
    runs: int,
) -> list[float]:
    api = driver.api
    flag = api.CUevent_flags.CU_EVENT_DEFAULT
    events = [driver.call("cuEventCreate", flag) for _ in range(runs + runs)]
    try:
        launches[start % len(launches)]()
        for index in range(runs):
            driver.call("cuEventRecord", events[2 * index], stream)
            launches[(start + 1 + index) % len(launches)]()
            driver.call("cuEventRecord", events[2 * index + 1], stream)
        driver.call("cuStreamSynchronize", stream)
        return [
            1e3 * float(driver.call("cuEventElapsedTime", events[2 * i], events[2 * i + 1]))
            for i in range(runs)
        ]
    finally:
        for event in events:
            api.cuEventDestroy(event)  # after a fault this fails too: the fault is what is told
