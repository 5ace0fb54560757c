"""Is every combination of the axes a variant, once, in an order that can be relied on?"""

import pytest

from stagebench.errors import UsageError
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan, expand

GEMM = parse_kernel("gemm")


def points(plan, depths=(1, 2)):
    return [(r.arch, r.params, r.num_stages) for r in expand(plan, GEMM, depths)]


def test_the_default_sweep():
    """Two archs, four depths, nothing else."""
    requests = expand(SweepPlan(), GEMM, (1, 2, 3, 4))
    assert [(r.arch, r.num_stages) for r in requests] == [
        (arch, depth) for arch in ("sm_80", "sm_90a") for depth in (1, 2, 3, 4)
    ]
    assert {(r.kernel, r.path, r.function) for r in requests} == {("gemm", None, "gemm")}


def test_order():
    """Arch outermost, then parameters by name with values as given, depth innermost."""
    plan = SweepPlan(archs=("sm_90a", "sm_80"), params={"b": (2, 1), "a": ("x", "y")})
    found = points(plan)
    assert len(found) == 2 * 2 * 2 * 2
    assert found[:5] == [
        ("sm_90a", {"a": "x", "b": 2}, 1),
        ("sm_90a", {"a": "x", "b": 2}, 2),
        ("sm_90a", {"a": "x", "b": 1}, 1),
        ("sm_90a", {"a": "x", "b": 1}, 2),
        ("sm_90a", {"a": "y", "b": 2}, 1),
    ]
    assert found[8][0] == "sm_80"


def test_a_tuple_is_one_value():
    """A tuple among the values of an axis is one of them."""
    plan = SweepPlan(archs=("sm_80",), params={"tile": ((64, 64), (32, 32))})
    assert [params["tile"] for _, params, _ in points(plan, (2,))] == [(64, 64), (32, 32)]


def test_as_written():
    """No depth: one variant for each combination of the rest."""
    assert points(SweepPlan(archs=("sm_80",)), (None,)) == [("sm_80", {}, None)]


@pytest.mark.parametrize(
    ("plan", "depths", "words"),
    [
        ({}, (-1,), "num_stages -1 is out of range"),
        ({}, (1025,), "num_stages 1025 is out of range"),
        ({}, (2, 2), "--num-stages has a value twice"),
        ({}, (), "--num-stages has no value"),
        ({"archs": ()}, (1,), "--arch has no value"),
        ({"archs": ("sm_80", "sm_80")}, (1,), "--arch has a value twice"),
        ({"archs": ("sm_81",)}, (1,), "unknown arch 'sm_81'"),
        ({"params": {"K": ()}}, (1,), "K has no value"),
        ({"params": {"K": (64, 64)}}, (1,), "K has a value twice"),
        ({"params": {"num_stages": (1,)}}, (1,), "num_stages carries the depth"),
        ({"params": {"d": (1,)}, "stage_param": "d"}, (1,), "d carries the depth"),
        ({"params": {"K": (float("inf"),)}}, (1,), "K has a value that can't be passed, inf"),
        ({"params": {"K": (float("nan"),)}}, (1,), "K has a value that can't be passed, nan"),
        ({"params": {"K": (b"x",)}}, (1,), "K has a value that can't be passed"),
        ({"params": {"K": (object,)}}, (1,), "K has a value that can't be passed"),
        ({"params": {"K": ((((1,),),),)}}, (1,), "K has a value that can't be passed"),
    ],
)
def test_what_is_wrong_with_a_plan(plan, depths, words):
    """A depth, an arch or a value that can't be swept is named before anything is lowered."""
    with pytest.raises(UsageError, match="^" + words.replace("(", r"\(")):
        expand(SweepPlan(**plan), GEMM, depths)


def test_the_edges_of_the_range():
    """0 and 1024 are depths."""
    assert [d for *_, d in points(SweepPlan(archs=("sm_80",)), (0, 1024))] == [0, 1024]


def test_values_that_are_equal_and_not_the_same():
    """1, 1.0 and True are three values of an axis."""
    plan = SweepPlan(archs=("sm_80",), params={"x": (1, 1.0, True)})
    assert [repr(params["x"]) for _, params, _ in points(plan, (2,))] == ["1", "1.0", "True"]


@pytest.mark.parametrize("plan", [SweepPlan(num_stages=()), SweepPlan(archs=("sm_1",))])
@pytest.mark.tilelang
def test_a_wrong_plan_starts_nothing(plan):
    """No depth at all is not the default depths, and nothing is lowered for a wrong plan."""
    with pytest.raises(UsageError):
        run_sweep(plan, SweepOptions(use_cache=False))
