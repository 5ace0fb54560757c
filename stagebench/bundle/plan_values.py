"""Which values of a launch plan can't be right, whatever its source turns out to be?"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from math import prod
from pathlib import Path

from stagebench.bundle.c_types import C_DTYPES
from stagebench.bundle.plan_extents import extent_problems
from stagebench.bundle.plan_records import (
    ELEMENT_BITS,
    SCALARS,
    Plan,
    PlanArgument,
    PlanDescriptor,
    PlanTensor,
    tensors_of,
)
from stagebench.errors import UsageError
from stagebench.facts.arch import check_arch
from stagebench.kernels import BUILTINS, TVM_BUILTINS

SOURCES = (".cu", ".ptx")
_REGISTERS = "ptxas is given no flags: say it in the source, __launch_bounds__ or __maxnreg__"
_HEADERS = "its folder goes into include, so that a changed header is seen"
_ELSEWHERE = {
    "-maxrregcount": _REGISTERS, "--maxrregcount": _REGISTERS, "-Xptxas": _REGISTERS,
    "--ptxas-options": _REGISTERS, "-I": _HEADERS, "--include-path": _HEADERS,
    "-include": _HEADERS, "--pre-include": _HEADERS,
    "-arch": "it is the plan's arch", "--gpu-architecture": "it is the plan's arch",
}  # fmt: skip
"""Flags of the compiler of CUDA that would be ignored, or would go past what the plan says."""
MAX_TENSOR_BYTES = 1 << 40
"""A sane bound: what the device has is not known here."""
Problem = tuple[str, str | None]
"""What is wrong, and what to do about it."""


def problems(plan: Plan, folder: Path) -> Iterator[Problem]:
    """What is wrong with the plan that lies in ``folder``, in the order of its fields."""
    try:
        check_arch(plan.arch)
    except UsageError as exc:
        yield exc.message, exc.hint
    yield from _identity(plan)
    yield from _paths(plan, folder)
    yield from _compiling(plan)
    yield from extent_problems(plan)
    names = [one.name for one in plan.arguments]
    names += [one.name for one in plan.tensors]
    for name in names:
        if names.count(name) > 1:
            yield f"{name} is the name of {names.count(name)} arguments or tensors", None
        if not name.isidentifier():
            yield f"an argument's name is {name!r}", "letters, digits and _ alone"
    for argument in plan.arguments:
        for said, hint in _argument(argument, {one.name: one for one in tensors_of(plan)}):
            yield f"argument {argument.name}: {said}", hint
    reached = {one.descriptor.tensor for one in plan.arguments if one.descriptor is not None}
    for tensor in plan.tensors:
        yield from _tensor(f"tensor {tensor.name}", tensor.dtype, tensor.shape, tensor.strides)
        if tensor.name not in reached:
            yield f"tensor {tensor.name}: no argument's descriptor is over it", None
    if all(one.role == "input" for one in tensors_of(plan)) and tensors_of(plan):
        yield (
            "every tensor is an input",
            "nothing would be compared: which is the output, or inout?",
        )


def _identity(plan: Plan) -> Iterator[Problem]:
    if not plan.kernel or "/" in plan.kernel or plan.kernel in (".", ".."):
        yield f"kernel {plan.kernel!r} is no name", "a name for tables and folders, without a /"
    if plan.kernel in BUILTINS or plan.kernel in TVM_BUILTINS:
        yield f"kernel {plan.kernel} is a built-in's name", f"such as kernel = '{plan.kernel}_cu'"
    if "num_stages" in plan.params:
        yield "params holds num_stages", "it is a field of its own: num_stages = 2"
    if plan.num_stages is not None and plan.num_stages < 0:
        yield f"num_stages {plan.num_stages}: 0 or more", None


def _paths(plan: Plan, folder: Path) -> Iterator[Problem]:
    source = folder / plan.source
    if source.suffix not in SOURCES:
        yield f"source {plan.source}: neither .cu nor .ptx", "CUDA C++ or PTX, as text"
    if not source.is_file():
        yield f"source: no file {source}", "a path relative to the plan"
    for one in plan.include:
        if not (folder / one).is_dir():
            yield f"include: no folder {folder / one}", "a path relative to the plan"


def _compiling(plan: Plan) -> Iterator[Problem]:
    for flag in plan.flags:
        instead = next((hint for start, hint in _ELSEWHERE.items() if flag.startswith(start)), None)
        if instead is not None:
            yield f"flags has {flag}", instead
    for macro in plan.define:
        if not (macro.isidentifier() and macro.isascii()):
            yield f"define has {macro!r}", "a macro's name: letters, digits and _ alone"
    for name, given in (("include", plan.include), ("define", plan.define), ("flags", plan.flags)):
        if given and plan.source.endswith(".ptx"):
            yield f"{name} is for the compiler of CUDA, and {plan.source} is PTX", f"remove {name}"


def _argument(argument: PlanArgument, tensors: dict[str, PlanTensor]) -> Iterator[Problem]:
    kinds = {
        "shape": argument.shape is not None,
        "value": argument.value is not None,
        "descriptor": argument.descriptor is not None,
    }
    if sum(kinds.values()) != 1:
        given = [name for name, there in kinds.items() if there]
        yield (
            f"it has {' and '.join(given) or 'no shape, value or descriptor'}",
            "a tensor has a shape, a scalar a value, a TMA descriptor a descriptor",
        )
        return
    if argument.descriptor is not None:
        yield from _descriptor(argument, argument.descriptor, tensors)
        return
    if argument.dtype is None:
        yield "it has no dtype", f"one of {', '.join(ELEMENT_BITS)}"
    elif argument.shape is not None:
        if argument.role is None:
            yield "it has no role", "input, output or inout"
        yield from _tensor("it", argument.dtype, argument.shape, argument.strides)
    else:
        yield from _scalar(argument)


def _scalar(argument: PlanArgument) -> Iterator[Problem]:
    dtype, value = argument.dtype or "", argument.value
    for name, there in (("strides", argument.strides), ("role", argument.role)):
        if there is not None:
            yield f"a scalar has no {name}", f"remove {name}"
    if dtype not in SCALARS:
        near = C_DTYPES.get(dtype)
        hint = f"did you mean {near}?" if near in SCALARS else f"one of {', '.join(SCALARS)}"
        yield f"no scalar of dtype {dtype}", hint
    if isinstance(value, bool) != (dtype == "bool"):
        yield f"{value!r} is no {dtype}", None
    if isinstance(value, float) and not dtype.startswith("float"):
        yield f"{value!r} is no {dtype}", None
    if type(value) is int and not dtype.startswith("float"):
        bits = ELEMENT_BITS.get(dtype, 0)
        low, high = (0, 1 << bits) if dtype[0] == "u" else (-(1 << bits - 1), 1 << bits - 1)
        if not low <= value < high:
            yield f"{value} does not fit into {dtype}", None


def _tensor(
    what: str, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] | None
) -> Iterator[Problem]:
    if dtype not in ELEMENT_BITS:
        meant = C_DTYPES.get(dtype)
        near = [meant] if meant else difflib.get_close_matches(dtype, ELEMENT_BITS, n=1)
        yield (
            f"{what} has an unknown dtype {dtype}",
            f"did you mean {near[0]}?" if near else f"one of {', '.join(ELEMENT_BITS)}",
        )
    if not shape:
        yield f"{what} has an empty shape", "its extents, outermost first: shape = [4096, 4096]"
    if any(extent < 0 for extent in shape):
        yield (
            f"{what} has the shape {list(shape)}",
            "a plan is of one launch: every extent is the number that it has there",
        )
    if strides is not None and (len(strides) != len(shape) or min(strides, default=0) < 0):
        yield f"{what} has {len(strides)} strides, {len(shape)} dimensions", "in elements"
    elif (size := _bytes(dtype, shape, strides)) > MAX_TENSOR_BYTES:
        yield f"{what} has {size} bytes", f"more than {MAX_TENSOR_BYTES} (1 TiB) no device holds"


def _bytes(dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> int:
    elements = prod(shape)
    if strides is not None and elements > 0:
        elements = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    return elements * ELEMENT_BITS.get(dtype, 8) // 8


def _descriptor(
    argument: PlanArgument, one: PlanDescriptor, tensors: dict[str, PlanTensor]
) -> Iterator[Problem]:
    if one.tensor not in tensors:
        yield (
            f"its descriptor is over {one.tensor}, which is no tensor of the plan",
            f"put it into tensors; there are {', '.join(tensors) or 'none'}",
        )
    rank = len(one.global_shape)
    if not rank:
        yield "its descriptor has an empty global_shape", "innermost first"
    lengths = {"global_strides_bytes": one.global_strides_bytes}
    if one.kind == "tiled":
        lengths["box"] = one.box
    if one.element_strides is not None:
        lengths["element_strides"] = one.element_strides
    for name, values in lengths.items():
        if len(values) != rank:
            yield f"its descriptor has {len(values)} {name}, {rank} in global_shape", None
    if one.rank not in (None, rank):
        yield f"its descriptor says rank {one.rank}, global_shape has {rank}", None
    if one.name not in (None, argument.name):
        yield f"its descriptor is called {one.name}", "its name is the argument's: leave it out"
