"""Can the scalars and ranges that a user gave be meant?  Held against what the kernels take.

A value that no variant uses, or that its type can't hold, would be another experiment than the one
that was asked for; on the GPU host it would be a crash.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.launch_checks import integer_bounds
from stagebench.bundle.records import ValueRange
from stagebench.errors import UsageError
from stagebench.model import Extent, Launch, LaunchTensor

_LARGEST = 1 << 63
"""Of the values that the generator of random integers takes, as of an ``int64``."""
_SIZE = "int64"
"""What a size is computed in where it is no argument of the kernel."""


def check_options(options: BuildOptions, candidates: Sequence[Candidate]) -> None:
    """Raise `UsageError` for a scalar or a range that fits none of the kernels, or does not fit.

    A launch plan's scalars are its own.  Where no variant lowered, the bundle says that.
    """
    launches = [one.launch for one in candidates if one.launch is not None]
    if not launches:
        return
    swept = [
        one.launch
        for one in candidates
        if one.launch is not None and not isinstance(one.result, GivenKernel)
    ]
    if options.scalars and not swept:
        raise UsageError(
            f"--scalar {next(iter(options.scalars))}: a launch plan says the values of its scalars",
            hint="edit the plan, and leave --scalar out",
        )
    _check_scalars(options.scalars, swept)
    for name, values in options.values.items():
        _check_range(name, values, launches)


def size_names(launch: Launch) -> frozenset[str]:
    """The names in the extents of a launch."""
    return frozenset(name for extent in _extents(launch) for name in _names(extent))


def argument_dtypes(launch: Launch) -> dict[str, str]:
    """The scalar arguments of a launch."""
    return {param.name: param.dtype for param in launch.params if param.kind == "scalar"}


def _check_scalars(scalars: Mapping[str, int | float], launches: Sequence[Launch]) -> None:
    known: dict[str, None] = {}
    for launch in launches:
        sizes, arguments = size_names(launch), argument_dtypes(launch)
        known |= dict.fromkeys((*arguments, *sorted(sizes - arguments.keys())))
        for name, value in scalars.items():
            if name in sizes or name in arguments:
                _check_value(name, value, arguments.get(name, _SIZE), is_size=name in sizes)
    for name in scalars:
        if name not in known:
            raise UsageError(
                f"--scalar {name}: no variant has a size or an argument of that name",
                hint=f"there {'is' if len(known) == 1 else 'are'} {', '.join(known)}"
                if known
                else "every size is a number already: leave it out",
            )


def _check_value(name: str, value: float, dtype: str, *, is_size: bool) -> None:
    bounds = integer_bounds(dtype)
    what = f"a size ({dtype})" if is_size else f"an argument of {dtype}"
    if bounds is None:
        return
    if isinstance(value, float):
        if not math.isfinite(value) or value != int(value):
            raise UsageError(
                f"--scalar {name}={value:g}: {name} is {what}", hint=f"a whole number: {name}=1024"
            )
        value = int(value)
    low, high = bounds
    low = 1 if is_size else low
    if not low <= value < high:
        raise UsageError(
            f"--scalar {name}={value}: {name} is {what}", hint=f"from {low} to {high - 1}"
        )


def _check_range(name: str, values: ValueRange, launches: Sequence[Launch]) -> None:
    tensors = [one for launch in launches for one in launch.tensors or () if one.name == name]
    said = f"--range {name}={values.low},{values.high}"
    if not tensors:
        there = dict.fromkeys(one.name for launch in launches for one in launch.tensors or ())
        raise UsageError(
            f"{said}: no variant has a tensor {name}",
            hint=f"there are {', '.join(there) or 'none'}",
        )
    whole = [one for one in tensors if integer_bounds(one.dtype) is not None]
    if not whole:
        raise UsageError(
            f"{said}: {name} holds no integers, it is {tensors[0].dtype}",
            hint=_index_tensors(launches),
        )
    read = [one for one in whole if one.read or not one.written]
    if not read:
        raise UsageError(f"{said}: {name} is an output", hint="a range is of an input's values")
    for one in read:
        low, high = integer_bounds(one.dtype) or (0, 0)
        high = min(high, _LARGEST)
        if values.low < low or values.high > high:
            raise UsageError(
                f"{said}: {name} is {one.dtype}", hint=f"LOW from {low}, HIGH up to {high}"
            )


def _index_tensors(launches: Sequence[Launch]) -> str:
    there = dict.fromkeys(
        one.name
        for launch in launches
        for one in launch.tensors or ()
        if integer_bounds(one.dtype) is not None and (one.read or not one.written)
    )
    return f"integers are read from {', '.join(there)}" if there else "no input holds integers"


def _extents(launch: Launch) -> Iterator[Extent]:
    yield from (*launch.grid, *launch.block, *(launch.cluster or ()))
    for tensor in launch.tensors or ():
        yield from _of_tensor(tensor)
    for one in launch.tma_descriptors:
        yield from (*one.global_shape, *one.global_strides_bytes, *one.box, *one.element_strides)
        yield from one.fields
    for profiler in launch.profilers or ():
        yield from (one for one in (profiler.groups, profiler.stride) if one is not None)


def _of_tensor(tensor: LaunchTensor) -> Iterator[Extent]:
    yield from (*tensor.shape, *(tensor.strides or ()))


def _names(extent: Extent) -> Iterator[str]:
    """``K`` of ``T.Cast("int64", K)``, and not ``T``."""
    if isinstance(extent, int):
        return
    try:
        tree = ast.parse(extent, mode="eval")
    except SyntaxError:
        return
    spaces = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in spaces:
            yield node.id
