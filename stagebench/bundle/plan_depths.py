"""Are plans that claim to be depths of one kernel that?  The same problem, and other code.

What depths get is the same inputs, and they must agree: a plan of another size would be held
against a result of something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stagebench.bundle.plan_records import Plan, tensors_of
from stagebench.bundle.planned_launch import scalars_of, variant_of
from stagebench.bundle.references import case_of
from stagebench.errors import UsageError

_APART = "another kernel name, or params = { … }, tells them apart"


def check_depths(plans: Sequence[tuple[Path, Plan]]) -> None:
    """Raise `UsageError` where plans of one case differ in a scalar or in a tensor.

    A scalar may be the depth itself.
    """
    first: dict[str, tuple[Path, Plan]] = {}
    for path, plan in plans:
        other_path, other = first.setdefault(case_of(variant_of(plan)), (path, plan))
        for what in _differing(other, plan):
            raise UsageError(
                f"{path} and {other_path} have the same kernel and params, and differ in {what}",
                hint=f"depths of one kernel get the same inputs and must agree: {_APART}",
            )


def warn_of_same_code(
    made: Sequence[tuple[Path, Plan, bytes | None]], warn: Callable[[str], None]
) -> None:
    """Tell of depths that became one machine code."""
    first: dict[tuple[str, str, bytes], Plan] = {}
    for path, plan, cubin in made:
        if cubin is None or plan.num_stages is None:
            continue
        other = first.setdefault((case_of(variant_of(plan)), plan.arch, cubin), plan)
        if other.num_stages != plan.num_stages:
            warn(
                f"{path}: the same code as num_stages={other.num_stages}: "
                "does the plan define the depth?"
            )


def _differing(left: Plan, right: Plan) -> Iterator[str]:
    ours, theirs = scalars_of(left), scalars_of(right)
    for name in sorted(ours.keys() | theirs.keys()):
        values = ours.get(name), theirs.get(name)
        if values[0] != values[1] and values != (left.num_stages, right.num_stages):
            yield f"{name}: {values[1]} and {values[0]}"
    tensors = [{one.name: one for one in tensors_of(plan)} for plan in (right, left)]
    for name in sorted(tensors[0].keys() | tensors[1].keys()):
        shown = [
            "none"
            if (one := there.get(name)) is None
            else f"{one.role} {one.dtype} {list(one.shape)}"
            for there in tensors
        ]
        if shown[0] != shown[1]:
            yield f"{name}: {shown[0]} and {shown[1]}"
