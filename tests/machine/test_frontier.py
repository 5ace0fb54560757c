"""How deep may the pipeline be, by shared memory?"""

from types import SimpleNamespace

import msgspec
import pytest

from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.machine.frontier import DepthModel, depth_model, frontier
from stagebench.model import Barrier, PipelineLoop, SharedBuffer, SharedMemory
from tests.lowered import results, warm

_KIB = 1024


def _loop(num_stages, *, explicit=False):
    return PipelineLoop(
        loop_var="k",
        extent=16,
        num_stages=num_stages,
        scheduled_by="software_pipeline",
        pass_name=None,
        pipeline_depth=None,
        explicit_schedule=explicit,
        reason=None,
        statements=(),
    )


def _buffer(name, versions, kib, **more):
    buffer = SharedBuffer(
        name=name,
        scope="shared.dyn",
        dtype="float16",
        shape=(128, 64),
        num_versions=versions,
        bytes_per_version=kib * _KIB,
        total_bytes=versions * kib * _KIB,
        offset_bytes=0,
        alignment_bytes=None,
        overlaps=(),
        versioned_by=None,
    )
    return msgspec.structs.replace(buffer, **more)


def _facts(*buffers, loops=None, barriers=(), static=0):
    dynamic = sum(buffer.total_bytes for buffer in buffers)
    return SimpleNamespace(
        pipeline_loops=(_loop(3),) if loops is None else loops,
        shared_buffers=buffers,
        barriers=barriers,
        shared_memory=SharedMemory(
            static_bytes=static,
            dynamic_bytes=dynamic,
            total_bytes=static + dynamic,
            limit_bytes=None,
            fits=None,
            max_num_stages=None,
        ),
    )


def _mbarriers(count):
    return Barrier(name="m", first=0, count=count, arrive_count=1, kind="full", guards=())


def _points(facts, num_stages=3, arch="sm_90a"):
    return {
        point.arch: (point.max_num_stages, point.max_num_stages_two_ctas)
        for point in frontier(facts, num_stages, arch)
    }


def test_a_gemm_of_32_kib_a_stage():
    """163 / 32 = 5 and (82 - 1) / 32 = 2 on Ampere; 227 / 32 = 7 and (114 - 1) / 32 = 3."""
    facts = _facts(_buffer("A", 3, 16), _buffer("B", 3, 16))
    assert depth_model(facts, 3) == DepthModel(fixed_bytes=0, stage_bytes=32 * _KIB)
    assert _points(facts) == {
        "sm_80": (5, 2),
        "sm_86": (3, 1),
        "sm_89": (3, 1),
        "sm_90": (7, 3),
        "sm_100": (7, 3),
        "sm_120": (3, 1),
    }


def test_what_does_not_grow_is_set_aside():
    """A tile of one version stays, and so does a barrier that doesn't come with the depth."""
    facts = _facts(
        _buffer("Q", 1, 16),
        _buffer("K", 3, 32),
        barriers=(_mbarriers(6), _mbarriers(1)),
        static=56,
    )
    model = depth_model(facts, 3)
    assert (model.fixed_bytes, model.stage_bytes) == (16 * _KIB + 8, 32 * _KIB + 16)
    assert (model.fixed_static_bytes, model.stage_static_bytes) == (8, 16)
    assert model.cta_bytes(3) == facts.shared_memory.total_bytes


def test_the_systems_share_counts_against_two_ctas():
    """Two CTAs of 49 KiB fill an Ada SM of 100 KiB with 1 KiB each; of 50 they don't fit."""
    assert _points(_facts(_buffer("A", 3, 49)))["sm_89"] == (2, 1)
    assert _points(_facts(_buffer("A", 3, 50)))["sm_89"] == (1, 0)


def test_a_static_ring_keeps_to_the_limit_of_static_memory():
    """16 KiB a stage: 48 KiB hold three; a target with a feature letter takes all there is."""
    ring = _buffer("A", 3, 16, scope="shared", offset_bytes=None)
    facts = _facts(ring, static=48 * _KIB)
    facts.shared_memory = msgspec.structs.replace(
        facts.shared_memory, dynamic_bytes=0, total_bytes=48 * _KIB
    )
    plain, specific = _points(facts, arch="sm_80"), _points(facts, arch="sm_90a")
    assert (plain["sm_80"], plain["sm_90"]) == ((3, 3), (3, 3))
    assert (specific["sm_80"], specific["sm_90"]) == ((3, 3), (14, 7))


def test_a_stage_that_never_fits():
    """A tile of 200 KiB: no depth on Ampere, one on Hopper."""
    points = _points(_facts(_buffer("A", 3, 200)))
    assert (points["sm_80"], points["sm_90"]) == ((0, 0), (1, 0))


@pytest.mark.parametrize(
    ("facts", "num_stages"),
    [
        (_facts(_buffer("A", 3, 16), _buffer("B", 2, 16)), 3),
        (_facts(_buffer("A", 3, 16, overlaps=("B",))), 3),
        (_facts(_buffer("A", 3, 16, bytes_per_version=None)), 3),
        (_facts(_buffer("A", 1, 16)), 3),
        (_facts(_buffer("A", 3, 16), loops=(_loop(3), _loop(2))), 3),
        (_facts(_buffer("A", 3, 16), loops=()), 3),
        (_facts(_buffer("A", 3, 16)), None),
        (_facts(_buffer("A", 3, 16)), 0),
        (_facts(_buffer("A", 3, 16), barriers=(_mbarriers(6),), static=8), 3),
    ],
)
def test_no_answer_where_the_model_does_not_hold(facts, num_stages):
    """Versions that differ or overlap, two pipelines, no depth: ``None`` on every arch."""
    assert set(_points(facts, num_stages).values()) == {(None, None)}


@pytest.mark.tilelang
def test_the_model_predicts_lowered_depths():
    """The built-in GEMM: depth 2's model gives the bytes that depths 1 to 4 really take."""
    plan = SweepPlan(num_stages=(1, 2, 3, 4), archs=("sm_90a",))
    warm([plan])
    by_depth = {one.variant.params["num_stages"]: one.facts for one in results(plan)}
    model = depth_model(by_depth[2], 2)
    assert (model.fixed_bytes, model.stage_bytes) == (0, 32 * _KIB + 16)
    lowered = {n: facts.shared_memory.total_bytes for n, facts in by_depth.items()}
    assert {n: model.cta_bytes(n) for n in lowered} == lowered
