"""What is launched, as a launch plan says it?  The records that a lowered kernel has too."""

from __future__ import annotations

from stagebench.bundle.plan_records import Plan, PlanArgument, PlanTensor, tensors_of
from stagebench.model import Launch, LaunchParam, LaunchTensor, TmaDescriptor, Variant


def variant_of(plan: Plan) -> Variant:
    """Its identity: depths of one kernel differ in ``num_stages`` alone."""
    depth = {} if plan.num_stages is None else {"num_stages": plan.num_stages}
    return Variant(
        kernel=plan.kernel,
        params={**plan.params, **depth},
        stage_param="num_stages" if depth else None,
        arch=plan.arch,
        compiler=plan.made_by,
        pass_configs={},
    )


def launch_of(plan: Plan, function: str) -> Launch:
    """The launch of the entry that the PTX calls ``function``."""
    tensors = tensors_of(plan)
    return Launch(
        function=function,
        grid=_triple(plan.grid),
        block=_triple(plan.block),
        cluster=None if plan.cluster is None else _triple(plan.cluster),
        dynamic_smem_bytes=plan.dynamic_smem_bytes,
        params=tuple(map(_param, plan.arguments)),
        tma_descriptors=tuple(_descriptors(plan)),
        tensors=tuple(map(_tensor, tensors)),
    )


def scalars_of(plan: Plan) -> dict[str, int | float]:
    """The values of the scalar arguments."""
    return {
        one.name: int(one.value) if isinstance(one.value, bool) else one.value
        for one in plan.arguments
        if one.value is not None
    }


def _param(argument: PlanArgument) -> LaunchParam:
    if argument.descriptor is not None:
        return LaunchParam(name=argument.name, kind="tma_descriptor", dtype="handle")
    kind = "scalar" if argument.value is not None else "tensor"
    dtype = argument.dtype or ""
    return LaunchParam(
        name=argument.name, kind="scalar" if kind == "scalar" else "tensor", dtype=dtype
    )


def _tensor(tensor: PlanTensor) -> LaunchTensor:
    return LaunchTensor(
        name=tensor.name,
        dtype=tensor.dtype,
        shape=tensor.shape,
        strides=tensor.strides,
        read=tensor.role != "output",
        written=tensor.role != "input",
    )


def _descriptors(plan: Plan) -> list[TmaDescriptor]:
    found = []
    for argument in plan.arguments:
        one = argument.descriptor
        if one is None:
            continue
        rank = len(one.global_shape)
        element_strides = one.element_strides or (1,) * rank
        modes = (one.interleave, one.swizzle, one.l2_promotion, one.oob_fill)
        found.append(
            TmaDescriptor(
                name=argument.name,
                kind=one.kind,
                tensor=one.tensor,
                data_type=one.data_type,
                rank=rank,
                global_shape=one.global_shape,
                global_strides_bytes=one.global_strides_bytes,
                box=one.box,
                element_strides=element_strides,
                interleave=one.interleave,
                swizzle=one.swizzle,
                l2_promotion=one.l2_promotion,
                oob_fill=one.oob_fill,
                fields=one.fields
                or (
                    *one.global_shape,
                    *one.global_strides_bytes,
                    *one.box,
                    *element_strides,
                    *modes,
                ),
            )
        )
    return found


def _triple(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
