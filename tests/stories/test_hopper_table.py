"""Is the README's table of a Hopper GPU what was recorded?"""

from pathlib import Path

from stagebench.gpu.records import Profile
from stagebench.model.codec import decode
from stagebench.timing.per_tile import stall_by_cause
from stagebench.timing.recorded import read_measured

ROOT = Path(__file__).parents[2]
HOPPER = ROOT / "experiments" / "hopper"


def sweep_of(arch):
    measured = read_measured(HOPPER / "timings.json")
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
    """No wrong output, no damaged record, every count as predicted."""
    for sweep in read_measured(HOPPER / "timings.json").sweeps:
        for timing in sweep.timings:
            assert timing.correct is True
            assert timing.stalls.problems == ()
            assert all(s.executions == s.predicted for s in timing.stalls.sites)


def test_probes_cost_at_most_one_twentieth():
    """At every depth that is asked for; attention without a pipeline is another kernel probed."""
    costs = {}
    for sweep in read_measured(HOPPER / "timings.json").sweeps:
        for timing in sweep.timings:
            if sweep.variant.kernel == "flash_attention" and timing.num_stages == 0:
                continue
            name = sweep.variant.kernel, sweep.variant.arch, timing.num_stages
            costs[name] = timing.probed.median_us / timing.base.median_us
    assert len(costs) == 26
    assert max(costs.values()) < 1.05, costs


def test_every_depth_and_build_gave_the_same_bits():
    """Six runs of each variant, cold and warm; base, control and probed; as float64 says."""
    profile = decode((HOPPER / "profile.json").read_bytes(), Profile, "profile.json")
    assert profile.complete
    assert len(profile.variants) == 28
    for one in profile.variants:
        said = one.correctness
        assert (said.verdict, said.runs, said.differing_runs) == ("correct", 6, 0)
        assert said.smem_poisoned
        assert [build.same_as_base for build in one.builds] == [None, True, True]
        assert all(tensor.agrees and tensor.unwritten == 0 for tensor in said.tensors)
        first = "/".join(one.id.split("/")[:-1]) + "/num_stages=0"
        if one.id == first:
            assert said.reference == "float64"
        else:
            assert said.reference == f"{first} and float64"
            assert said.tensors[0].bit_equal
