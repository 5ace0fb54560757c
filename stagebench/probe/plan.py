"""Which texts and metadata make up the probes of a kernel?  Before anything is assembled.

The room for records follows from the CPU walk, exactly; where the walk can't tell, from a budget of
bytes, and `PlannedProbes.cap_from` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stagebench.assemble.ptx_step import find_entry
from stagebench.errors import UsageError
from stagebench.model.base import Record
from stagebench.model.facts import Facts, Launch
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.control import control_text
from stagebench.probe.insert import ProbedText, entry_of, insert_probes, pairs_of
from stagebench.probe.layout import (
    DEFAULT_BUDGET_BYTES,
    DEFAULT_MAX_CTAS,
    SYMBOL,
    Layout,
    cap_within,
    ordinal_bits,
    sample,
    shape_of,
)
from stagebench.probe.line_insertion import Lines
from stagebench.probe.predict import Prediction, Records, predict
from stagebench.probe.site_table import site_table, warp_roles
from stagebench.probe.waits import NotProbed, find_waits
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Function


@dataclass(frozen=True)
class Placements:
    """Where everything stands in the texts, for the audit."""

    control: Lines
    probed: ProbedText


class PlannedProbes(Record, frozen=True, kw_only=True):
    """Three PTX texts and what decoding needs; not assembled yet.

    ``predicted_records`` is by sampled CTA (a single entry: all are alike), then by warp, the
    calibration record included; ``None``: not predicted.  ``cap_from`` says what the room for
    records follows from; where it is the budget, records may be dropped.
    """

    kernel: str
    base: str
    control: str
    probed: str
    metadata: ProbeMetadata
    left_out: tuple[NotProbed, ...]
    predicted_records: Records
    not_predicted: tuple[str, ...]
    cap_from: Literal["prediction", "budget"]


def plan_probes(
    ptx: str,
    launch: Launch,
    facts: Facts | None = None,
    *,
    scalars: Mapping[str, int] | None = None,
    max_ctas: int = DEFAULT_MAX_CTAS,
    budget_bytes: int = DEFAULT_BUDGET_BYTES,
    ops: frozenset[str] | None = None,
) -> tuple[PlannedProbes, Placements]:
    """Make the three texts of a launch's kernel; ``scalars`` gives its scalar arguments by name."""
    kernel = find_entry(ptx, launch.function) or launch.function
    module = read_module(ptx)
    function = entry_of(module, kernel)
    waits = find_waits(module, function, ops)
    shape = shape_of(launch)
    sampled, step = sample(shape, max_ctas)
    pairs = pairs_of(waits)
    prediction = predict(
        module,
        function,
        waits.units,
        shape,
        [place * step for place in range(sampled)],
        params=_params(function, launch, scalars or {}),
        cluster=_cluster(launch),
    )
    records = _records(prediction.records(pairs), shape.warps)
    room = cap_within(budget_bytes, sampled * shape.warps, len(waits.units))
    cap, cap_from = _cap(records, room)
    layout = Layout(shape=shape, sampled=sampled, step=step, cap=cap)
    text = insert_probes(ptx, kernel, layout, ops)
    control = control_text(ptx, kernel, ops)
    return (
        PlannedProbes(
            kernel=kernel,
            base=ptx,
            control=control.text,
            probed=text.text,
            metadata=_metadata(text, pairs, layout, prediction, facts),
            left_out=text.left_out,
            predicted_records=records,
            not_predicted=prediction.unknown,
            cap_from=cap_from,
        ),
        Placements(control, text),
    )


def _records(found: Records, warps: int) -> Records:
    """Without a site every warp still writes its calibration."""
    return found if found and found[0] else ((1,) * warps,)


def _cap(records: Records, room: int) -> tuple[int, Literal["prediction", "budget"]]:
    totals = [total for warps in records for total in warps]
    known = [total for total in totals if total is not None]
    if len(known) == len(totals) and max(known) <= room:
        return max(known), "prediction"
    return room, "budget"


def _metadata(
    text: ProbedText,
    pairs: tuple[int, ...],
    layout: Layout,
    prediction: Prediction,
    facts: Facts | None,
) -> ProbeMetadata:
    sites = site_table(text.sites, prediction, facts)
    return ProbeMetadata(
        kernel=text.kernel,
        symbol=SYMBOL,
        sites=sites,
        calibration_site=text.calibration_site,
        pairs=pairs,
        ordinal_bits=ordinal_bits(len(sites)),
        cap=layout.cap,
        stride_bytes=layout.stride,
        buffer_bytes=layout.buffer_bytes,
        warps_per_cta=layout.shape.warps,
        warp_roles=warp_roles(sites, layout.shape.warps),
        grid_ctas=layout.shape.ctas,
        sampled_ctas=layout.sampled,
        cta_step=layout.step,
    )


def _params(
    function: Function, launch: Launch, scalars: Mapping[str, int]
) -> dict[str, int | None]:
    """The PTX's parameters are the launch's, in its order."""
    names: Sequence[str] = [param.name for param in launch.params]
    unknown = sorted(scalars.keys() - set(names))
    if unknown:
        raise UsageError(
            f"{launch.function} has no argument {', '.join(unknown)}",
            hint=f"its arguments: {', '.join(names)}",
        )
    return {
        variable.name: scalars.get(name)
        for variable, name in zip(function.params, names, strict=False)
    }


def _cluster(launch: Launch) -> tuple[int, int, int] | None:
    if launch.cluster is None:
        return None
    extents = [extent for extent in launch.cluster if isinstance(extent, int)]
    return (extents[0], extents[1], extents[2]) if len(extents) == 3 else None
