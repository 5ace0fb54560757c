"""Which memory is a variant launched with, and what is in it before each run?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import OpenBundle
from stagebench.bundle.records import BundledTensor, BundledVariant
from stagebench.gpu.dtypes import Raw, dtype_of
from stagebench.gpu.inputs import elements_of, random_input
from stagebench.gpu.memory import Memory


@dataclass(frozen=True)
class HostTensor:
    """A tensor with what it holds before a run; ``None``: poison, or zero in a profiler's."""

    tensor: BundledTensor
    contents: Raw | None
    bytes: int

    @property
    def written(self) -> bool:
        """May the kernel write it, so that it is compared?"""
        return self.tensor.role in ("output", "inout")

    @property
    def profiler(self) -> bool:
        """Does the kernel write times to it, which no two runs have in common?"""
        return self.tensor.role == "profiler"


def host_tensors(opened: OpenBundle, variant: BundledVariant, seed: int) -> list[HostTensor]:
    """The tensors of a variant; raises `BundleError` or `UnknownDtypeError`."""
    found = []
    for tensor in variant.tensors:
        size = dtype_of(tensor.dtype).bytes_of(elements_of(tensor))
        contents = None
        if tensor.contents is not None:
            data = opened.load(tensor.contents)
            if len(data) != size:
                raise BundleError(
                    f"{variant.id}: {tensor.name} needs {size} bytes, {len(data)} were given",
                    hint="the experiment's inputs() must have the kernel's shapes and dtypes",
                )
            contents = np.frombuffer(data, dtype=np.uint8)
        elif tensor.role not in ("output", "profiler"):
            contents = random_input(tensor, seed, variant.case)
        found.append(HostTensor(tensor, contents, size))
    return found


class DeviceTensors:
    """One set of a variant's tensors on the device."""

    def __init__(self, memory: Memory, tensors: list[HostTensor]) -> None:
        self._memory = memory
        self._tensors = tensors
        self.pointers: Mapping[str, int] = {
            one.tensor.name: memory.allocate(one.bytes) for one in tensors
        }
        for one in tensors:
            if one.contents is not None:
                memory.upload(self.pointers[one.tensor.name], one.contents)

    def reset(self) -> None:
        """Before a run: what is only written is poisoned, what is updated is as at first.

        A profiler's buffer is all zero: that is what an empty slot holds.
        """
        for one in self._tensors:
            pointer = self.pointers[one.tensor.name]
            if one.profiler:
                self._memory.fill(pointer, 0, one.bytes)
            if not one.written:
                continue
            if one.contents is None:
                poison = dtype_of(one.tensor.dtype).poison
                self._memory.fill(pointer, poison, one.bytes)
            else:
                self._memory.upload(pointer, one.contents)

    def outputs(self) -> dict[str, Raw]:
        """After a run: the bytes of all that the kernel may have written."""
        return {one.tensor.name: self._download(one) for one in self._tensors if one.written}

    def profiler_buffers(self) -> dict[str, Raw]:
        """After a run: the bytes of what the kernel's own marks wrote."""
        return {one.tensor.name: self._download(one) for one in self._tensors if one.profiler}

    def _download(self, one: HostTensor) -> Raw:
        return self._memory.download(self.pointers[one.tensor.name], one.bytes)
