"""Where do a probed kernel's probes write, and how does the kernel know?

The probe builder's metadata name a module-scope ``.const .u64``; it is set to the buffer's address
after the module was loaded.  Nothing else of the metadata is read here.
"""

from __future__ import annotations

import msgspec
import numpy as np

from stagebench.gpu.driver import Driver
from stagebench.gpu.dtypes import Raw
from stagebench.gpu.launch import LoadedKernel
from stagebench.gpu.memory import Memory

_POINTER_BYTES = 8


class ProbeError(Exception):
    """A probed build and its metadata do not fit together."""


class ProbeHead(msgspec.Struct, frozen=True):
    """What launching needs of `stagebench.model.timing.ProbeMetadata`."""

    symbol: str
    buffer_bytes: int


class ProbeBuffer:
    """The buffer of one loaded kernel.

    Raises `DriverError` where the kernel has no such symbol, `ProbeError` where it does not fit.
    """

    def __init__(
        self, driver: Driver, memory: Memory, kernel: LoadedKernel, metadata: bytes
    ) -> None:
        try:
            head = msgspec.json.decode(metadata, type=ProbeHead)
        except msgspec.DecodeError as exc:
            raise ProbeError(f"the probe metadata can't be read: {exc}") from exc
        self._memory = memory
        self._size = head.buffer_bytes
        address, size = driver.call("cuModuleGetGlobal", kernel.module, head.symbol.encode())
        if int(size) != _POINTER_BYTES:
            raise ProbeError(f"{head.symbol} has {int(size)} bytes, not {_POINTER_BYTES}")
        self._pointer = memory.allocate(self._size)
        pointer = np.array([self._pointer], dtype=np.uint64).view(np.uint8)
        memory.upload(int(address), pointer)
        self.clear()

    def clear(self) -> None:
        """Set every byte to 0: lanes that nobody writes are then seen to be empty."""
        self._memory.fill(self._pointer, 0, self._size)

    def contents(self) -> Raw:
        """The whole buffer."""
        return self._memory.download(self._pointer, self._size)
