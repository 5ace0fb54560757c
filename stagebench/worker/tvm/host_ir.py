"""What does the host do before and at a launch: its TMA descriptors and the dynamic shared memory.

Both are read from the module in which the host's function first launches the device's: a pass may
have made a descriptor (of ``T.copy_async`` with ``dispatch="tma"``), and the size of an arena that
the author sized by hand is an argument of the launch.

Source: the arguments of the packed function ``runtime.cuTensorMapEncodeTiled`` of Apache TVM 0.25
(``src/runtime/cuda/cuda_device_api.cc``): map, dtype, rank, address, shape, byte strides of all
dimensions but the innermost, box, element strides, interleave, swizzle, L2 promotion, fill.  0.27
has an op for it too (``tensormap_encode_tiled`` of ``tvm/tirx/op.py``): the shapes are its
arguments in the same order, the rest its attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from stagebench.model import Extent, TmaDescriptor
from stagebench.worker.tir import nodes as ir
from stagebench.worker.tir import storage
from stagebench.worker.tir.nodes import tirx, tvm
from stagebench.worker.tir.tma_descriptor import Shapes, described
from stagebench.worker.tvm.intrinsics import short_name
from stagebench.worker.tvm.pass_recorder import LAUNCH_PARAMS, is_launched

_ENCODE = "runtime.cuTensorMapEncodeTiled"
_ENCODE_OP = "tensormap_encode_tiled"
_LAUNCHES = ("tvm_call_packed", "call_ffi_kernel")
_DYNAMIC = "tirx.use_dyn_shared_memory"
_DATA_TYPES = {
    "uint8": 0, "uint16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6,
    "float32": 7, "float64": 8, "bfloat16": 9, "float8_e4m3fn": 0, "float8_e5m2": 0,
}  # fmt: skip
"""``CUtensorMapDataType`` of ``cuda.h``; -1 in a record is a dtype that the driver has not."""


def read_descriptors(module: Any, name: str, function: Any) -> tuple[TmaDescriptor, ...]:
    """The TMA descriptors that the host encodes for the device ``function``, sorted by name.

    Each is called as the parameter that it is passed for; two of the host's may share a name.
    """
    encoded = [found for call in _host_calls(module) if (found := _descriptor(call)) is not None]
    launch = next((call for call in _host_calls(module) if _launches(call, name)), None)
    if launch is None:
        by_name = {descriptor.name: descriptor for _, descriptor in encoded}
        return tuple(by_name[key] for key in sorted(by_name))
    passed: list[TmaDescriptor] = []
    names = parameter_names(function)
    for param, given in zip(names, list(launch.args)[1:], strict=False):
        for var, descriptor in encoded:
            if isinstance(given, ir.Var) and var.same_as(given):
                passed.append(msgspec.structs.replace(descriptor, name=param))
                break
    return tuple(sorted(passed, key=lambda descriptor: descriptor.name))


def parameter_names(function: Any) -> list[str]:
    """A device function's parameters as its CUDA calls them: a name that is taken gets a number."""
    names: list[str] = []
    for param in function.params:
        base = str(param.name) or "v"
        taken = [name for name in names if name == base or name.startswith(f"{base}_")]
        fresh = (f"{base}_{at}" for at in range(1, len(taken) + 2))
        names.append(base if base not in names else next(n for n in fresh if n not in names))
    return names


def _launches(call: Any, name: str) -> bool:
    op = short_name(ir.op_name(call))
    return op in _LAUNCHES and ir.extent_of(call.args[0]) == name


def read_dynamic_bytes(module: Any, name: str, function: Any) -> int | None:
    """The dynamic shared memory that the host launches ``function`` with.

    0 where the launch has none, ``None`` where there is no launch to read or it depends on a value.
    """
    tags = [str(tag) for tag in function.attrs[LAUNCH_PARAMS]]
    for call in _host_calls(module):
        if _launches(call, name):
            args = list(call.args)
            if _DYNAMIC not in tags:
                return 0
            return ir.constant(args[len(args) - len(tags) + tags.index(_DYNAMIC)])
    return None


def _host_calls(module: Any) -> Iterator[Any]:
    for function in module.functions.values():
        if isinstance(function, tirx.PrimFunc) and not is_launched(function):
            for stmt in ir.statements(function.body):
                for expr in ir.expressions(stmt):
                    yield from ir.calls(expr)


def _descriptor(call: Any) -> tuple[Any, TmaDescriptor] | None:
    """The variable of a descriptor and what is encoded in it."""
    args = list(call.args)
    op = short_name(ir.op_name(call))
    if op == _ENCODE_OP:
        var, address, attrs = args[0], args[1], call.attrs
        dtype, rank = str(attrs.descriptor_dtype), int(attrs.rank)
        enumerations = (attrs.interleave, attrs.swizzle, attrs.l2_promotion, attrs.oob_fill)
        values = (*(ir.extent_of(arg) for arg in args[2:]), *(int(one) for one in enumerations))
    elif op == "tvm_call_packed" and ir.extent_of(args[0]) == _ENCODE:
        var, dtype = args[1], str(ir.extent_of(args[2]))
        address, rank = args[4], ir.constant(args[3]) or 0
        values = tuple(ir.extent_of(arg) for arg in args[5:])
    else:
        return None
    shape, strides, box, elements = _cut(values, (rank, 2 * rank - 1, 3 * rank - 1, 4 * rank - 1))
    innermost = int(tvm.DataType(dtype).bits) // 8
    found = described(
        str(ir.extent_of(var)),
        _tensor(address),
        "tiled",
        (_DATA_TYPES.get(dtype, -1), rank),
        Shapes(shape, (innermost, *strides), box, elements),
        values,
    )
    return var, found


def _tensor(address: Any) -> str:
    """The name of the tensor whose address is encoded."""
    var = storage.variable_of(address)
    return str(ir.extent_of(address)) if var is None else storage.pointer_name(var)


def _cut(values: tuple[Extent, ...], ends: tuple[int, ...]) -> list[tuple[Extent, ...]]:
    starts = (0, *ends)
    return [values[start:end] for start, end in zip(starts, ends, strict=False)]
