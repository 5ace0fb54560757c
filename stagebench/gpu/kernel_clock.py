"""How long was a kernel on the device?  CUPTI's activity records, where `cupti-python` is there.

Events around a launch also time the launch (about two microseconds on a Hopper GPU); an activity
record has the device's own timestamps of the kernel alone.  Records are collected a turn at a time
and only counted when there are exactly as many as launches: fewer (another tool owns CUPTI, a
container without its permissions) is an error with a name, never a shorter list.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

_BUFFER_BYTES = 1 << 20
_FORCED = 1
"""``CUPTI_ACTIVITY_FLAG_FLUSH_FORCED``."""
DISTRIBUTION = "cupti-python"


class KernelClockError(Exception):
    """CUPTI is there and does not say how long the kernels took."""


class KernelClock:
    """``api`` is ``cupti.cupti`` or, in tests, something with the same functions.

    After an error it is ``broken``, and not worth asking again.
    """

    def __init__(self, api: Any) -> None:  # noqa: ANN401 - generated bindings without types
        self._api = api
        self._records: list[tuple[int, int]] = []
        self.broken = False
        self._kind = api.ActivityKind.CONCURRENT_KERNEL
        try:
            api.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._completed)
        except Exception as exc:  # a missing libcupti shows at the first call, in kinds of its own
            raise KernelClockError(f"CUPTI takes no callbacks: {exc}") from exc

    def _completed(self, activities: list[Any]) -> None:
        self._records += [
            (int(one.start), int(one.end)) for one in activities if one.kind == self._kind
        ]

    def durations_us(self, work: Callable[[], int]) -> list[float]:
        """The kernels that ``work`` launches and waits for, in the order in which they started.

        ``work`` returns how many launches it made; raises `KernelClockError` where there are not as
        many records, or one without time.
        """
        self._records = []
        try:
            self._api.activity_enable(self._kind)
            launches = self._recorded(work)
            self._api.activity_flush_all(_FORCED)
            self._api.activity_disable(self._kind)
        except self._api.cuptiError as exc:
            raise self._error(f"CUPTI: {exc}") from exc
        found = sorted(self._records)
        if len(found) != launches:
            raise self._error(f"CUPTI recorded {len(found)} of {launches} kernels")
        if any(end <= start for start, end in found):
            raise self._error("CUPTI recorded a kernel without a start and an end")
        return [1e-3 * (end - start) for start, end in found]

    def _error(self, message: str) -> KernelClockError:
        self.broken = True
        return KernelClockError(message)

    def _recorded(self, work: Callable[[], int]) -> int:
        """Do it; what goes wrong with the kernel is told before what CUPTI thinks of it."""
        try:
            return work()
        except BaseException:
            with contextlib.suppress(self._api.cuptiError):
                self._api.activity_disable(self._kind)
            raise


def open_kernel_clock() -> tuple[KernelClock | None, str | None]:
    """The clock, or ``None`` and why it is not there; a host without `cupti-python` has no why."""
    try:
        api = importlib.import_module("cupti.cupti")
    except ModuleNotFoundError:
        return None, None
    except (ImportError, OSError, RuntimeError) as exc:
        return None, f"no times from CUPTI: {DISTRIBUTION} does not import: {exc}"
    try:
        return KernelClock(api), None
    except KernelClockError as exc:
        return None, f"no times from CUPTI: {exc}"
