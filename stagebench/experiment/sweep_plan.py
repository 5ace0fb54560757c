"""Which variants does a sweep have?  Every combination of its axes, checked before it starts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from stagebench.errors import UsageError
from stagebench.experiment.default_axes import DEFAULT_ARCHS, DEFAULT_NUM_STAGES
from stagebench.experiment.kernel_reference import KernelReference
from stagebench.facts.arch import check_arch
from stagebench.model import ParamValue, Scalar
from stagebench.worker.protocol import LowerRequest

MAX_NUM_STAGES = 1024


@dataclass(frozen=True)
class SweepPlan:
    """What to sweep.

    ``num_stages`` is ``None`` for ``default_num_stages``, or for the kernel as written where its
    depth is a literal.  ``params`` maps each parameter to its values, more than one being an axis.
    ``compilers`` are values of ``--compiler`` (`stagebench.lowering.compiler_choice`), none for
    this environment's.
    """

    kernel: str = "gemm"
    num_stages: tuple[int, ...] | None = None
    archs: tuple[str, ...] = DEFAULT_ARCHS
    params: Mapping[str, tuple[ParamValue, ...]] = field(default_factory=dict)
    stage_param: str | None = None
    pass_configs: Mapping[str, Scalar] = field(default_factory=dict)
    compilers: tuple[str, ...] = ()
    default_num_stages: tuple[int, ...] = DEFAULT_NUM_STAGES


def expand(
    plan: SweepPlan, kernel: KernelReference, depths: Sequence[int | None]
) -> list[LowerRequest]:
    """Every combination for one compiler: arch outermost, then parameters, then depth."""
    for depth in depths:
        if depth is None:
            continue
        if not isinstance(depth, int) or isinstance(depth, bool):  # any object of the API
            raise UsageError(f"num_stages {depth!r} is no depth", hint="a depth is a whole number")
        if not 0 <= depth <= MAX_NUM_STAGES:
            raise UsageError(
                f"num_stages {depth} is out of range", hint=f"a depth is 0 to {MAX_NUM_STAGES}"
            )
    _check_axis("--num-stages", depths)
    _check_axis("--arch", plan.archs)
    for name, values in plan.params.items():
        _check_axis(name, [repr(value) for value in values])  # 1, 1.0 and True are three values
    for name in ("num_stages", *([plan.stage_param] if plan.stage_param else [])):
        if name in plan.params:
            raise UsageError(f"{name} carries the depth", hint="use --num-stages for it")
    names = sorted(plan.params)
    return [
        _request(plan, kernel, check_arch(arch), dict(zip(names, values, strict=True)), depth)
        for arch in plan.archs
        for values in itertools.product(*(plan.params[name] for name in names))
        for depth in depths
    ]


def _request(
    plan: SweepPlan,
    kernel: KernelReference,
    arch: str,
    params: dict[str, ParamValue],
    depth: int | None,
) -> LowerRequest:
    request = LowerRequest(
        path=kernel.path,
        function=kernel.function,
        kernel=kernel.name,
        params={name: _passable(name, value) for name, value in params.items()},
        num_stages=depth,
        stage_param=plan.stage_param,
        arch=arch,
        pass_configs=dict(plan.pass_configs),
    )
    try:  # what crosses to the worker must decode there: say so here, with the parameter's name
        return msgspec.convert(msgspec.to_builtins(request), LowerRequest, strict=True)
    except msgspec.ValidationError as exc:
        raise UsageError(f"a parameter has a value of a kind that can't be passed: {exc}") from exc


def _passable(name: str, value: ParamValue) -> ParamValue:
    """The value as a worker will get it; JSON has no infinity."""
    try:
        plain: ParamValue = msgspec.convert(value, ParamValue, strict=True)
        if repr(msgspec.json.decode(msgspec.json.encode(plain), type=ParamValue)) == repr(plain):
            return plain
        reason = "it is not finite"
    except (msgspec.ValidationError, TypeError, OverflowError) as exc:
        reason = str(exc)
    raise UsageError(f"{name} has a value that can't be passed, {value!r}: {reason}")


def _check_axis(flag: str, values: Sequence[object]) -> None:
    if not values:
        raise UsageError(f"{flag} has no value")
    if len(set(values)) != len(values):
        raise UsageError(f"{flag} has a value twice: {' '.join(map(str, values))}")
