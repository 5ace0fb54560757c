"""Device memory of one variant: every allocation is known, and freed together."""

from __future__ import annotations

import numpy as np

from stagebench.gpu.dtypes import Raw
from stagebench.gpu.held import Held


class Memory(Held[int]):
    """Allocations that end with the ``with`` block."""

    def release(self, one: int) -> None:
        """Free one."""
        self._driver.call("cuMemFree", one)

    def allocate(self, size: int) -> int:
        """The address of ``size`` bytes (at least one), 256-byte aligned; contents undefined."""
        pointer = int(self._driver.call("cuMemAlloc", max(1, size)))
        self._held.append(pointer)
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
