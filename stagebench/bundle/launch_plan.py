"""What exactly is launched, with every extent a number?"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from stagebench.bundle.errors import BundleError
from stagebench.bundle.extents import evaluate
from stagebench.bundle.records import BundledScalar, BundledTensor, TensorRole
from stagebench.model import Extent, Launch, LaunchTensor, ProfilerBuffer, TmaDescriptor

Scalars = Mapping[str, int | float]


def resolved_launch(launch: Launch, scalars: Scalars) -> Launch:
    """The launch with integers in the place of every symbolic extent."""

    def whole(values: tuple[Extent, ...], what: str) -> tuple[int, ...]:
        return tuple(evaluate(value, scalars, f"{launch.function}: {what}") for value in values)

    def triple(values: tuple[Extent, Extent, Extent], what: str) -> tuple[int, int, int]:
        x, y, z = whole(values, what)
        return x, y, z

    def descriptor(one: TmaDescriptor) -> TmaDescriptor:
        names = ("global_shape", "global_strides_bytes", "box", "element_strides", "fields")
        return msgspec.structs.replace(
            one, **{name: whole(getattr(one, name), f"{one.name} {name}") for name in names}
        )

    def profiler(one: ProfilerBuffer) -> ProfilerBuffer:
        groups, stride = (
            None if value is None else evaluate(value, scalars, f"{one.tensor}: {what}")
            for value, what in ((one.groups, "groups"), (one.stride, "stride"))
        )
        return msgspec.structs.replace(one, groups=groups, stride=stride)

    return msgspec.structs.replace(
        launch,
        grid=triple(launch.grid, "grid"),
        block=triple(launch.block, "block"),
        cluster=None if launch.cluster is None else triple(launch.cluster, "cluster"),
        tma_descriptors=tuple(descriptor(one) for one in launch.tma_descriptors),
        tensors=tuple(_tensor(one, scalars) for one in launch.tensors or ()),
        profilers=None if launch.profilers is None else tuple(map(profiler, launch.profilers)),
    )


def bundled_tensors(launch: Launch, scalars: Scalars) -> tuple[BundledTensor, ...]:
    """The tensors that the kernel is launched with, in the host function's order."""
    if launch.tensors is None:
        raise BundleError(
            f"{launch.function}: these facts do not say which tensors the kernel takes",
            hint="an earlier stagebench wrote them: sweep again",
        )
    whole = [_tensor(one, scalars) for one in launch.tensors]
    _check_bound(launch, {one.name for one in whole})
    profilers = {one.tensor for one in launch.profilers or ()}
    return tuple(
        BundledTensor(
            name=one.name,
            dtype=one.dtype,
            shape=tuple(evaluate(dim, scalars, one.name) for dim in one.shape),
            strides=None
            if one.strides is None
            else tuple(evaluate(dim, scalars, one.name) for dim in one.strides),
            role="profiler" if one.name in profilers else _role(one),
        )
        for one in whole
    )


def bundled_scalars(launch: Launch, scalars: Scalars) -> tuple[BundledScalar, ...]:
    """The scalar arguments; `BundleError` names the one that has no value."""
    found = []
    for param in launch.params:
        if param.kind != "scalar":
            continue
        if param.name not in scalars:
            raise BundleError(
                f"{launch.function}: the argument {param.name} ({param.dtype}) has no value",
                hint=f"give it: --scalar {param.name}=1024",
            )
        value = scalars[param.name]
        if isinstance(value, float) and "int" in param.dtype and value.is_integer():
            value = int(value)
        found.append(BundledScalar(name=param.name, dtype=param.dtype, value=value))
    return tuple(found)


def _tensor(tensor: LaunchTensor, scalars: Scalars) -> LaunchTensor:
    shape = tuple(evaluate(dim, scalars, f"the shape of {tensor.name}") for dim in tensor.shape)
    strides = tensor.strides
    if strides is not None:
        strides = tuple(evaluate(s, scalars, f"the strides of {tensor.name}") for s in strides)
    return msgspec.structs.replace(tensor, shape=shape, strides=strides)


def _role(tensor: LaunchTensor) -> TensorRole:
    if tensor.read:
        return "inout" if tensor.written else "input"
    return "output" if tensor.written else "unused"


def _check_bound(launch: Launch, tensors: set[str]) -> None:
    """Every argument must be a tensor, a descriptor over one, or a scalar: bind by name."""
    descriptors = {one.name: one.tensor for one in launch.tma_descriptors}
    for param in launch.params:
        name = descriptors.get(param.name, param.name)
        if param.kind == "tma_descriptor" and param.name not in descriptors:
            raise BundleError(f"{launch.function}: no TMA descriptor is known for {param.name}")
        if param.kind != "scalar" and name not in tensors:
            raise BundleError(f"{launch.function}: the argument {param.name} is no known tensor")
