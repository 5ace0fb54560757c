"""Which measured variants make one sweep of depths?  Results joined with facts and stalls.

Variants that differ in nothing but ``num_stages`` are one sweep; a variant without a depth is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagebench.gpu.records import ProfiledVariant
from stagebench.model import Facts, Variant
from stagebench.model.codec import decode as decode_json
from stagebench.model.codec import encode_pretty
from stagebench.model.timing import ProbeMetadata, Stalls, VariantTiming
from stagebench.timing.decode import decode
from stagebench.timing.depth_facts import depth_facts
from stagebench.timing.stalls import stalls

_RIGHT = {"correct": True, "wrong": False, "race": False}


def read_stalls(buffer: bytes, metadata: bytes, source: str) -> Stalls:
    """The stalls of a raw probe buffer; `DumpError` where the metadata can't be read."""
    found = decode_json(metadata, ProbeMetadata, source)
    return stalls(decode(buffer, found), found)


def sweep_timings(
    variants: Sequence[ProfiledVariant],
    facts: Mapping[str, Facts],
    stalls_of: Mapping[str, Stalls],
) -> tuple[tuple[Variant, tuple[VariantTiming, ...]], ...]:
    """One entry for each sweep: a variant that names it, and its depths in ascending order.

    ``facts`` and ``stalls_of`` are by the variants' ids; what has none is not known.
    """
    found: dict[bytes, list[tuple[Variant, VariantTiming]]] = {}
    for each in variants:
        depth = each.variant.num_stages
        if depth is None:
            continue
        timing = _timing(each, depth, facts.get(each.id), stalls_of.get(each.id))
        found.setdefault(_sweep(each.variant), []).append((each.variant, timing))
    return tuple(
        (members[0][0], tuple(sorted((timing for _, timing in members), key=_depth)))
        for members in found.values()
    )


def _depth(timing: VariantTiming) -> int:
    return timing.num_stages


def _sweep(variant: Variant) -> bytes:
    params = {name: value for name, value in variant.params.items() if name != "num_stages"}
    return encode_pretty(
        (variant.kernel, variant.compiler, variant.arch, params, variant.pass_configs)
    )


def _timing(
    found: ProfiledVariant, depth: int, facts: Facts | None, waits: Stalls | None
) -> VariantTiming:
    times = {build.kind: build.time for build in found.builds}
    return VariantTiming(
        num_stages=depth,
        facts=None if facts is None else depth_facts(facts),
        base=times.get("base"),
        control=times.get("control"),
        probed=times.get("probed"),
        stalls=waits,
        correct=_RIGHT.get(found.correctness.verdict),
    )
