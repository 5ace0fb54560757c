"""How does a TMA descriptor of the launch plan become the driver's tensor map?

The host code's arguments are those of ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col``
(CUDA Driver API, "Tensor Map Object Management"), but for the first stride, which the driver
leaves out: it is the element's size.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagebench.gpu.driver import Driver
from stagebench.model import Extent, TmaDescriptor


def encode(driver: Driver, descriptor: TmaDescriptor, address: int) -> Any:  # noqa: ANN401 - a CUtensorMap
    """The tensor map of ``descriptor`` over the tensor at ``address``."""
    api = driver.api
    dtype = api.CUtensorMapDataType(descriptor.data_type)
    shape = _u64(api, descriptor.global_shape)
    strides = _u64(api, descriptor.global_strides_bytes[1:])
    element_strides = _u32(api, descriptor.element_strides)
    modes = (
        api.CUtensorMapInterleave(descriptor.interleave),
        api.CUtensorMapSwizzle(descriptor.swizzle),
        api.CUtensorMapL2promotion(descriptor.l2_promotion),
        api.CUtensorMapFloatOOBfill(descriptor.oob_fill),
    )
    if descriptor.kind == "tiled":
        return driver.call(
            "cuTensorMapEncodeTiled", dtype, descriptor.rank, address, shape, strides,
            _u32(api, descriptor.box), element_strides, *modes,
        )  # fmt: skip
    lower, upper, pixels, channels = im2col_box(descriptor)
    return driver.call(
        "cuTensorMapEncodeIm2col", dtype, descriptor.rank, address, shape, strides,
        list(lower), list(upper), channels, pixels, element_strides, *modes,
    )  # fmt: skip


def im2col_box(
    descriptor: TmaDescriptor,
) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Lower and upper corner, pixels per column, channels per pixel.

    Source: ``TensorMapIm2ColArgs`` in ``src/cuda/runtime.cc`` (TileLang 0.1.15): corners of
    rank − 2 each, then ``smem_box_pixel``, then ``smem_box_channel``.
    """
    values = [int(value) for value in descriptor.box]
    corner = descriptor.rank - 2
    if len(values) != 2 * corner + 2:
        raise ValueError(f"{descriptor.name}: {len(values)} values in an im2col box")
    return tuple(values[:corner]), tuple(values[corner : 2 * corner]), values[-2], values[-1]


def _u64(api: Any, values: Iterable[Extent]) -> list[Any]:  # noqa: ANN401 - generated bindings
    return [api.cuuint64_t(int(value)) for value in values]


def _u32(api: Any, values: Iterable[Extent]) -> list[Any]:  # noqa: ANN401 - generated bindings
    return [api.cuuint32_t(int(value)) for value in values]
