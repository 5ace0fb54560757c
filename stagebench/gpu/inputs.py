"""What is a kernel given?  Seeded random values: the same for every depth of a case, on any host.

Floats are normal with a spread of ½ (products of a few hundred stay finite in float16); integers
fill a narrow range, since an index tensor's domain is not known: `ValueRange` widens it.
"""

from __future__ import annotations

from hashlib import blake2b
from math import prod

import numpy as np

from stagebench.bundle.records import BundledTensor, ValueRange
from stagebench.gpu.dtypes import Dtype, Raw, bfloat16_of, dtype_of, float8_values

_SPREAD = 0.5
_INTEGER_RANGES = {
    "bool": (0, 2), "int8": (-8, 8), "uint8": (0, 256), "int16": (-8, 8), "uint16": (0, 16),
    "int32": (0, 2), "uint32": (0, 2), "int64": (0, 2), "uint64": (0, 2),
}  # fmt: skip
_NUMPY = {"bool": np.uint8}
_FLOAT8_LARGEST = 2.0


def generator_of(seed: int, case: str, tensor: str) -> np.random.Generator:
    """The generator of one tensor: other tensors, or their order, do not change what it gives."""
    digest = blake2b(f"{seed}/{case}/{tensor}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def elements_of(tensor: BundledTensor) -> int:
    """Elements from the first to the last that the strides reach, gaps included."""
    if 0 in tensor.shape:
        return 0
    if tensor.strides is None:
        return prod(tensor.shape)
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.strides, strict=True))


def random_input(tensor: BundledTensor, seed: int, case: str) -> Raw:
    """The bytes of one tensor; raises `UnknownDtypeError`."""
    dtype = dtype_of(tensor.dtype)
    random = generator_of(seed, case, tensor.name)
    return random_values(dtype, elements_of(tensor), random, tensor.values)


def random_values(
    dtype: Dtype, count: int, random: np.random.Generator, values: ValueRange | None
) -> Raw:
    """``count`` elements of a dtype as bytes."""
    name = dtype.name
    if name in _INTEGER_RANGES:
        low, high = (values.low, values.high) if values else _INTEGER_RANGES[name]
        plain = np.dtype(_NUMPY.get(name, name))
        whole: Raw = random.integers(low, high, count, dtype=np.int64).astype(plain).view(np.uint8)
        return whole
    if name.startswith("float8_e8m0"):
        return random.integers(124, 131, count, dtype=np.uint8)
    if name.startswith("float8"):
        table = float8_values(5 if name == "float8_e5m2" else 4)
        usable = np.flatnonzero(np.abs(table) <= _FLOAT8_LARGEST).astype(np.uint8)
        return np.take(usable, random.integers(0, len(usable), count))
    if not dtype.floating:  # packed: any bits are values
        return random.integers(0, 256, dtype.bytes_of(count), dtype=np.uint8)
    normal = random.standard_normal(count, dtype=np.float32) * np.float32(_SPREAD)
    if name == "bfloat16":
        return bfloat16_of(normal)
    floats: Raw = normal.astype(np.dtype(name)).view(np.uint8)
    return floats
