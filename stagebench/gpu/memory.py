"""Device memory of one variant: every allocation is known, and freed together."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.dtypes import Raw

if TYPE_CHECKING:
    from typing_extensions import Self


class Memory:
    """Allocations that end with the ``with`` block."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._pointers: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lost = isinstance(error, DriverError) and error.sticky
        for pointer in [] if lost else self._pointers:
            self._driver.call("cuMemFree", pointer)
        self._pointers.clear()

    def allocate(self, size: int) -> int:
        """The address of ``size`` bytes (at least one), 256-byte aligned; contents undefined."""
        pointer = int(self._driver.call("cuMemAlloc", max(1, size)))
        self._pointers.append(pointer)
        return pointer

    def fill(self, pointer: int, byte: int, size: int) -> None:
        """Set ``size`` bytes."""
        if size:
            self._driver.call("cuMemsetD8", pointer, byte, size)

    def upload(self, pointer: int, data: Raw) -> None:
        """Copy to the device."""
        if data.nbytes:
            self._driver.call("cuMemcpyHtoD", pointer, np.ascontiguousarray(data), data.nbytes)

    def download(self, pointer: int, size: int) -> Raw:
        """Copy from the device."""
        data = np.empty(size, dtype=np.uint8)
        if size:
            self._driver.call("cuMemcpyDtoH", data, pointer, size)
        return data
