"""Are kernels launched as their plan says: arguments, tensor maps, shared memory, cluster?"""

import ctypes

import msgspec
import pytest
from cuda.bindings import driver as real

from stagebench.gpu import tensor_map
from stagebench.gpu.driver import Driver, DriverError
from stagebench.gpu.launch import launch_config, load_kernel, pack_arguments
from stagebench.model import LaunchParam
from tests.bundle.building import descriptor, launch
from tests.gpu.fake_driver import FakeApi

POINTERS = {"A": 0x1000, "B": 0x2000, "C": 0x3000}


def param(name, kind="tensor", dtype="float16"):
    return LaunchParam(name=name, kind=kind, dtype=dtype)


def test_arguments_are_in_device_order_and_bound_by_name():
    """The device's order rules; a descriptor is over its own tensor, whatever it is called."""
    how = launch(
        params=(
            param("C"), param("rhs_map", "tma_descriptor"), param("A"),
            param("n", "scalar", "int64"), param("scale", "scalar", "float32"),
        ),
        tma_descriptors=(descriptor(name="rhs_map", tensor="B"),),
    )  # fmt: skip
    values, types = pack_arguments(
        how, POINTERS, {"scale": 0.5, "n": 7}, lambda d, address: (d.name, address)
    )
    assert values == (0x3000, ("rhs_map", 0x2000), 0x1000, 7, 0.5)
    assert types == (ctypes.c_void_p, None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_float)


def test_what_is_not_bound_is_named():
    """No argument is guessed."""
    with pytest.raises(KeyError, match="missing"):
        pack_arguments(launch(params=(param("missing"),)), POINTERS, {}, lambda *_: None)


def test_a_tiled_tensor_map_has_every_field():
    """Each field comes to its place; the first stride, which is the element's size, is left out."""
    api = FakeApi()
    made = tensor_map.encode(Driver(api), descriptor(box=(64, 128), element_strides=(1, 2)), 0xABC0)
    dtype, rank, address, shape, strides, box, steps, *modes = made.arguments
    assert dtype == real.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16
    assert (rank, address) == (2, 0xABC0)
    assert [int(v) for v in shape] == [512, 256]
    assert [int(v) for v in strides] == [1024]
    assert [int(v) for v in box] == [64, 128]
    assert [int(v) for v in steps] == [1, 2]
    assert [mode.name.removeprefix("CU_TENSOR_MAP_") for mode in modes] == [
        "INTERLEAVE_NONE", "SWIZZLE_128B", "L2_PROMOTION_L2_128B", "FLOAT_OOB_FILL_NONE",
    ]  # fmt: skip


def test_an_im2col_tensor_map_has_its_corners():
    """Pixels and channels come from the host code in the other order than the driver takes them."""
    how = descriptor(
        kind="im2col", rank=4, global_shape=(64, 14, 14, 8),
        global_strides_bytes=(2, 128, 1792, 25088), box=(-1, -2, 0, 3, 128, 64),
        element_strides=(1, 1, 1, 1),
    )  # fmt: skip
    made = tensor_map.encode(Driver(FakeApi()), how, 0x100)
    assert made.api == "im2col"
    assert made.arguments[5:9] == ([-1, -2], [0, 3], 64, 128)
    assert [int(v) for v in made.arguments[4]] == [128, 1792, 25088]
    with pytest.raises(ValueError, match="A_desc: 5 values"):
        tensor_map.im2col_box(msgspec.structs.replace(how, box=(1, 2, 3, 4, 5)))


def attributes_set(how):
    api = FakeApi()
    kernel = load_kernel(Driver(api), b"fake copy", how)
    assert kernel.registers == 96
    return [(a[1].name, a[2]) for n, a in api.calls if n == "cuFuncSetAttribute"]


def test_dynamic_shared_memory_is_allowed_before_the_launch():
    """More than 48 KB must be asked for; none is not asked for."""
    assert attributes_set(launch(dynamic_smem_bytes=98_304)) == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 98_304)
    ]
    assert attributes_set(launch()) == []


def test_a_large_cluster_is_allowed_and_a_portable_one_needs_no_leave():
    """Up to 8 CTAs run anywhere."""
    assert attributes_set(launch(cluster=(2, 2, 2))) == []
    assert attributes_set(launch(cluster=(16, 1, 1))) == [
        ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
    ]


def test_too_much_shared_memory_is_the_drivers_error():
    """A kernel above the device's limit is refused by name, as on the real device."""
    with pytest.raises(DriverError, match="cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE"):
        attributes_set(launch(dynamic_smem_bytes=300_000))


def test_the_configuration():
    """Grid, block, shared memory and cluster are in the driver's structure."""
    how = launch(grid=(8, 4, 2), block=(256, 1, 1), cluster=(2, 1, 1), dynamic_smem_bytes=1024)
    config = launch_config(Driver(FakeApi()), how, real.CUstream(0))
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (8, 4, 2)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (256, 1, 1)
    assert (config.sharedMemBytes, config.numAttrs) == (1024, 1)
    cluster = config.attrs[0].value.clusterDim
    assert (cluster.x, cluster.y, cluster.z) == (2, 1, 1)
    assert launch_config(Driver(FakeApi()), launch(), real.CUstream(0)).numAttrs == 0
