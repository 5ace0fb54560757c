"""What do CUPTI's activity records say of a kernel, and when are they not believed?"""

from types import SimpleNamespace

import pytest

from stagebench.gpu.driver import DriverError
from stagebench.gpu.kernel_clock import KernelClock, KernelClockError, open_kernel_clock


class CuptiError(Exception):
    """As ``cupti.cupti.cuptiError``."""


class FakeCupti:
    """Hands out records at a flush, as the library does."""

    ActivityKind = SimpleNamespace(CONCURRENT_KERNEL=10, MEMCPY=1)
    cuptiError = CuptiError  # noqa: N815 - the library's name

    def __init__(self, records=(), fails=None):
        self.records = list(records)
        self.fails = fails
        self.enabled = []

    def activity_register_callbacks(self, requested, completed):
        self.requested, self.completed = requested, completed
        self._fail("activity_register_callbacks")

    def activity_enable(self, kind):
        self._fail("activity_enable")
        self.enabled.append(kind)

    def activity_disable(self, kind):
        self.enabled.remove(kind)

    def activity_flush_all(self, flag):
        assert flag == 1
        assert self.requested()[0] > 0
        self._fail("activity_flush_all")
        self.completed(self.records)

    def _fail(self, name):
        if self.fails == name:
            raise CuptiError("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")


def record(start, end, kind=10):
    return SimpleNamespace(kind=kind, start=start, end=end)


def test_durations_in_the_order_of_their_starts():
    """Nanoseconds to microseconds; copies are no kernels; records may come in any order."""
    api = FakeCupti([record(9_000, 11_500), record(0, 99, kind=1), record(1_000, 2_000)])
    assert KernelClock(api).durations_us(lambda: 2) == [1.0, 2.5]
    assert api.enabled == []


@pytest.mark.parametrize(
    ("records", "launches", "said"),
    [
        ([record(1, 2)], 2, "recorded 1 of 2 kernels"),
        ([record(1, 2), record(3, 4)], 1, "recorded 2 of 1 kernels"),
        ([record(5, 5)], 1, "without a start and an end"),
        ([record(0, 0)], 1, "without a start and an end"),
    ],
)
def test_a_count_that_differs_is_an_error(records, launches, said):
    """Never a shorter list, and never a time of 0."""
    clock = KernelClock(FakeCupti(records))
    with pytest.raises(KernelClockError, match=said):
        clock.durations_us(lambda: launches)
    assert clock.broken


@pytest.mark.parametrize("function", ["activity_enable", "activity_flush_all"])
def test_the_librarys_own_error_is_told(function):
    """Another tool that owns CUPTI, say."""
    clock = KernelClock(FakeCupti(fails=function))
    with pytest.raises(KernelClockError, match="MULTIPLE_SUBSCRIBERS"):
        clock.durations_us(lambda: 1)
    assert clock.broken


def test_a_kernels_fault_is_told_before_anything_of_cupti():
    """The driver's error comes out as it is, and recording is off again."""
    api = FakeCupti()

    def faults():
        raise DriverError("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS")

    with pytest.raises(DriverError):
        KernelClock(api).durations_us(faults)
    assert api.enabled == []


def test_without_the_library_there_is_no_clock_and_no_complaint(monkeypatch):
    """It is optional: `stagebench doctor` says what installs it."""
    monkeypatch.setitem(__import__("sys").modules, "cupti.cupti", None)
    assert open_kernel_clock()[0] is None


def test_a_library_that_does_not_load_is_told(monkeypatch):
    """Installed without libcupti: a note, not silence."""

    def broken(_):
        raise RuntimeError("libcupti.so.13: cannot open shared object file")

    monkeypatch.setattr("stagebench.gpu.kernel_clock.importlib.import_module", broken)
    clock, why = open_kernel_clock()
    assert clock is None
    assert "libcupti.so.13" in why
