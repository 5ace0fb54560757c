"""What does a launch plan say: a kernel that no compiler of ours made, and how it is launched?

Extents are integers: what is launched is one launch.  `stagebench.bundle.plan_file` reads plans.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from stagebench.model import Compiler, ParamValue, Record

MADE_BY = Compiler(name="launch-plan", version="1")
"""Who made a kernel whose plan does not say; the version is that of the plan."""

ELEMENT_BITS = {
    "bool": 8, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32,
    "int64": 64, "uint64": 64, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64,
    "float8_e4m3": 8, "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e8m0fnu": 8,
    "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "int1": 1, "uint1": 1,
}  # fmt: skip
"""The dtypes that a tensor may have; those of `stagebench.gpu.dtypes`, which a test holds."""
SCALARS = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
    "float64",
)  # fmt: skip
PlanRole = Literal["input", "output", "inout"]


class PlanDescriptor(Record, frozen=True, kw_only=True):
    """A TMA descriptor over ``tensor``, as `stagebench.model.TmaDescriptor` has it.

    Shapes are innermost first, enumerations the driver's integers; ``global_strides_bytes`` starts
    with dimension 0, which is the element's size.  A descriptor of a dump can be pasted as it is:
    what follows from the rest (``name``, ``rank``, ``fields``) is only held against it.
    """

    tensor: str
    data_type: int
    global_shape: tuple[int, ...]
    global_strides_bytes: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    kind: Literal["tiled", "im2col"] = "tiled"
    interleave: int = 0
    swizzle: int = 0
    l2_promotion: int = 0
    oob_fill: int = 0
    name: str | None = None
    rank: int | None = None
    fields: tuple[int, ...] | None = None


class PlanTensor(Record, frozen=True, kw_only=True):
    """A tensor that the kernel reaches through a descriptor alone; strides are in elements."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: PlanRole
    strides: tuple[int, ...] | None = None


class PlanArgument(Record, frozen=True, kw_only=True):
    """One argument: a tensor, a scalar or a TMA descriptor.

    A tensor has ``dtype``, ``shape`` and ``role``, a scalar ``dtype`` and ``value``.
    """

    name: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    role: PlanRole | None = None
    value: bool | int | float | None = None
    descriptor: PlanDescriptor | None = None


class Plan(Record, frozen=True, kw_only=True):
    """A launch plan; paths are relative to it.

    Plans that differ in ``num_stages`` alone are depths of one kernel, whatever their sources:
    they get the same inputs and must agree.  ``made_by`` names what the source came from, where
    it was generated.  ``include``, ``define`` and ``flags`` are for the compiler of a ``.cu``.
    """

    schema_version: Literal[1] = 1
    kernel: str
    source: str
    entry: str
    arch: str
    num_stages: int | None = None
    params: dict[str, ParamValue] = field(default_factory=dict)
    made_by: Compiler = MADE_BY
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None = None
    dynamic_smem_bytes: int
    include: tuple[str, ...] = ()
    define: dict[str, int | str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    arguments: tuple[PlanArgument, ...]
    tensors: tuple[PlanTensor, ...] = ()


def tensors_of(plan: Plan) -> tuple[PlanTensor, ...]:
    """All tensors: the arguments' in their order, then those behind descriptors alone."""
    own = tuple(
        PlanTensor(
            name=one.name, dtype=one.dtype or "", shape=one.shape, role=one.role or "input",
            strides=one.strides,
        )
        for one in plan.arguments
        if one.shape is not None
    )  # fmt: skip
    return (*own, *plan.tensors)
