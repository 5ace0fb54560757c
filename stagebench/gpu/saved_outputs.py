"""How are a run's outputs kept for the user?  One ``.npy`` for each tensor.

numpy has no bfloat16, no 8-bit and no sub-byte floats: those are saved as the unsigned integers of
their bits, packed ones as bytes in one dimension.  A tensor with gaps, or in another order than C,
is saved as it lies in memory, in one dimension.  Beside the buffer of a kernel's own profiler lies
what says how to read it (`stagebench.dump.profiler_sidecar`).
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from stagebench.bundle.records import BundledTensor, BundledVariant
from stagebench.dump.atomic_file import write_file
from stagebench.dump.profiler_sidecar import sidecar_of, write_sidecar
from stagebench.gpu.dtypes import Raw, dtype_of, numpy_dtype
from stagebench.gpu.tensors import HostTensor

OUTPUTS = "outputs"
"""The folder for them beside ``profile.json``; in it, one for each variant by its id."""


def save_outputs(
    folder: Path,
    variant: BundledVariant,
    tensors: Sequence[HostTensor],
    contents: Mapping[str, Raw],
) -> tuple[str, ...]:
    """Write the tensors that have contents; the names of the ``.npy`` files in ``folder``."""
    names = []
    profilers = {one.tensor: one for one in variant.launch.profilers or ()}
    for one in tensors:
        if one.tensor.name not in contents:
            continue
        dtype = dtype_of(one.tensor.dtype)
        array = contents[one.tensor.name].view(numpy_dtype(dtype))
        if _compact(one.tensor) and dtype.bits % 8 == 0:
            array = array.reshape(one.tensor.shape)
        data = io.BytesIO()
        np.save(data, array, allow_pickle=False)
        names.append(f"{one.tensor.name}.npy")
        write_file(folder / names[-1], data.getvalue())
        if one.profiler:
            sidecar = sidecar_of(variant.id, variant.launch, profilers[one.tensor.name])
            write_sidecar(folder / names[-1], sidecar)
    return tuple(names)


def _compact(tensor: BundledTensor) -> bool:
    """Does it lie in memory in C order, without gaps?"""
    if tensor.strides is None:
        return True
    step = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True
