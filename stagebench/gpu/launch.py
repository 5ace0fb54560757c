"""How is a cubin loaded and launched as its launch plan says?

Device parameters are in the device function's order, which is not the host's: everything is bound
by name.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stagebench.gpu.driver import Driver, DriverError
from stagebench.model import Launch, TmaDescriptor

_SCALARS: dict[str, type[Any]] = {
    "bool": ctypes.c_bool, "int8": ctypes.c_int8, "uint8": ctypes.c_uint8,
    "int16": ctypes.c_int16, "uint16": ctypes.c_uint16, "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip
_PORTABLE_CLUSTER = 8
"""CTAs that every device with clusters can put into one (CUDA Programming Guide, "Thread Block
Clusters"); more must be asked for."""

Arguments = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Values and their ctypes, as the bindings take ``kernelParams``; a tensor map has no ctype."""
EncodeMap = Callable[[TmaDescriptor, int], Any]


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel on the device, with what the driver says that it takes."""

    module: Any
    function: Any
    registers: int
    local_bytes: int
    static_smem_bytes: int


def load_kernel(driver: Driver, cubin: bytes, launch: Launch) -> LoadedKernel:
    """Load a cubin and allow its dynamic shared memory and cluster; `DriverError`."""
    module = driver.call("cuModuleLoadData", cubin)
    try:
        return _prepared(driver, module, launch)
    except DriverError as exc:
        if not exc.sticky:
            driver.call("cuModuleUnload", module)
        raise


def _prepared(driver: Driver, module: Any, launch: Launch) -> LoadedKernel:  # noqa: ANN401 - bindings
    function = driver.call("cuModuleGetFunction", module, launch.function.encode())
    kind = driver.api.CUfunction_attribute
    if launch.dynamic_smem_bytes:
        driver.call(
            "cuFuncSetAttribute", function,
            kind.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.dynamic_smem_bytes,
        )  # fmt: skip
    if launch.cluster is not None and _product(launch.cluster) > _PORTABLE_CLUSTER:
        driver.call(
            "cuFuncSetAttribute", function,
            kind.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
        )  # fmt: skip

    def attribute(name: str) -> int:
        key = getattr(kind, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(driver.call("cuFuncGetAttribute", key, function))

    return LoadedKernel(
        module=module,
        function=function,
        registers=attribute("NUM_REGS"),
        local_bytes=attribute("LOCAL_SIZE_BYTES"),
        static_smem_bytes=attribute("SHARED_SIZE_BYTES"),
    )


def unload_kernel(driver: Driver, kernel: LoadedKernel) -> None:
    """Unload the kernel's module."""
    driver.call("cuModuleUnload", kernel.module)


def pack_arguments(
    launch: Launch,
    pointers: Mapping[str, int],
    scalars: Mapping[str, int | float],
    encode: EncodeMap,
) -> Arguments:
    """The arguments in device order, each found by its name; `KeyError` names what is missing."""
    descriptors = {one.name: one for one in launch.tma_descriptors}
    values: list[Any] = []
    types: list[Any] = []
    for param in launch.params:
        if param.kind == "tensor":
            values.append(pointers[param.name])
            types.append(ctypes.c_void_p)
        elif param.kind == "tma_descriptor":
            descriptor = descriptors[param.name]
            values.append(encode(descriptor, pointers[descriptor.tensor]))
            types.append(None)
        else:
            values.append(scalars[param.name])
            types.append(_SCALARS[param.dtype])
    return tuple(values), tuple(types)


def launch_config(driver: Driver, launch: Launch, stream: Any) -> Any:  # noqa: ANN401 - bindings
    """The driver's launch configuration, with the cluster as an attribute where there is one."""
    api = driver.api
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = map(int, launch.grid)
    config.blockDimX, config.blockDimY, config.blockDimZ = map(int, launch.block)
    config.sharedMemBytes = launch.dynamic_smem_bytes
    config.hStream = stream
    if launch.cluster is not None:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        cluster = attribute.value.clusterDim
        cluster.x, cluster.y, cluster.z = map(int, launch.cluster)
        attribute.value.clusterDim = cluster
        config.attrs = [attribute]
        config.numAttrs = 1
    return config


def start(driver: Driver, kernel: LoadedKernel, config: Any, arguments: Arguments) -> None:  # noqa: ANN401
    """Launch; returns before the kernel ends."""
    driver.call("cuLaunchKernelEx", config, kernel.function, arguments, 0)


def _product(values: tuple[Any, Any, Any]) -> int:
    x, y, z = map(int, values)
    return x * y * z
