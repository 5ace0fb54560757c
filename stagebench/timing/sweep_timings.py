"""Which measured variants make one sweep of depths?  Results joined with facts and stalls.

Variants that differ in nothing but ``num_stages`` are one sweep; one without a depth is alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from stagebench.gpu.records import ProfiledVariant
from stagebench.model import Facts, Variant
from stagebench.model.codec import decode as decode_json
from stagebench.model.codec import encode_pretty
from stagebench.model.timing import DepthFacts, ProbeMetadata, RunVerdict, Stalls, VariantTiming
from stagebench.timing.decode import decode
from stagebench.timing.depth_facts import depth_facts
from stagebench.timing.stalls import stalls

CORRECT: Mapping[RunVerdict, bool] = {"correct": True, "wrong": False, "race": False}
"""What a verdict says of the output; of one that is not here, nothing."""


@dataclass(frozen=True)
class BuildFacts:
    """What the device's driver says of the build that ran, and the occupancy that follows."""

    registers: int
    ctas_per_sm: int | None


def read_stalls(buffer: bytes, metadata: bytes, source: str) -> Stalls:
    """The stalls of a raw probe buffer; `DumpError` where the metadata can't be read."""
    found = decode_json(metadata, ProbeMetadata, source)
    return stalls(decode(buffer, found), found)


def sweep_timings(
    variants: Sequence[ProfiledVariant],
    facts: Mapping[str, Facts],
    stalls_of: Mapping[str, Stalls],
    builds_of: Mapping[str, BuildFacts] | None = None,
    given: Mapping[str, DepthFacts] | None = None,
) -> tuple[tuple[Variant, tuple[VariantTiming, ...]], ...]:
    """One entry for each sweep: a variant that names it, and its depths in ascending order.

    ``facts`` and ``stalls_of`` are by the variants' ids; what has none is not known.
    ``builds_of`` wins over what the facts say of registers and occupancy; ``given`` is what is
    known of kernels without facts.
    """
    found: dict[tuple[bytes, bool], list[tuple[Variant, VariantTiming]]] = {}
    for each in variants:
        depth = each.variant.num_stages
        known = facts.get(each.id)
        depth_known = (given or {}).get(each.id) if known is None else depth_facts(known)
        built = (builds_of or {}).get(each.id)
        if depth_known is not None and built is not None:
            depth_known = msgspec.structs.replace(
                depth_known, registers=built.registers, ctas_per_sm=built.ctas_per_sm
            )
        timing = _timing(each, depth, depth_known, stalls_of.get(each.id))
        found.setdefault((sweep_key(each.variant), depth is None), []).append(
            (each.variant, timing)
        )
    return tuple(
        (members[0][0], tuple(sorted((timing for _, timing in members), key=_depth)))
        for members in found.values()
    )


def _depth(timing: VariantTiming) -> int:
    return -1 if timing.num_stages is None else timing.num_stages


def sweep_key(variant: Variant) -> bytes:
    """What the depths of one sweep share: everything but ``num_stages``."""
    params = {name: value for name, value in variant.params.items() if name != "num_stages"}
    return encode_pretty(
        (variant.kernel, variant.compiler, variant.arch, params, variant.pass_configs)
    )


def _timing(
    found: ProfiledVariant, depth: int | None, facts: DepthFacts | None, waits: Stalls | None
) -> VariantTiming:
    """Of a build that is refused neither time nor stalls are used."""
    refused = {build.kind: build.problem for build in found.builds if build.problem is not None}
    times = {build.kind: build.time for build in found.builds if build.kind not in refused}
    return VariantTiming(
        num_stages=depth,
        facts=facts,
        base=times.get("base"),
        control=times.get("control"),
        probed=times.get("probed"),
        stalls=None if "probed" in refused else waits,
        correct=CORRECT.get(found.correctness.verdict),
        verdict=found.correctness.verdict,
        refused={kind: problem for kind, problem in refused.items() if kind != "base"},
        audit=found.audit,
    )
