"""How does an array of the author's become a kernel's tensor, and the other way round?

An array has the tensor's shape and dtype, to the letter: a wrong one would be another experiment.
Tensors whose dtype numpy does not have (bfloat16, float8, packed ones) are given as their bits, or
by `ml_dtypes`; bfloat16 also as float32 that is rounded.  An author sees floats as float64 and
integers as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from stagebench.bundle.records import BundledTensor
from stagebench.errors import UsageError
from stagebench.gpu.dtypes import Raw, as_doubles, bfloat16_of, dtype_of, numpy_dtype
from stagebench.gpu.inputs import elements_of

Array = np.ndarray[Any, np.dtype[Any]]


def to_bytes(function: str, tensor: BundledTensor, value: object) -> bytes:
    """An array as it will lie in memory; `UsageError` names the function and the tensor."""
    array = _array(function, tensor.name, value)
    said = f"{function} gives {tensor.name}"
    dtype = dtype_of(tensor.dtype)
    bits = numpy_dtype(dtype)
    packed = dtype.bits < 8
    if tensor.dtype == "bfloat16" and array.dtype == np.float32:
        array = bfloat16_of(np.ascontiguousarray(array)).view(np.uint16).reshape(array.shape)
    same = array.dtype == bits or array.dtype.name == tensor.dtype
    if tensor.dtype == "bool" and array.dtype == np.bool_:
        array, same = array.view(np.uint8), True
    if not same:
        raw = "" if bits.name == tensor.dtype else f", or its bits as {bits.name}"
        raise UsageError(
            f"{said} as {array.dtype}, and the kernel takes {tensor.dtype}",
            hint=f"{tensor.name}: an array of {tensor.dtype}{raw}",
        )
    shape = (dtype.bytes_of(prod(tensor.shape)),) if packed else tensor.shape
    if array.shape != shape:
        what = "packed bytes" if packed else "the kernel takes"
        raise UsageError(
            f"{said} with shape {array.shape}, and {what} {shape}",
            hint=f"{tensor.name}: an array of shape {shape}",
        )
    if packed:
        return np.ascontiguousarray(array).tobytes()
    return _strided(tensor, np.ascontiguousarray(array).view(bits)).tobytes()


def to_expected(function: str, tensor: BundledTensor, value: object) -> bytes:
    """What an output must be, as float64; `UsageError` as above."""
    array = _array(function, tensor.name, value)
    if dtype_of(tensor.dtype).bits < 8:
        raise UsageError(
            f"{function} gives {tensor.name}, which is packed {tensor.dtype}: its bytes can't be "
            "held against numbers",
            hint=f"leave {tensor.name} out: depths are compared with each other",
        )
    if array.dtype.kind not in "fiub":
        raise UsageError(
            f"{function} gives {tensor.name} as {array.dtype}: not real numbers",
            hint=f"{tensor.name}: an array of float64, or of {tensor.dtype}",
        )
    if array.shape != tensor.shape:
        raise UsageError(
            f"{function} gives {tensor.name} with shape {array.shape}, and the kernel writes "
            f"{tensor.shape}",
            hint=f"{tensor.name}: an array of shape {tensor.shape}",
        )
    if tensor.strides is not None and elements_of(tensor) != prod(tensor.shape):
        raise UsageError(f"{function}: {tensor.name} has gaps, which can't be held against numbers")
    return _strided(tensor, array.astype(np.float64)).tobytes()


def as_seen(tensor: BundledTensor, data: bytes) -> Array:
    """A tensor's memory as the author gets it: floats as float64, integers as they are."""
    raw: Raw = np.frombuffer(data, dtype=np.uint8)
    dtype = dtype_of(tensor.dtype)
    if dtype.bits < 8:
        return raw
    flat: Array = as_doubles(raw, dtype)
    if not dtype.floating and not tensor.dtype.startswith("float"):
        flat = raw.view(np.bool_ if tensor.dtype == "bool" else numpy_dtype(dtype))
    if tensor.strides is None:
        return flat.reshape(tensor.shape)
    steps = [step * flat.itemsize for step in tensor.strides]
    strided: Array = np.lib.stride_tricks.as_strided(flat, tensor.shape, steps).copy()
    return strided


def by_name(function: str, returned: object, known: Mapping[str, BundledTensor]) -> dict[str, Any]:
    """What a function returned, as arrays by name; `UsageError` where it is something else."""
    if not isinstance(returned, Mapping):
        raise UsageError(
            f"{function} returned a value of type {type(returned).__name__}, "
            "not a dict of arrays by tensor"
        )
    for name in returned:
        if name not in known:
            raise UsageError(
                f"{function} gives {name!r}, which is no such tensor of the kernel",
                hint=f"it has {', '.join(known) or 'none'}",
            )
    return dict(returned)


def _array(function: str, name: str, value: object) -> Array:
    if isinstance(value, np.ndarray):
        return _little_endian(value)
    raise UsageError(
        f"{function} gives {name} as a {type(value).__name__}, not a numpy array",
        hint="torch: tensor.cpu().numpy()",
    )


def _little_endian(array: Array) -> Array:
    """The same values in a GPU's byte order."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _strided(tensor: BundledTensor, array: Array) -> Array:
    """The elements where the strides say, zero in the gaps."""
    if tensor.strides is None or array.size == 0:
        return np.ascontiguousarray(array)
    flat = np.zeros(elements_of(tensor), dtype=array.dtype)
    steps = [step * array.itemsize for step in tensor.strides]
    np.lib.stride_tricks.as_strided(flat, tensor.shape, steps)[...] = array
    return flat
