"""Which results are one sweep, and what is known of each depth?"""

import pytest
from msgspec import json

from stagebench.errors import DumpError
from stagebench.gpu.records import BuildRun, Correctness, ProfiledVariant
from stagebench.model import Compiler, Variant
from stagebench.timing.sweep_timings import read_stalls, sweep_timings
from tests.timing.building import measured
from tests.timing.test_stalls import CONSUMER, META, PRODUCER


def result(depth, *, arch="sm_90a", verdict="correct", **times):
    params = {"block_M": 128} if depth is None else {"block_M": 128, "num_stages": depth}
    variant = Variant(
        kernel="gemm", params=params, arch=arch, compiler=Compiler(name="tilelang", version="1"),
        pass_configs={},
    )  # fmt: skip
    builds = tuple(
        BuildRun(
            kind=kind, registers=None, local_bytes=None, static_smem_bytes=None,
            same_as_base=None, time=measured(us), min_us=None, rotation=None,
            rotation_bytes=None, error=None,
        )
        for kind, us in times.items()
    )  # fmt: skip
    return ProfiledVariant(
        id=f"{arch}-{depth}", variant=variant, builds=builds, control_cost=None, probe_cost=None,
        perturbed=None, probe_file=None, probe_metadata=None, error=None,
        correctness=Correctness(
            verdict=verdict, reference=None, runs=1, differing_runs=0, smem_poisoned=True,
            tensors=(),
        ),
    )  # fmt: skip


def test_one_sweep_for_each_arch():
    """In the order of depth; a variant without one is alone."""
    found = sweep_timings(
        [result(3, base=243.0), result(2, arch="sm_80"), result(1), result(None)], {}, {}
    )
    assert [(variant.arch, [t.num_stages for t in timings]) for variant, timings in found] == [
        ("sm_90a", [1, 3]),
        ("sm_80", [2]),
        ("sm_90a", [None]),
    ]
    assert found[0][1][1].base.median_us == 243.0
    assert (found[0][1][0].base, found[0][1][0].facts, found[0][1][0].stalls) == (None, None, None)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("correct", True), ("wrong", False), ("race", False), ("fails", None), ("hangs", None),
        ("not_compared", None),
    ],
)  # fmt: skip
def test_verdicts(verdict, expected):
    """A race is a wrong output; what was not compared is not known to be right."""
    ((_, (timing,)),) = sweep_timings([result(2, verdict=verdict)], {}, {})
    assert timing.correct is expected


def test_stalls_from_what_a_device_wrote():
    """A raw buffer and its metadata as JSON; other JSON is refused by its source's name."""
    found = read_stalls(PRODUCER + CONSUMER, json.encode(META), "probe-0.json")
    assert len(found.sites) == 4
    joined = sweep_timings([result(2)], {}, {"sm_90a-2": found})
    assert joined[0][1][0].stalls is found
    with pytest.raises(DumpError, match=r"probe-0\.json"):
        read_stalls(b"", b"{}", "probe-0.json")
