"""What does one process keep open on the device while it runs variants?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle
from stagebench.gpu.device import read_device, runs_on
from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.kernel_clock import KernelClock, open_kernel_clock
from stagebench.gpu.poison import Poison, load_poison
from stagebench.gpu.records import Device


@dataclass(frozen=True)
class Session:
    """The primary context, one stream, the kernel that poisons shared memory, CUPTI.

    ``poison`` is ``None`` where it could not be loaded, and ``notes`` say why; ``kernel_clock`` is
    ``None`` without `cupti-python`.
    """

    driver: Driver
    device: Device
    stream: Any
    poison: Poison | None
    kernel_clock: KernelClock | None
    notes: tuple[str, ...]


def open_session(
    driver: Driver,
    opened: OpenBundle,
    find_clock: Callable[[], tuple[KernelClock | None, str | None]] = open_kernel_clock,
) -> Session:
    """Make the primary context of device 0 current; raises `DriverError`."""
    clock, silent = find_clock()  # before there is a context: CUPTI sees what is made after it
    handle = driver.call("cuDeviceGet", 0)
    context = driver.call("cuDevicePrimaryCtxRetain", handle)
    driver.call("cuCtxSetCurrent", context)
    stream = driver.call("cuStreamCreate", driver.api.CUstream_flags.CU_STREAM_NON_BLOCKING)
    device = read_device(driver)
    notes: tuple[str, ...] = () if silent is None else (silent,)
    poison = None
    try:
        poison = load_poison(driver, device, stream, _filler(opened, device))
    except (DriverError, BundleError) as exc:
        notes += (f"shared memory is not poisoned before each run: {exc}",)
    return Session(driver, device, stream, poison, clock, notes)


def _filler(opened: OpenBundle, device: Device) -> bytes | None:
    for arch, file in opened.bundle.poison.items():
        if runs_on(arch, device.compute_capability):
            return opened.load(file)
    return None
