"""How often does a body run whose trip count depends on the loops around it?"""

from pathlib import Path

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="module")
def facts():
    """The facts of a kernel that has each kind of nest."""
    (found,) = lower(request("nests", path=KERNELS / "nests.py", arch="sm_90a"))
    assert found.result.facts is not None, found.result.failure
    return found.result.facts


def test_executions_are_added_up(facts):
    """Over static ranges exactly, other loops are factors; no loop variable is in a count.

    ``min(i + 1, 5)`` over i < 8 is 30; a nest over memory, or over a range that memory says, has
    no count.
    """
    executed = {op: total.dynamic for op, total in facts.sync_totals.items()}
    assert executed == {
        "syncthreads": "30*n",
        "warp_sync": sum(j // 2 for i in range(2, 6) for j in range(i * i)),
        "cp_async_commit": None,
        "cp_async_wait": None,
        "fence_proxy_async": 8,
    }


def test_both_levels_add_up_alike(facts):
    """The generated CUDA, read on its own, has the same integers."""
    assert [d.message for d in facts.diagnostics if d.code.startswith(("ir-", "cuda-"))] == []


def test_what_is_an_upper_bound_or_not_known_is_said(facts):
    """A condition on a loop's index counts as taken, and is named; so is a loop without a count."""
    notes = {d.code: d.message for d in facts.diagnostics}
    assert "behind `i < 3` (fence_proxy_async)" in notes["every-branch-taken"]
    assert "cp_async_commit in i<A[0] > j<i + 1;" in notes["executions-not-known"]
