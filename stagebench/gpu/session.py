"""What does one process keep open on the device while it runs variants?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle
from stagebench.gpu.device import read_device, runs_on
from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.poison import Poison, load_poison
from stagebench.gpu.records import Device


@dataclass(frozen=True)
class Session:
    """The primary context, one stream, and the kernel that poisons shared memory.

    ``poison`` is ``None`` where it could not be loaded, and ``notes`` say why.
    """

    driver: Driver
    device: Device
    stream: Any
    poison: Poison | None
    notes: tuple[str, ...]


def open_session(driver: Driver, opened: OpenBundle) -> Session:
    """Make the primary context of device 0 current; raises `DriverError`."""
    handle = driver.call("cuDeviceGet", 0)
    context = driver.call("cuDevicePrimaryCtxRetain", handle)
    driver.call("cuCtxSetCurrent", context)
    stream = driver.call("cuStreamCreate", driver.api.CUstream_flags.CU_STREAM_NON_BLOCKING)
    device = read_device(driver)
    notes: tuple[str, ...] = ()
    poison = None
    try:
        poison = load_poison(driver, device, stream, _filler(opened, device))
    except (DriverError, BundleError) as exc:
        notes = (f"shared memory is not poisoned before each run: {exc}",)
    return Session(driver, device, stream, poison, notes)


def _filler(opened: OpenBundle, device: Device) -> bytes | None:
    for arch, file in opened.bundle.poison.items():
        if runs_on(arch, device.compute_capability):
            return opened.load(file)
    return None
