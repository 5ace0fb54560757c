"""Modules of one variant: every build that was loaded is known, and unloaded with the others."""

from __future__ import annotations

from stagebench.gpu.held import Held
from stagebench.gpu.launch import LoadedKernel, load_kernel, unload_kernel
from stagebench.model import Launch


class LoadedKernels(Held[LoadedKernel]):
    """Kernels that end with the ``with`` block, whatever became of their builds."""

    def release(self, one: LoadedKernel) -> None:
        """Unload one."""
        unload_kernel(self._driver, one)

    def load(self, cubin: bytes, launch: Launch) -> LoadedKernel:
        """Load one that is unloaded with the others."""
        kernel = load_kernel(self._driver, cubin, launch)
        self._held.append(kernel)
        return kernel
