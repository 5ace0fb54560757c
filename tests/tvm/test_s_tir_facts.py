"""What S-TIR's pipeline becomes, by value."""

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
DEPTHS = (0, 1, 2, 3, 4)
TRIPS = 32  # K 1024 in tiles of 32
ORDERS = (1, 2, 3)


@pytest.fixture(scope="module")
def lowered():
    """The GEMM at each depth, then with its consumer first at each distance."""
    consumer_first = [
        request("gemm", distance + 1, stage=(0, 0, distance), order=(1, 2, 0))
        for distance in ORDERS
    ]
    return [found.result for found in lower(*(request("gemm", n) for n in DEPTHS), *consumer_first)]


@pytest.fixture(scope="module")
def gemm(lowered):
    """The facts of the GEMM by depth."""
    assert [result.outcome for result in lowered] == ["lowered"] * len(lowered)
    return {depth: result.facts for depth, result in zip(DEPTHS, lowered, strict=False)}


def waits(facts, section=None):
    return [
        op.args["max_pending"]
        for op in facts.sync_ops
        if op.op == "cp_async_wait" and section in (None, op.section)
    ]


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_versions_commits_and_waits(gemm, depth):
    """Depth N: N versions, N commit sites, waits N-1 … 0; one commit and one wait a trip."""
    facts = gemm[depth]
    assert {b.name: b.num_versions for b in facts.shared_buffers} == {
        "A_shared": depth,
        "B_shared": depth,
    }
    assert {b.versioned_by for b in facts.shared_buffers} == {"s_tir.InjectSoftwarePipeline"}
    assert facts.shared_memory.static_bytes == depth * 2 * 64 * 32 * 2
    assert facts.sync_totals["cp_async_commit"].static == depth
    assert facts.sync_totals["cp_async_commit"].dynamic == TRIPS
    assert waits(facts) == list(range(depth - 1, -1, -1))
    assert waits(facts, "body") == [depth - 1]


@pytest.mark.parametrize("depth", [0, 1])
def test_no_pipeline(gemm, depth):
    """Depth 0 annotates nothing; depth 1 is planned and copies plainly: cp.async in neither."""
    facts = gemm[depth]
    assert {b.num_versions for b in facts.shared_buffers} == {1}
    assert set(facts.sync_totals) == {"syncthreads"}
    assert facts.sync_totals["syncthreads"].dynamic == 2 * TRIPS
    assert len(facts.pipeline_loops) == depth


def test_the_schedule_of_the_loop(gemm):
    """Stages, order and async stages are the annotation's, the statements are said."""
    (loop,) = gemm[3].pipeline_loops
    assert (loop.loop_var, loop.extent, loop.scheduled_by) == ("k_0", TRIPS, "software_pipeline")
    assert loop.pipeline_depth == 3
    assert [(s.summary, s.stage, s.order, s.async_group) for s in loop.statements] == [
        ("copy A → A_shared", 0, 0, 0),
        ("copy B → B_shared", 0, 1, 0),
        ("compute A_shared, B_shared → C_local", 2, 2, None),
    ]


def test_the_two_levels_agree(gemm):
    """The CUDA text, read on its own, has the counts of the device IR, and every site a line."""
    for facts in gemm.values():
        assert [d.code for d in facts.diagnostics if d.code.startswith(("ir-", "cuda-"))] == []
        assert all(op.cuda_line is not None for op in facts.sync_ops)


@pytest.mark.parametrize(("at", "distance"), list(enumerate(ORDERS)))
def test_the_wait_of_a_consumer_that_comes_first(lowered, at, distance):
    """Order [1, 2, 0], stage [0, 0, d]: one commit a trip, and a wait for all but 2(d - 1) groups.

    d - 1 may be in flight there: for d ≥ 2 the consumer reads what has not landed.  Apache TVM
    0.25.0.post1; this fails when a release mends it.
    """
    facts = lowered[len(DEPTHS) + at].facts
    body = [op for op in facts.sync_ops if op.section == "body"]
    assert [op.op for op in body if op.op.startswith("cp_async_")].count("cp_async_commit") == 1
    assert waits(facts, "body") == [2 * (distance - 1)]
    versions = 1 if distance == 1 else distance + 1
    assert {b.num_versions for b in facts.shared_buffers} == {versions}


def test_the_tensor_core_variant():
    """WMMA: the same commits and waits as the plain GEMM, and each product of fragments a site."""
    (found,) = lower(request("gemm_tensor_core", 3))
    facts = found.result.facts
    assert waits(facts) == [2, 1, 0]
    assert facts.sync_totals["cp_async_commit"].dynamic == TRIPS
    assert facts.sync_totals["mma_sync"].dynamic == TRIPS * 2 * 2 * 2
    assert facts.launch.block == (32, 2, 2)
    assert [d.code for d in facts.diagnostics if d.code.startswith(("ir-", "cuda-"))] == []


def test_tensors(gemm):
    """Copies read A and B through plain pointers; C alone is written."""
    for depth in (0, 3):
        seen = gemm[depth].launch.tensors
        assert [(t.name, t.read, t.written) for t in seen] == [
            ("A", True, False),
            ("B", True, False),
            ("C", False, True),
        ]
