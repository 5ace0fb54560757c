"""What does a walk say as facts?  Paths by role, unknown branches, bytes moved.

Roles: where some warps copy (TMA, ``cp.async``) and others multiply, the first are the producer and
the second the consumer; a warp that does neither belongs to the producer if it gives registers
away (``setmaxnreg.dec``), and to ``all`` otherwise, as does every warp of a kernel without roles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagebench.errors import UsageError
from stagebench.model.facts import LaunchParam
from stagebench.model.machine import RoleCount, Walk
from stagebench.ptx.cuda_lines import cuda_lines
from stagebench.ptx.executed import Execution, ThreadGroup
from stagebench.ptx.records import Function
from stagebench.ptx.traffic import bytes_loaded, bytes_stored

_COPIES = ("tma_load", "cp_async_copy")
_MULTIPLIES = ("wgmma", "mma_sync", "tcgen05_mma")
_POINTERS = 1 << 46
_POINTER_STEP = 1 << 36


def parameter_values(
    function: Function, params: Sequence[LaunchParam], scalars: Mapping[str, int]
) -> dict[str, int | None]:
    """Values of a kernel's PTX parameters: made-up addresses of tensors, scalars as given by name.

    Device parameters are in the order of the launch plan; raises `UsageError` if the numbers of
    parameters differ.
    """
    if len(params) != len(function.params):
        raise UsageError(
            f"kernel {function.name} has {len(function.params)} parameters in its PTX, "
            f"{len(params)} in its launch plan",
            hint="Assemble the CUDA of the same dump: stagebench sweep --machine",
        )
    values: dict[str, int | None] = {}
    for position, (variable, param) in enumerate(zip(function.params, params, strict=True)):
        if param.kind == "tensor":
            values[variable.name] = _POINTERS + position * _POINTER_STEP
        else:
            values[variable.name] = scalars.get(param.name) if param.kind == "scalar" else None
    return values


def walk_facts(execution: Execution, box_bytes: Mapping[str, int] | None = None) -> Walk:
    """Return the record of a walk; of one that is not complete no counts are kept.

    Raises `UsageError` for a walk of no CTA in particular.
    """
    x, y, z = execution.placement.cta
    if x is None or y is None or z is None:
        raise UsageError("a walk that does not know its block has no facts of one")
    roles = thread_roles(execution)
    stopped = [stop.instruction for stop in execution.stops]
    lines = cuda_lines(execution.program.function, stopped)
    complete = execution.complete
    return Walk(
        cta=(x, y, z),
        complete=complete,
        paths=tuple(
            RoleCount(
                role=role,
                first_thread=group.threads[0],
                threads=len(group.threads),
                warps=group.warps,
                counts=counts_by_op(execution, group),
            )
            for group, role in zip(execution.groups, roles, strict=True)
            if complete
        ),
        unknown_branches=tuple(sorted({one.line for one in lines if one is not None})),
        bytes_loaded=bytes_loaded(execution) if complete else None,
        bytes_stored=bytes_stored(execution, box_bytes) if complete else None,
    )


def counts_by_op(execution: Execution, group: ThreadGroup) -> dict[str, int]:
    """What one thread of a group executes, by op and family; what it never does is left out."""
    counts: dict[str, int] = {}
    for site in execution.program.sites:
        counts[site.op] = counts.get(site.op, 0) + group.counts[site.index]
    for index, name in execution.program.families.items():
        if index not in execution.uncounted:
            counts[name] = counts.get(name, 0) + group.counts[index]
    return {op: counts[op] for op in sorted(counts) if counts[op]}


def thread_roles(execution: Execution) -> list[str]:
    """Return the role of each group of an execution."""
    copying: set[int] = set()
    multiplying: set[int] = set()
    giving: set[int] = set()
    for group in execution.groups:
        for site in execution.program.sites:
            if group.counts[site.index]:
                if site.op in _COPIES:
                    copying.update(group.warps)
                elif site.op in _MULTIPLIES:
                    multiplying.update(group.warps)
                elif site.op == "setmaxnreg" and site.args.get("increase") == 0:
                    giving.update(group.warps)
    producing = copying - multiplying
    specialised = bool(producing and multiplying)
    producing |= giving - multiplying
    groups = execution.groups
    return [_role(set(group.warps), producing, multiplying, specialised) for group in groups]


def _role(warps: set[int], producing: set[int], multiplying: set[int], specialised: bool) -> str:
    if not specialised:
        return "all"
    if warps <= producing:
        return "producer"
    return "consumer" if warps <= multiplying else "all"
