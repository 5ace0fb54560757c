"""How are a run's outputs kept for the user?  One ``.npy`` for each tensor.

numpy has no bfloat16, no 8-bit and no sub-byte floats: those are saved as the unsigned integers of
their bits, packed ones as bytes in one dimension.  A tensor with strides is saved as it lies in
memory, in one dimension.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from stagebench.dump.atomic_file import write_file
from stagebench.gpu.dtypes import Raw, dtype_of, numpy_dtype
from stagebench.gpu.tensors import HostTensor

OUTPUTS = "outputs"
"""The folder for them beside ``profile.json``; in it, one for each variant by its id."""


def save_outputs(
    folder: Path, tensors: Sequence[HostTensor], contents: Mapping[str, Raw]
) -> tuple[str, ...]:
    """Write the tensors that have contents; the names of the files in ``folder``."""
    names = []
    for one in tensors:
        if one.tensor.name not in contents:
            continue
        dtype = dtype_of(one.tensor.dtype)
        array = contents[one.tensor.name].view(numpy_dtype(dtype))
        if one.tensor.strides is None and dtype.bits % 8 == 0:
            array = array.reshape(one.tensor.shape)
        data = io.BytesIO()
        np.save(data, array, allow_pickle=False)
        names.append(f"{one.tensor.name}.npy")
        write_file(folder / names[-1], data.getvalue())
    return tuple(names)
