"""Is the README's table of a Hopper GPU what was recorded?"""

from pathlib import Path

from stagebench.timing.measured import read_measured
from stagebench.timing.per_tile import stall_by_cause

ROOT = Path(__file__).parents[2]


def sweep_of(arch):
    measured = read_measured(ROOT / "experiments" / "hopper" / "timings.json")
    return next(
        sweep.timings
        for sweep in measured.sweeps
        if (sweep.variant.kernel, sweep.variant.arch) == ("gemm", arch)
    )


def row(label):
    line = next(
        line
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith(f"| {label}")
    )
    return [cell.strip().strip("*") for cell in line.strip("|").split("|")[1:]]


def waits(timings, key):
    found = [stall_by_cause(timing.stalls).get(key) for timing in timings]
    return ["–" if value is None else f"{value:.0f}" for value in found]


def test_the_table_is_what_was_recorded():
    """Times and waits, by value, from the recorded run."""
    hopper, ampere = sweep_of("sm_90a"), sweep_of("sm_80")
    assert row("kernel, µs") == [f"{one.base.median_us:.1f}" for one in hopper]
    assert row("consumer waits for data") == waits(hopper, ("consumer", "data"))
    assert row("producer waits for a free slot") == waits(hopper, ("producer", "slot"))
    assert row("the same tile as sm_80 code") == [f"{one.base.median_us:.1f}" for one in ampere]


def test_everything_recorded_was_right_and_whole():
    """No wrong output, no damaged record, every count as predicted; probes at most 8 % dearer."""
    for arch in ("sm_90a", "sm_80"):
        for timing in sweep_of(arch):
            assert timing.correct is True
            assert timing.stalls.problems == ()
            assert all(s.executions == s.predicted for s in timing.stalls.sites)
            assert timing.probed.median_us / timing.base.median_us < 1.08
