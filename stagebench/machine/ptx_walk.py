"""How is the PTX of a lowered variant walked: which CTA, which parameters, which boxes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stagebench.errors import UsageError
from stagebench.model import Diagnostic, Evidence, Extent, Launch
from stagebench.ptx.executed import Execution, walk
from stagebench.ptx.records import Function, Module
from stagebench.ptx.thread_class import Placement
from stagebench.ptx.walk_facts import parameter_values

_ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
"""Bytes of an element by ``CUtensorMapDataType`` (CUDA driver API, "Tensor Map Object")."""


@dataclass(frozen=True)
class Walked:
    """A walk with what it needs to become facts.

    ``box_bytes`` is by the PTX parameter that holds the descriptor; ``notes`` say what about the
    launch had to be assumed.
    """

    execution: Execution
    box_bytes: dict[str, int]
    notes: tuple[Diagnostic, ...]


def walk_kernel(module: Module, launch: Launch, scalars: Mapping[str, int]) -> Walked:
    """Walk block 0 of the kernel that a launch plan names; ``scalars`` are arguments by name.

    Raises `UsageError` where the module does not hold it.
    """
    function = next((one for one in module.entries if one.name == launch.function), None)
    if function is None:
        names = ", ".join(one.name for one in module.entries) or "none"
        raise UsageError(f"no kernel {launch.function} in the PTX (found: {names})")
    placement = Placement(
        block=_known(launch.block), grid=_known(launch.grid), cluster=_known(launch.cluster)
    )
    params = parameter_values(function, launch.params, scalars)
    execution = walk(module, function, placement, params)
    return Walked(
        execution=execution,
        box_bytes=_boxes(function, launch),
        notes=(*_assumed(launch), *_stops(execution, module)),
    )


def _known(extents: tuple[Extent, Extent, Extent] | None) -> tuple[int, int, int]:
    """Symbolic extents are walked as 1: block 0 exists in every launch."""
    x, y, z = (one if isinstance(one, int) else 1 for one in extents or (1, 1, 1))
    return x, y, z


def _assumed(launch: Launch) -> Iterator[Diagnostic]:
    symbolic = [
        name
        for name, extents in (("grid", launch.grid), ("block", launch.block))
        if any(not isinstance(extent, int) for extent in extents)
    ]
    if symbolic:
        yield Diagnostic(
            severity="note",
            code="walked-as-one",
            message=f"symbolic {' and '.join(symbolic)}: the walk takes unknown extents as 1",
        )


def _stops(execution: Execution, module: Module) -> Iterator[Diagnostic]:
    for stop in execution.stops[:4]:
        yield Diagnostic(
            severity="note",
            code="data-dependent-branch",
            message=f"executions are not known from here on: {stop.reason}",
            evidence=(
                Evidence(
                    artifact="kernel.ptx",
                    line=stop.ptx_line,
                    text=module.lines[stop.ptx_line - 1].strip(),
                ),
            ),
        )


def _boxes(function: Function, launch: Launch) -> dict[str, int]:
    """Bytes that one TMA instruction moves, by the PTX parameter of its descriptor."""
    descriptors = {descriptor.name: descriptor for descriptor in launch.tma_descriptors}
    found: dict[str, int] = {}
    for variable, param in zip(function.params, launch.params, strict=False):
        descriptor = descriptors.get(param.name)
        if descriptor is None or descriptor.data_type >= len(_ELEMENT_BYTES):
            continue
        size = _ELEMENT_BYTES[descriptor.data_type]
        for extent in descriptor.box:
            if not isinstance(extent, int):
                break
            size *= extent
        else:
            found[variable.name] = size
    return found
