"""How are the elements of a dtype stored, poisoned, and read as numbers?

Handles the dtypes of TVM's and TileLang's tensors that a kernel has in global memory.  Sub-byte
types are packed, low bits first, and compared as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Raw = NDArray[np.uint8]
Doubles = NDArray[np.float64]

_BITS = {
    "bool": 8, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32,
    "int64": 64, "uint64": 64, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64,
    "float8_e4m3": 8, "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e8m0fnu": 8,
    "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "int1": 1, "uint1": 1,
}  # fmt: skip
_PLAIN = {
    "bool": np.uint8, "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16,
    "int32": np.int32, "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64,
    "float16": np.float16, "float32": np.float32, "float64": np.float64,
}  # fmt: skip
_TOLERANCE = {
    "float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-3, "float64": 1e-9,
    "float8_e4m3": 0.13, "float8_e4m3fn": 0.13, "float8_e5m2": 0.26,
}  # fmt: skip
"""Relative, of outputs that two depths rounded apart: two units in the last place of the dtype;
float32 leaves room for tf32 and fp8 operands, whose accumulation differs between instructions."""


class UnknownDtypeError(ValueError):
    """A dtype that is in no table here."""


@dataclass(frozen=True)
class Dtype:
    """One dtype; ``tolerance`` 0 means that elements must be equal."""

    name: str
    bits: int
    tolerance: float
    poison: int

    def bytes_of(self, elements: int) -> int:
        """Bytes of so many elements, packed."""
        return (elements * self.bits + 7) // 8

    @property
    def floating(self) -> bool:
        """Is it rounded, and so compared with a tolerance?"""
        return self.tolerance > 0


def dtype_of(name: str) -> Dtype:
    """The dtype of that name; `UnknownDtypeError` names one that is not known."""
    if name not in _BITS:
        raise UnknownDtypeError(f"the dtype {name} is not known: known are {', '.join(_BITS)}")
    floating = name in _TOLERANCE
    # all bits set is a NaN in every IEEE format and in e4m3fn, e5m2 (OCP 8-bit formats, 5.2)
    return Dtype(name, _BITS[name], _TOLERANCE.get(name, 0.0), 0xFF if floating else 0x7F)


def numpy_dtype(dtype: Dtype) -> np.dtype[Any]:
    """The dtype of its elements in numpy; where it has none, that of their bits or packed bytes."""
    if dtype.name in _PLAIN:
        return np.dtype(_PLAIN[dtype.name])
    return np.dtype(f"u{max(1, dtype.bits // 8)}")


def as_doubles(raw: Raw, dtype: Dtype) -> Doubles:
    """The elements as float64; packed ones byte by byte."""
    name = dtype.name
    if name in _PLAIN:
        plain: Doubles = raw.view(_PLAIN[name]).astype(np.float64)
        return plain
    if name == "bfloat16":
        bits = raw.view(np.uint16).astype(np.uint32) << np.uint32(16)
        wide: Doubles = bits.view(np.float32).astype(np.float64)
        return wide
    if name in ("float8_e4m3", "float8_e4m3fn"):
        return np.take(float8_values(4), raw)
    if name == "float8_e5m2":
        return np.take(float8_values(5), raw)
    if name == "float8_e8m0fnu":
        values = np.exp2(np.arange(256, dtype=np.float64) - 127)
        values[255] = np.nan
        return np.take(values, raw)
    return raw.astype(np.float64)


def float8_values(exponent_bits: int) -> Doubles:
    """The value of each of the 256 codes of e4m3fn (no infinity) or e5m2.

    Source: OCP 8-bit Floating Point Specification, tables 1 and 2.
    """
    codes = np.arange(256)
    mantissa_bits = 7 - exponent_bits
    bias = 2 ** (exponent_bits - 1) - 1
    exponent = (codes & 0x7F) >> mantissa_bits
    mantissa = (codes & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    subnormal = np.exp2(1.0 - bias) * mantissa
    size = np.where(exponent == 0, subnormal, np.exp2(exponent - float(bias)) * (1 + mantissa))
    values: Doubles = np.where(codes >= 0x80, -size, size)
    if exponent_bits == 4:
        values[[0x7F, 0xFF]] = np.nan
    else:
        top = (codes & 0x7F) >= 0x7C
        values[top] = np.nan
        values[[0x7C, 0xFC]] = np.inf, -np.inf
    return values


def bfloat16_of(values: NDArray[np.float32]) -> Raw:
    """Round to the nearest bfloat16, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    raw: Raw = (rounded >> np.uint32(16)).astype(np.uint16).view(np.uint8)
    return raw
