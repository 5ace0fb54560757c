"""What is in a TMA descriptor?  Its fields by name, the driver's integers as words.

Source: ``cuda.h`` of CUDA 12.9, enumerations ``CUtensorMap*``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stagebench.model import Extent, TmaDescriptor

DATA_TYPES = (
    "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
    "bfloat16", "float32 ftz", "tfloat32", "tfloat32 ftz",
)  # fmt: skip
INTERLEAVES = ("none", "16 B", "32 B")
SWIZZLES = (
    "none", "32 B", "64 B", "128 B", "128 B, atom 32 B", "128 B, atom 32 B, flip 8 B",
    "128 B, atom 64 B",
)  # fmt: skip
L2_PROMOTIONS = ("none", "64 B", "128 B", "256 B")
OOB_FILLS = ("zero", "NaN, fma to zero")


def descriptor_rows(descriptors: Sequence[TmaDescriptor]) -> tuple[tuple[str, ...], ...]:
    """One column per descriptor, one row per field; the first row names the descriptors."""
    if not descriptors:
        return ()
    fields: tuple[tuple[str, Callable[[TmaDescriptor], str]], ...] = (
        ("descriptor", lambda d: d.name),
        ("tensor", lambda d: d.tensor),
        ("kind", lambda d: d.kind),
        ("data type", lambda d: _word(DATA_TYPES, d.data_type)),
        ("global shape", lambda d: _list(d.global_shape)),
        ("global strides, bytes", lambda d: _list(d.global_strides_bytes)),
        ("box", lambda d: _list(d.box)),
        ("element strides", lambda d: _list(d.element_strides)),
        ("interleave", lambda d: _word(INTERLEAVES, d.interleave)),
        ("swizzle", lambda d: _word(SWIZZLES, d.swizzle)),
        ("L2 promotion", lambda d: _word(L2_PROMOTIONS, d.l2_promotion)),
        ("out of bounds", lambda d: _word(OOB_FILLS, d.oob_fill)),
    )
    return tuple((name, *(read(d) for d in descriptors)) for name, read in fields)


def _list(values: Sequence[Extent]) -> str:
    return ", ".join(str(value) for value in values)


def _word(words: Sequence[str], value: int) -> str:
    return words[value] if 0 <= value < len(words) else f"unknown ({value})"
