"""Which TMA descriptors does the host code make?  Read from the host function's attributes.

Source: ``tma_descriptor_args`` is set by ``src/cuda/transform/lower_hopper_intrin.cc`` (TileLang
0.1.15) from the arguments of ``create_tma_descriptor``, whose order is that of
``cuTensorMapEncodeTiled`` (CUDA driver API): data type, rank, address, shape × rank,
strides × rank, box × rank, element strides × rank, interleave, swizzle, L2 promotion,
out-of-bounds fill.
"""

from __future__ import annotations

from typing import Any

from stagebench.model import Extent, TmaDescriptor
from stagebench.worker.tilelang import ir
from stagebench.worker.tir.tma_descriptor import Shapes, described

_TILED = "__tvm_tensormap_create_tiled"


def read_descriptors(host_module: Any) -> tuple[TmaDescriptor, ...]:
    """All TMA descriptors of all host functions, sorted by name."""
    found: dict[str, TmaDescriptor] = {}
    for function in host_module.functions.values():
        table = function.attrs.get("tma_descriptor_args", None) if function.attrs else None
        for var, fields in (table or {}).items():
            descriptor = _descriptor(str(var.name), list(fields))
            found[descriptor.name] = descriptor
    return tuple(found[name] for name in sorted(found))


def _descriptor(name: str, fields: list[Any]) -> TmaDescriptor:
    kind = str(ir.extent_of(fields[0]))
    data_type, rank = (int(ir.extent_of(value)) for value in fields[2:4])
    tensor = str(getattr(fields[4], "name", fields[4]))
    values: list[Extent] = [ir.extent_of(value) for value in fields[5:]]
    take = iter(values)

    def group(size: int) -> tuple[Extent, ...]:
        return tuple(next(take) for _ in range(size))

    if kind == _TILED:
        shape, strides, box, element_strides = (group(rank) for _ in range(4))
    else:  # im2col: corners of rank - 2 take the box's place; `fields` keeps everything as passed
        shape, strides, element_strides = (group(rank) for _ in range(3))
        box = group(len(values) - 3 * rank - 4)
    return described(
        name,
        tensor,
        "tiled" if kind == _TILED else "im2col",
        (data_type, rank),
        Shapes(shape, strides, box, element_strides),
        values,
    )
