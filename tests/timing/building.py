"""Writes probe buffers as probed kernels do, and timings of depths, all from plain values."""

import struct

from msgspec.structs import replace

from stagebench.model.timing import (
    DepthFacts,
    Measurement,
    ProbeMetadata,
    ProbeSite,
    SiteStall,
    Stalls,
    TimingProblem,
    VariantTiming,
)
from stagebench.probe.layout import MAGIC

LOW = 0xFFFFFFFF
BITS = 24  # of a record's tag, for its index; the others are for the site


def site(id_, op="mbarrier_wait", **changed):
    values = {
        "id": id_, "name": f"site {id_}", "op": op, "args": {}, "role": "consumer",
        "section": "body", "barrier_kind": None, "file": "gemm.py", "line": 40 + id_,
        "line_kind": "exact", "cuda_line": 60 + id_, "ptx_line": 100 + id_, "copy": 0,
        "copies": 1, "predicted": None,
    }  # fmt: skip
    return ProbeSite(**(values | changed))


def metadata(sites, *, cap=8, ctas=1, roles=("producer", "consumer"), **changed):
    stride = 64 + 16 * cap
    values = {
        "kernel": "gemm", "symbol": "__sbp_base", "sites": tuple(sites),
        "calibration_site": len(sites), "pairs": (), "ordinal_bits": BITS, "cap": cap,
        "stride_bytes": stride,
        "buffer_bytes": ctas * len(roles) * stride, "warps_per_cta": len(roles),
        "warp_roles": tuple(roles), "grid_ctas": ctas, "sampled_ctas": ctas, "cta_step": 1,
    }  # fmt: skip
    return ProbeMetadata(**(values | changed))


def lane(
    waits,
    *,
    cta=0,
    warp=0,
    cap=8,
    clock=(10_000, 20_000),
    timer=(5_000, 10_000),
    sm=7,
    entry=MAGIC,
    exit_=MAGIC,
    count=None,
    calibration=2,
    read=20,
):
    """``waits`` are ``(site, cycles since entry, cycles)``; a calibration record comes first.

    A fourth number is the cycles of the next site's wait, which shares the record.
    """
    records = [
        (site, (clock[0] + at) & LOW, took & LOW, *(cycles & LOW for cycles in second))
        for site, at, took, *second in waits
    ]
    if calibration is not None:
        records.insert(0, (calibration, clock[0] & LOW, read))
    attempted = len(records) if count is None else count
    head = struct.pack(
        "<4Q8I", timer[0], clock[0], timer[1], clock[1], sm, cta, warp, entry,
        attempted if exit_ else 0, warp, exit_, 0,
    )  # fmt: skip
    body = b"".join(
        struct.pack("<4I", found << BITS | ordinal, t0, first, *(second or [ordinal]))
        for ordinal, (found, t0, first, *second) in enumerate(records[:cap])
    )
    return head + body + bytes(16 * (cap - min(cap, len(records))))


def poke(data, offset, value, *, form="<I"):
    """``data`` with one number replaced."""
    return data[:offset] + struct.pack(form, value) + data[offset + struct.calcsize(form) :]


def measured(median, spread=1.0, runs=20):
    return Measurement(
        median_us=median, low_us=median - spread, high_us=median + spread, runs=runs, level=0.95
    )


def facts(depth, *, registers=168, ctas_per_sm=1, smem=None):
    return DepthFacts(
        versions={"A_shared": depth, "B_shared": depth},
        wait_depths={"wgmma_wait": (0,)},
        barriers=2 * depth,
        smem_bytes=32768 * depth if smem is None else smem,
        registers=registers,
        ctas_per_sm=ctas_per_sm,
    )


def stall(mean, *, cause="data", role="consumer", section="body", executions=100, id_=0):
    kind = {"data": "full", "slot": "empty"}.get(cause, "other")
    return SiteStall(
        site=site(id_, role=role, section=section, barrier_kind=kind),
        cause=cause,
        executions=executions,
        predicted=executions,
        warps=4,
        mean_cycles=mean,
        p50_cycles=mean,
        p95_cycles=mean,
        max_cycles=int(mean),
        total_cycles=int(mean * executions),
        share=0.5,
    )


def timing(depth, us, *found, spread=1.0, correct=True, **of_facts):
    return VariantTiming(
        num_stages=depth,
        facts=facts(depth, **of_facts),
        base=None if us is None else measured(us, spread),
        control=measured(100.0) if found else None,
        probed=measured(100.0) if found else None,
        stalls=Stalls(sites=found, roles=(), read_cycles=20.0, problems=()),
        correct=correct,
    )


def broken(one):
    """The same with records that were dropped."""
    problem = TimingProblem(
        kind="dropped", message="3 records did not fit", cta=0, warp=1, record=None,
        offset_bytes=None, count=3,
    )  # fmt: skip
    return replace(one, stalls=replace(one.stalls, problems=(problem,)))


def without(one, build, problem=None):
    """The same with a build that is refused, or (no ``problem``) was not timed."""
    kept = replace(one, **{build: None}, refused={} if problem is None else {build: problem})
    return replace(kept, stalls=None) if build == "probed" and problem else kept


def probed_at(one, cost):
    """The same with probes that cost so much."""
    return replace(one, control=measured(100.0), probed=measured(100.0 * cost))
