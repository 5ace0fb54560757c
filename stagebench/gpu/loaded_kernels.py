"""Modules of one variant: every build that was loaded is known, and unloaded with the others."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.launch import LoadedKernel, load_kernel, unload_kernel
from stagebench.model import Launch

if TYPE_CHECKING:
    from typing_extensions import Self


class LoadedKernels:
    """Kernels that end with the ``with`` block, whatever became of their builds."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._kernels: list[LoadedKernel] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lost = isinstance(error, DriverError) and error.sticky
        for kernel in [] if lost else self._kernels:
            unload_kernel(self._driver, kernel)
        self._kernels.clear()

    def load(self, cubin: bytes, launch: Launch) -> LoadedKernel:
        """Load one that is unloaded with the others."""
        kernel = load_kernel(self._driver, cubin, launch)
        self._kernels.append(kernel)
        return kernel
