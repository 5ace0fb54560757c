"""How is the CUDA driver called?  One thin layer in which no return code is overlooked.

Every function of ``cuda.bindings.driver`` returns a tuple whose first item is a ``CUresult``;
`Driver.call` raises the driver's own name for everything but success.
"""

from __future__ import annotations

import importlib
from typing import Any

from stagebench.errors import MachineError

OLDEST_DRIVER = 12_000
"""``cuDriverGetVersion`` of CUDA 12.0, the first with ``cuTensorMapEncodeTiled``."""

STICKY = frozenset(
    {
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_UNKNOWN",
    }
)
"""Errors after which "the process must be terminated and relaunched" (CUDA Driver API)."""

_HINTS = {
    "CUDA_ERROR_OUT_OF_MEMORY": "the device's memory is full: profile fewer, or smaller, variants",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the cubin is for another arch: bundle with --device-arch",
    "CUDA_ERROR_INVALID_IMAGE": "the driver can't read the cubin: it may be older than the "
    "assembler that made it",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the PTX: update the driver",
    "CUDA_ERROR_NO_DEVICE": "the driver sees no device: is CUDA_VISIBLE_DEVICES set?",
}


class DriverError(Exception):
    """A driver call that did not succeed: which one, and the driver's own name for why."""

    def __init__(self, call: str, name: str) -> None:
        hint = _HINTS.get(name)
        super().__init__(f"{call}: {name}" + (f" ({hint})" if hint else ""))
        self.call = call
        self.name = name

    @property
    def sticky(self) -> bool:
        """Is this process's context lost, so that every later call fails too?"""
        return self.name in STICKY


class Driver:
    """``api`` is ``cuda.bindings.driver`` or, in tests, something with the same functions."""

    def __init__(self, api: Any) -> None:  # noqa: ANN401 - generated bindings without types
        self.api = api

    def call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 - as above
        """Call a function; its one result, a tuple of several, or ``None``."""
        code, *results = getattr(self.api, name)(*arguments)
        if int(code) != 0:
            raise DriverError(name, self._name_of(code))
        if len(results) > 1:
            return tuple(results)
        return results[0] if results else None

    def _name_of(self, code: Any) -> str:  # noqa: ANN401 - an enumeration of the bindings
        named = getattr(code, "name", None)
        if isinstance(named, str):
            return named
        status, text = self.api.cuGetErrorName(code)
        if int(status) != 0:
            return f"CUresult {int(code)}"
        return text.decode() if isinstance(text, bytes) else str(text)


def open_driver() -> Driver:
    """The driver of this machine, initialised; `MachineError` says what is missing."""
    try:
        api = importlib.import_module("cuda.bindings.driver")
    except ImportError as exc:
        raise MachineError(
            f"profile needs cuda-bindings on the GPU host: {exc}",
            hint="pip install 'stagebench[gpu]'",
        ) from exc
    return check_driver(Driver(api))


def check_driver(driver: Driver) -> Driver:
    """Initialise; `MachineError` where there is no driver, no device, or one that is too old."""
    try:
        driver.call("cuInit", 0)
        version = int(driver.call("cuDriverGetVersion"))
        devices = int(driver.call("cuDeviceGetCount"))
    except DriverError as exc:
        raise MachineError(
            f"the CUDA driver does not start: {exc}", hint="nvidia-smi says more about it"
        ) from exc
    except RuntimeError as exc:  # the bindings find no libcuda (cuda-pathfinder has its own kinds)
        raise MachineError(
            f"there is no CUDA driver on this machine: {exc}",
            hint="run `stagebench profile BUNDLE` on a machine with an NVIDIA GPU",
        ) from exc
    if version < OLDEST_DRIVER:
        raise MachineError(
            f"the driver is for CUDA {version // 1000}.{version % 1000 // 10}, "
            f"{OLDEST_DRIVER // 1000}.0 is needed (tensor maps)",
            hint="update the NVIDIA driver",
        )
    if devices < 1:
        raise MachineError("the driver sees no device", hint="is CUDA_VISIBLE_DEVICES set?")
    return driver
