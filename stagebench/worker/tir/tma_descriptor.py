"""What do the arguments of a TMA descriptor's encoding say?  The same for every host.

Source: ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col`` (CUDA driver API): whichever
shapes come before, interleave, swizzle, L2 promotion and fill are the last four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stagebench.model import Extent, TmaDescriptor

_ENUMERATIONS = 4


@dataclass(frozen=True)
class Shapes:
    """The four shapes of a descriptor, innermost dimension first; strides in bytes."""

    tensor: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    box: tuple[Extent, ...]
    elements: tuple[Extent, ...]


def described(
    name: str,
    tensor: str,
    kind: Literal["tiled", "im2col"],
    numbers: tuple[int, int],
    shapes: Shapes,
    fields: Sequence[Extent],
) -> TmaDescriptor:
    """The descriptor; ``numbers`` are the data type and the rank, ``fields`` all from the shape on.

    An enumeration that is no constant is -1.
    """
    interleave, swizzle, l2_promotion, oob_fill = (
        value if isinstance(value, int) else -1 for value in fields[-_ENUMERATIONS:]
    )
    return TmaDescriptor(
        name=name,
        kind=kind,
        tensor=tensor,
        data_type=numbers[0],
        rank=numbers[1],
        global_shape=shapes.tensor,
        global_strides_bytes=shapes.strides,
        box=shapes.box,
        element_strides=shapes.elements,
        interleave=interleave,
        swizzle=swizzle,
        l2_promotion=l2_promotion,
        oob_fill=oob_fill,
        fields=tuple(fields),
    )
