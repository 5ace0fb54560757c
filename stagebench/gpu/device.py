"""Which device is this, and may a cubin run on it?"""

from __future__ import annotations

import re
from typing import Any

from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.records import Device

_ARCH = re.compile(r"sm_(\d+)(\d)([af]?)")
_NAME_BYTES = 256


def read_device(driver: Driver, ordinal: int = 0) -> Device:
    """What the driver says of a device; nothing is set."""
    handle = driver.call("cuDeviceGet", ordinal)
    kind = driver.api.CUdevice_attribute

    def attribute(name: str) -> int:
        key = getattr(kind, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(driver.call("cuDeviceGetAttribute", key, handle))

    def optional(name: str) -> int | None:
        try:
            return attribute(name) or None
        except (DriverError, AttributeError):
            return None

    return Device(
        name=_text(driver.call("cuDeviceGetName", _NAME_BYTES, handle)),
        compute_capability=(
            attribute("COMPUTE_CAPABILITY_MAJOR"),
            attribute("COMPUTE_CAPABILITY_MINOR"),
        ),
        driver_version=int(driver.call("cuDriverGetVersion")),
        sms=attribute("MULTIPROCESSOR_COUNT"),
        memory_bytes=int(driver.call("cuDeviceTotalMem", handle)),
        l2_bytes=attribute("L2_CACHE_SIZE"),
        max_smem_per_cta_bytes=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        clock_khz=optional("CLOCK_RATE"),
        memory_clock_khz=optional("MEMORY_CLOCK_RATE"),
    )


def runs_on(cubin_arch: str, capability: tuple[int, int]) -> bool:
    """May a cubin for this arch be loaded on a device of this compute capability?

    A plain cubin runs on the same major and any later minor; an ``f`` target in its family, an
    ``a`` target on its own capability alone (CUDA Programming Guide, "Compute Capabilities").
    """
    match = _ARCH.fullmatch(cubin_arch)
    if match is None:
        return False
    major, minor = int(match[1]), int(match[2])
    if match[3] == "a":
        return (major, minor) == capability
    return major == capability[0] and minor <= capability[1]


def _text(value: Any) -> str:  # noqa: ANN401 - bytes from the bindings
    return value.split(b"\0")[0].decode() if isinstance(value, bytes) else str(value)
