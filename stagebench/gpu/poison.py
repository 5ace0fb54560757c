"""What is in shared memory before a kernel starts?  NaN, put there by a kernel of our own.

Shared memory is not cleared between kernels, so a kernel that reads a slot before it was filled
often finds the right data of the run before.  One CTA takes all that an SM will give a CTA, fills
it, and stays until every SM has one; four rounds reach SMs that started late.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.launch import LoadedKernel, launch_config, load_kernel, start
from stagebench.gpu.poison_ptx import ENTRY, PTX
from stagebench.gpu.records import Device
from stagebench.model import Launch, LaunchParam

PATTERN = 0x7FFF_FFFF
"""A NaN as float32, and as two float16 or bfloat16 (0x7fff, 0xffff)."""
_ROUNDS = 4
_THREADS = 256


@dataclass(frozen=True)
class Poison:
    """The loaded kernel and how it is launched."""

    driver: Driver
    kernel: LoadedKernel
    config: Any
    bytes: int

    def __call__(self) -> None:
        """Fill the shared memory of all SMs, in the stream's order."""
        values = (self.bytes, PATTERN)
        start(self.driver, self.kernel, self.config, (values, (ctypes.c_uint32,) * 2))


def poison_launch(device: Device) -> Launch:
    """How the kernel is launched on ``device``: all dynamic shared memory that a CTA may have."""
    return Launch(
        function=ENTRY,
        grid=(device.sms * _ROUNDS, 1, 1),
        block=(_THREADS, 1, 1),
        cluster=None,
        dynamic_smem_bytes=device.max_smem_per_cta_bytes,
        params=(
            LaunchParam(name="bytes", kind="scalar", dtype="uint32"),
            LaunchParam(name="pattern", kind="scalar", dtype="uint32"),
        ),
        tma_descriptors=(),
        tensors=(),
    )


def load_poison(driver: Driver, device: Device, stream: Any, cubin: bytes | None) -> Poison:  # noqa: ANN401
    """Load the kernel from the bundle's cubin, else from PTX (which the driver assembles).

    Raises `DriverError` where neither loads.
    """
    launch = poison_launch(device)
    kernel = None
    if cubin is not None:
        try:
            kernel = load_kernel(driver, cubin, launch)
        except DriverError as exc:
            if exc.sticky:
                raise
    if kernel is None:
        kernel = load_kernel(driver, PTX.encode() + b"\0", launch)
    return Poison(driver, kernel, launch_config(driver, launch, stream), launch.dynamic_smem_bytes)
