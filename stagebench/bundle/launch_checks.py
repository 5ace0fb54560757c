"""Is what will be launched possible at all?  Extents, values, and what a tensor brings along.

Held when a bundle is made and again when one is read: a bundle may have been edited, and a grid of
nothing or a negative size ends the process on the GPU host, not with a message.
Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from math import prod

from stagebench.bundle.errors import BundleError
from stagebench.bundle.records import Bundle, BundledScalar, BundledTensor, BundledVariant
from stagebench.model import Launch

MAX_GRID = ((1 << 31) - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)
MAX_THREADS = 1024
_LARGEST = (1 << 63) - 1
_INTEGER = re.compile(r"(u?)int(8|16|32|64)")
_INPUTS = ("input", "inout", "unused")
_OUTPUTS = ("output", "inout")
_AGAIN = "make it again: stagebench bundle RUN -o DIR"
Extents = tuple[object, ...]


def check_launch(
    launch: Launch, tensors: Sequence[BundledTensor], scalars: Sequence[BundledScalar]
) -> None:
    """Raise `BundleError` for the first thing that can't be launched, by name."""
    for problem in _problems(launch, tensors, scalars):
        raise BundleError(
            f"{launch.function}: {problem}",
            hint="it follows from the kernel's parameters and from --scalar NAME=VALUE",
        )


def check_bundle(bundle: Bundle, where: str) -> None:
    """The same for every variant of an index, and what its variants say of each other."""
    if not bundle.variants:
        raise BundleError(f"{where} has no variant", hint=_AGAIN)
    ids = [variant.id for variant in bundle.variants]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise BundleError(f"{where} has the variant {twice} twice", hint=_AGAIN)
    for variant in bundle.variants:
        for problem in _of_variant(variant, frozenset(ids)):
            raise BundleError(f"{where}: {variant.id}: {problem}", hint=_AGAIN)


def integer_bounds(dtype: str) -> tuple[int, int] | None:
    """The lowest value, and the first that is too high; ``None``: no integers of whole bytes."""
    if dtype == "bool":
        return 0, 2
    match = _INTEGER.fullmatch(dtype)
    if match is None:
        return None
    bits = int(match[2])
    return (0, 1 << bits) if match[1] else (-(1 << bits - 1), 1 << bits - 1)


def _of_variant(variant: BundledVariant, ids: frozenset[str]) -> Iterator[str]:
    for one in variant.references:
        if one not in ids or one == variant.id:
            yield f"its reference {one} is {'itself' if one == variant.id else 'no variant of it'}"
    if "base" not in variant.cubins:
        yield "it has no base cubin"
    yield from _problems(variant.launch, variant.tensors, variant.scalars)


def _problems(
    launch: Launch, tensors: Sequence[BundledTensor], scalars: Sequence[BundledScalar]
) -> Iterator[str]:
    yield from _extents("grid", launch.grid, MAX_GRID)
    yield from _extents("block", launch.block, MAX_BLOCK)
    if launch.cluster is not None:
        yield from _extents("cluster", launch.cluster, MAX_GRID)
    threads = prod(one for one in launch.block if isinstance(one, int))
    if threads > MAX_THREADS:
        yield f"a block of {threads} threads, and {MAX_THREADS} are the most"
    if launch.dynamic_smem_bytes < 0:
        yield f"{launch.dynamic_smem_bytes} bytes of dynamic shared memory"
    for tensor in tensors:
        yield from _of_tensor(tensor)
    names = [one.name for one in tensors]
    for name in names:
        if names.count(name) > 1:
            yield f"the tensor {name} is there twice"
    for scalar in scalars:
        yield from _of_scalar(scalar)
    yield from _unbound(launch, {*names, *(one.name for one in scalars)})


def _extents(what: str, extents: Extents, most: Sequence[int]) -> Iterator[str]:
    shown = " × ".join(map(str, extents))
    for extent, limit in zip(extents, most, strict=True):
        if not isinstance(extent, int):
            yield f"the {what} is {shown}, which is no number"
        elif extent < 1:
            yield f"the {what} is {shown}: nothing would run"
        elif extent > limit:
            yield f"the {what} is {shown}: more than {' × '.join(map(str, most))}"


def _of_tensor(tensor: BundledTensor) -> Iterator[str]:
    shown = " × ".join(map(str, tensor.shape))
    if any(extent < 0 for extent in tensor.shape) or prod(tensor.shape) > _LARGEST:
        yield f"{tensor.name} has the shape {shown}"
    if tensor.strides is not None and (
        len(tensor.strides) != len(tensor.shape) or any(step < 0 for step in tensor.strides)
    ):
        yield f"{tensor.name} has the shape {shown} and the strides {tensor.strides}"
    if tensor.contents is not None and tensor.role not in _INPUTS:
        yield f"{tensor.name} is {_A[tensor.role]}, and has values to start from"
    if tensor.expected is not None and tensor.role not in _OUTPUTS:
        yield f"{tensor.name} is {_A[tensor.role]}, and it is said what must come out"
    if tensor.expected is not None and tensor.expected.content_bytes != 8 * prod(tensor.shape):
        yield (
            f"{tensor.name}: {tensor.expected.content_bytes // 8} values are expected, "
            f"and it has {prod(tensor.shape)}"
        )
    if tensor.values is not None:
        bounds = integer_bounds(tensor.dtype)
        low, high = tensor.values.low, tensor.values.high
        if bounds is None or not bounds[0] <= low < high <= min(bounds[1], _LARGEST + 1):
            yield f"{tensor.name} is {tensor.dtype}, and its values from {low} up to {high}"


_A = {
    "input": "an input", "output": "an output", "inout": "both", "unused": "unused",
    "profiler": "the buffer of the kernel's own profiler",
}  # fmt: skip


def _of_scalar(scalar: BundledScalar) -> Iterator[str]:
    bounds, value = integer_bounds(scalar.dtype), scalar.value
    if bounds is None:
        return
    whole = not isinstance(value, float) or (math.isfinite(value) and value == int(value))
    if not whole or not bounds[0] <= value < bounds[1]:
        yield f"the argument {scalar.name} is {scalar.dtype}, and its value {value}"


def _unbound(launch: Launch, names: set[str]) -> Iterator[str]:
    over = {one.name: one.tensor for one in launch.tma_descriptors}
    for param in launch.params:
        if over.get(param.name, param.name) not in names:
            yield f"nothing is bound to the argument {param.name}"
