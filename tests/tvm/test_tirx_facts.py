"""What an author's own pipeline in TIRx becomes, by value."""

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
DEPTHS = (1, 2, 3, 4)
TRIPS = 32


@pytest.fixture(scope="module")
def facts():
    """The facts by kernel and depth, and the variants."""
    asked = [(name, n) for name in ("gemm_tirx", "gemm_tirx_tma") for n in DEPTHS]
    found = lower(*(request(name, depth) for name, depth in asked))
    assert [f.result.outcome for f in found] == ["lowered"] * len(asked)
    assert {f.result.variant.pass_configs["tir_pipeline"] for f in found} == {"tirx"}
    return {key: f.result.facts for key, f in zip(asked, found, strict=True)}


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_ring_filled_by_cp_async(facts, depth):
    """The slots are the versions, N-1 groups start before the loop, all but N-2 are waited for."""
    seen = facts["gemm_tirx", depth]
    assert {b.num_versions for b in seen.shared_buffers} == {depth}
    assert {b.total_bytes for b in seen.shared_buffers} == {depth * 64 * 32 * 2}
    assert seen.sync_totals["cp_async_commit"].dynamic == TRIPS + depth - 1
    (wait,) = (op for op in seen.sync_ops if op.op == "cp_async_wait")
    assert wait.args == {"max_pending": max(0, depth - 2)}
    assert wait.section == ("body" if depth > 1 else None)
    assert [p.summary for loop in seen.pipeline_loops for p in loop.statements] == []


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_ring_filled_by_tma(facts, depth):
    """A full and an empty barrier for each slot; a producer that loads, a consumer that waits."""
    seen = facts["gemm_tirx_tma", depth]
    assert {b.name for b in seen.shared_buffers} == {"A_shared", "B_shared"}
    assert {b.num_versions for b in seen.shared_buffers} == {depth}
    barriers = {b.name: (b.kind, b.count, b.arrive_count) for b in seen.barriers}
    assert barriers == {"full": ("full", depth, 1), "empty": ("empty", depth, 128)}
    loads = [op for op in seen.sync_ops if op.op == "tma_load"]
    assert [(op.role, op.dynamic, op.args["descriptor"]) for op in loads] == [
        ("producer", TRIPS, "A_map"),
        ("producer", TRIPS, "B_map"),
    ]
    (expected,) = (op for op in seen.sync_ops if op.op == "mbarrier_expect_tx")
    assert expected.args["bytes"] == 8192
    waits = {op.role: op.args["barrier"].partition("[")[0] for op in seen.sync_ops
             if op.op == "mbarrier_wait"}  # fmt: skip
    assert waits == {"producer": "empty", "consumer": "full"}
    assert seen.launch.block == (256, 1, 1)


def test_descriptors(facts):
    """The tensor maps are read from the host's code: inner dimension first, strides in bytes."""
    a, b = facts["gemm_tirx_tma", 2].launch.tma_descriptors
    assert (a.name, a.rank, a.global_shape, a.box) == ("A_map", 2, (1024, 1024), (32, 64))
    assert a.global_strides_bytes == (2, 2048)
    assert (b.name, b.data_type, b.swizzle) == ("B_map", 6, 0)


def test_the_two_levels_agree(facts):
    """The CUDA text, read on its own, has the counts of the device IR."""
    for seen in facts.values():
        assert [d.code for d in seen.diagnostics if d.code.startswith(("ir-", "cuda-"))] == []
        assert [op for op in seen.sync_totals if op.startswith("unknown")] == []


def test_tensors(facts):
    """What the device does to each tensor: loads read A and B, C alone is written."""
    for name in ("gemm_tirx", "gemm_tirx_tma"):
        seen = facts[name, 2].launch.tensors
        assert [(t.name, t.read, t.written, t.shape) for t in seen] == [
            ("A_ptr", True, False, (1024, 1024)),
            ("B_ptr", True, False, (1024, 1024)),
            ("C_ptr", False, True, (1024, 1024)),
        ]
