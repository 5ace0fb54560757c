"""Is what `profile` shows in what `profile --json` tells?"""

import re
from pathlib import Path

import pytest

from stagebench.model.codec import decode, encode_pretty
from stagebench.report.profile_rows import depth_rows
from stagebench.timing.measured import Measured, MeasuredSweep
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.profile_report import ProfileReport, profile_report
from stagebench.timing.recorded import read_measured
from tests.bundle.building import variant
from tests.timing.building import broken, probed_at, stall, timing

HOPPER = Path(__file__).parents[2] / "experiments" / "hopper"


def sweep(*timings):
    found = MeasuredSweep(variant=variant(1), timings=timings, rates=(None,) * len(timings))
    return Measured(device="a GPU", sweeps=(found,), libraries=())


def test_what_the_readme_leads_with():
    """Cycles per tile, the sentence of a step with its parts, and the rank correlations."""
    report = profile_report(None, read_measured(HOPPER))
    assert [one.name for one in report.readings][:2] == ["gemm/sm_80", "gemm/sm_90a"]
    gemm = report.readings[1]
    waits = {(w.role, w.cause): w.cycles_per_tile for w in gemm.depths[1].waits}
    table = dict(stall_by_cause(read_measured(HOPPER).sweeps[1].timings[1].stalls))
    assert waits == pytest.approx(table)
    assert {("consumer", "data"), ("producer", "slot")} < waits.keys()
    step = gemm.steps[1]
    assert (step.left, step.right, step.outcome) == (1, 2, "faster")
    assert re.match(r"1 → 2: one more slot; consumers wait \d{4} → \d{3} cycles", step.verdict)
    assert [(fact.left, fact.right) for fact in step.facts if "A_shared" in fact.name] == [
        ("1", "2")
    ]
    assert {(each.role, each.cause) for each in step.stalls} >= {("consumer", "data")}
    first = gemm.correlations[0]
    assert (first.left, first.right, first.n, first.rho) == (
        "num_stages", "kernel time", 5, pytest.approx(-0.9),
    )  # fmt: skip
    assert (round(first.low, 2), round(first.high, 2), round(first.p_value, 3)) == (
        -1.0, 0.17, 0.083,
    )  # fmt: skip
    assert first.claim == "nothing can be claimed: it may be chance"


def test_it_is_what_the_table_shows():
    """Of a depth whose probes are damaged there are no waits, and why; of perturbed ones both."""
    timings = (timing(1, 580, stall(1419)), broken(timing(2, 316, stall(450))),
               probed_at(timing(3, 243, stall(120)), 1.5))  # fmt: skip
    (reading,) = profile_report(None, sweep(*timings)).readings
    assert [one.num_stages for one in reading.depths] == [1, 2, 3]
    assert [[w.cycles_per_tile for w in one.waits] for one in reading.depths] == [
        [1419], [], [120],
    ]  # fmt: skip
    assert ("consumer waits for data, cycles per tile", "1419", "–", "120") in depth_rows(timings)
    assert [one.doubt for one in reading.depths] == [None, "damaged", "perturbed"]
    assert [one.probe_cost for one in reading.depths] == [1.0, 1.0, 1.5]
    assert list(reading.left_out.values()) == [(2,), (3,)]
    assert {one.rho for one in reading.correlations} == {None}


def test_a_report_without_readings_is_read():
    """One of an older version has none; one of this comes back as it was."""
    report = profile_report(None, sweep(timing(1, 5.0), timing(2, 4.0)))
    assert decode(encode_pretty(report), ProfileReport, "r.json") == report
    old = b'{"schema_version":1,"profile":null,"timings":' + encode_pretty(report.timings) + b"}"
    assert decode(old, ProfileReport, "r.json").readings == ()
