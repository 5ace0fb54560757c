"""Does a launch plan fit the PTX that its source became?  Entry, parameters, bounds of the block.

Parameters are held against their sizes: a pointer has 64 bits, a scalar those of its dtype, a
tensor map 128 bytes (CUDA Driver API, "Tensor Map Object Management").  Bounds are those of
``.maxntid``, ``.reqntid`` and ``.reqnctapercluster`` (PTX ISA, "Performance-Tuning Directives",
"Cluster Dimension Directives").
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from math import prod

from stagebench.assemble.ptx_step import find_entry
from stagebench.bundle.plan_records import ELEMENT_BITS, Plan, PlanArgument
from stagebench.errors import UsageError
from stagebench.ptx.records import Function, Module, Variable

_POINTER_BITS = 64
_DESCRIPTOR_BITS = 1024


def entry_of(plan: Plan, module: Module, ptx: str, where: str) -> Function:
    """The kernel that the plan names, mangled or not; `UsageError` lists those that are there."""
    name = find_entry(ptx, plan.entry)
    found = next((one for one in module.entries if one.name == name), None)
    if found is None:
        there = [one.name for one in module.entries]
        near = difflib.get_close_matches(plan.entry, there, n=1)
        raise UsageError(
            f"{where}: no entry {plan.entry} in {plan.source}; "
            f"there {'is' if len(there) == 1 else 'are'} {', '.join(there) or 'none'}",
            hint=f"entry = '{(near or there)[0]}'"
            if there
            else "a kernel is __global__, and a template has to be instantiated",
        )
    return found


def check_fits(plan: Plan, function: Function, where: str) -> None:
    """Raise `UsageError` for what the PTX contradicts, naming the argument or the directive."""
    for problem, hint in (*_parameters(plan, function), *_bounds(plan, function)):
        raise UsageError(f"{where}: {problem}", hint=hint)


def parameter_bits(variable: Variable) -> int | None:
    """Size of a PTX parameter; ``None``: its type has none."""
    if variable.bits is None or None in variable.shape:
        return None
    return variable.bits * prod(extent for extent in variable.shape if extent is not None)


def _parameters(plan: Plan, function: Function) -> Iterator[tuple[str, str | None]]:
    if len(plan.arguments) != len(function.params):
        listed = ", ".join(_shown(one) for one in function.params) or "none"
        yield (
            f"{len(plan.arguments)} arguments, {function.name} takes {len(function.params)}",
            f"its .param list: {listed}",
        )
        return
    for argument, variable in zip(plan.arguments, function.params, strict=True):
        bits, wanted = parameter_bits(variable), _bits(argument)
        if bits is None or bits == wanted:
            continue
        kind = "a descriptor" if argument.descriptor else "a tensor's pointer"
        if argument.value is not None:
            kind = argument.dtype or ""
        hint = "arguments are in the order of the kernel's signature"
        if bits > _POINTER_BITS and bits != _DESCRIPTOR_BITS:
            hint = "a struct by value can't be passed: give the kernel its members as arguments"
        yield (
            f"argument {argument.name}: {kind} has {wanted // 8 or 1} bytes, "
            f"the PTX's parameter {_shown(variable)}",
            hint,
        )


def _bits(argument: PlanArgument) -> int:
    if argument.descriptor is not None:
        return _DESCRIPTOR_BITS
    if argument.value is None:
        return _POINTER_BITS
    return ELEMENT_BITS[argument.dtype or ""]


def _shown(variable: Variable) -> str:
    kind = " ".join(one for one in variable.qualifiers if one not in (".param", ".ptr"))
    shape = "".join(f"[{'' if extent is None else extent}]" for extent in variable.shape)
    return f"{kind} {variable.name}{shape}"


def _bounds(plan: Plan, function: Function) -> Iterator[tuple[str, str | None]]:
    threads = prod(plan.block)
    most = function.directives.get(".maxntid")
    if most is not None and threads > prod(most):
        yield (
            f"a block of {threads} threads, {function.name} allows {prod(most)} "
            f"(.maxntid {_list(most)})",
            "a smaller block, or other __launch_bounds__",
        )
    exact = function.directives.get(".reqntid")
    if exact is not None and _three(exact) != _three(plan.block):
        yield (
            f"a block of {_list(plan.block)}, {function.name} wants {_list(exact)} (.reqntid)",
            f"block = [{_list(exact)}]",
        )
    cluster = function.directives.get(".reqnctapercluster")
    if cluster and _three(cluster) != _three(plan.cluster or (1, 1, 1)):
        yield (
            f"{'no cluster' if plan.cluster is None else f'a cluster of {_list(plan.cluster)}'}, "
            f"{function.name} wants {_list(cluster)} (.reqnctapercluster)",
            f"cluster = [{_list(cluster)}]",
        )


def _three(extents: tuple[int, ...]) -> tuple[int, ...]:
    return (*extents, 1, 1, 1)[:3]


def _list(extents: tuple[int, ...]) -> str:
    return ", ".join(map(str, extents))
