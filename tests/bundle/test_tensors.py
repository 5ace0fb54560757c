"""Which tensors does a real kernel read and write?  Wrong roles would poison an input."""

from pathlib import Path

import pytest

from stagebench.experiment.sweep_plan import SweepPlan
from tests.corpus.test_ground_truth import CASES, plan_of
from tests.lowered import results, warm

pytestmark = pytest.mark.tilelang

KERNELS = Path(__file__).with_name("kernels") / "updates.py"
CORPUS = {
    "k01_gemm_layouts-gemm_nt-sm_80": [("A", "r"), ("B", "r"), ("C", "w")],
    "k01_gemm_layouts-gemm_nt-sm_90a": [("A", "r"), ("B", "r"), ("C", "w")],
    "k09_dynamic_extent-symbolic_k-sm_90a": [("A", "r"), ("B", "r"), ("C", "w")],
    "k18_three_groups-three_streams-sm_80": [("a", "r"), ("b", "r"), ("c", "r"), ("out", "w")],
}
UPDATES = {
    "in_place": [("X", "r"), ("Y", "rw"), ("unused", "")],
    "added": [("X", "r"), ("total", "rw")],
}


def plan(function):
    return SweepPlan(
        kernel=f"{KERNELS}:{function}", num_stages=(1,), archs=("sm_90a",), params={"n": (256,)}
    )


@pytest.fixture(scope="module", autouse=True)
def _lowered():
    cases = [case for case in CASES if case.key in CORPUS]
    warm([*map(plan_of, cases), *map(plan, UPDATES)])


def roles(one):
    tensors = one.facts.launch.tensors
    return [(t.name, "r" * t.read + "w" * t.written) for t in tensors]


@pytest.mark.parametrize("key", CORPUS)
def test_roles_of_the_corpus(key):
    """By cp.async, by TMA and by plain loads: what is read, and what is written, at every depth."""
    (case,) = (case for case in CASES if case.key == key)
    lowered = [one for one in results(plan_of(case)) if one.facts is not None]
    assert len(lowered) == len(case.depths)
    assert [roles(one) for one in lowered] == [CORPUS[key]] * len(lowered)


@pytest.mark.parametrize("function", UPDATES)
def test_what_is_updated(function):
    """An update and an atomic read and write; a parameter that nothing touches does neither."""
    (one,) = results(plan(function))
    assert roles(one) == UPDATES[function]


def test_symbolic_shapes():
    """A dynamic extent stays a name in the shape and in the strides."""
    (case,) = (case for case in CASES if case.key == "k09_dynamic_extent-symbolic_k-sm_90a")
    tensor = results(plan_of(case))[0].facts.launch.tensors[0]
    assert (tensor.name, tensor.dtype) == ("A", "float16")
    assert (tensor.shape, tensor.strides) == ((256, "K"), ("K", 1))
