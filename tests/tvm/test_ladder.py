"""The ladder of ``experiments/kernels/tvm_ladder.py``: elementwise to async pipeline, by value."""

from pathlib import Path

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
LADDER = Path(__file__).parents[2] / "experiments" / "kernels" / "tvm_ladder.py"


@pytest.fixture(scope="module")
def rungs():
    """The facts of each rung; the last one at depth 3."""
    asked = [("elementwise", None), ("shared_reduction", None), ("warp_reduction", None),
             ("async_pipeline", 3)]  # fmt: skip
    found = lower(*(request(name, depth, path=LADDER) for name, depth in asked))
    failures = [f.result.failure for f in found]
    assert failures == [None] * len(asked)
    return {name: f.result.facts for (name, _), f in zip(asked, found, strict=True)}


def totals(facts):
    return {op: (found.static, found.dynamic) for op, found in facts.sync_totals.items()}


def test_elementwise(rungs):
    """Nothing is shared and nothing synchronises."""
    assert totals(rungs["elementwise"]) == {}
    assert rungs["elementwise"].shared_memory.total_bytes == 0


def test_shared_reduction(rungs):
    """One barrier after the fill and one in each of seven levels of 128 threads."""
    assert totals(rungs["shared_reduction"]) == {"syncthreads": (2, 8)}
    assert rungs["shared_reduction"].shared_memory.static_bytes == 128 * 4


def test_warp_reduction(rungs):
    """Shuffles are no sites: one barrier is left, and a word for each warp."""
    assert totals(rungs["warp_reduction"]) == {"syncthreads": (1, 1)}
    assert rungs["warp_reduction"].shared_memory.static_bytes == 4 * 4


def test_async_pipeline(rungs):
    """A ring of three: a group for each chunk and two before, one wait a trip, no barrier."""
    facts = rungs["async_pipeline"]
    assert {b.name: b.num_versions for b in facts.shared_buffers} == {"ring": 3}
    assert totals(facts)["cp_async_commit"] == (3, 130)
    assert totals(facts)["cp_async_wait"] == (1, 128)
    assert "syncthreads" not in totals(facts)
    (wait,) = (op for op in facts.sync_ops if op.op == "cp_async_wait")
    assert wait.args == {"max_pending": 2}


def test_the_two_levels_agree(rungs):
    """The CUDA text, read on its own, has the counts of the device IR."""
    for facts in rungs.values():
        assert [d.code for d in facts.diagnostics if d.code.startswith(("ir-", "cuda-"))] == []
