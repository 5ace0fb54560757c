"""Do our facts agree with a truth that was measured independently of this project?"""

import json
import subprocess
import sys

import pytest

from stagebench.experiment.sweep_plan import SweepPlan
from tests.corpus import ground_truth
from tests.lowered import results, warm

pytestmark = pytest.mark.tilelang

CASES = ground_truth.read_cases()
SAMPLE = {
    "k01_gemm_layouts-gemm_nt-sm_80",
    "k01_gemm_layouts-gemm_nt-sm_90a",
    "k02_war_refill-consume_then_refill-sm_80",
    "k02_war_refill-consume_then_refill-sm_90a",
    "k04_read_after_loop-last_tile_epilogue-sm_90a",
    "k05_sibling_loops-own_tiles_vs3-sm_90a",
    "k09_dynamic_extent-symbolic_k-sm_90a",
    "k11_persistent-persistent_primitive-sm_90a",
    "k13_explicit_ws-ring-sm_90a",
    "k14_tcgen05-sync_gemm_mbar-sm_100a",
    "k14_tcgen05-ws_ring-sm_100a",
    "k18_three_groups-three_streams-sm_80",
    "k20_explicit_schedule-inverted-sm_90a",
    "k20_explicit_schedule-manual_d2-sm_90a",
    "k26_nested-nested_outer2-sm_90a",
    "k28_smem_overflow-big_tile_gemm-sm_90a",
    "k32_manual_async-manual_ring-sm_90a",
}
"""A sample for CI: every feature of the corpus once, the quick archs where it has them."""


def plan_of(case):
    entry = ground_truth.read_entry(case)
    return SweepPlan(
        kernel=f"{ground_truth.KERNELS / case.file}.py:{entry['function']}",
        num_stages=case.depths,
        archs=(case.arch,),
        params={name: (value,) for name, value in entry["args"].items()},
        stage_param=entry["stage_param"],
        pass_configs=entry["pass_configs"],
    )


@pytest.fixture(scope="session")
def lowered(request):
    """All kernels that this run asks for, lowered by one worker."""
    asked = {item.callspec.params["case"].key for item in request.session.items
             if isinstance(getattr(item, "callspec", None) and item.callspec.params.get("case"),
                           ground_truth.Case)
             and not item.get_closest_marker("skip")}  # fmt: skip
    warm([plan_of(case) for case in CASES if case.key in asked])


def test_the_table_is_whole():
    """The truth has 450 points, and every kernel that it names is in the corpus."""
    assert sum(len(case.rows) for case in CASES) == 450
    assert {case.key for case in CASES} >= SAMPLE
    for case in CASES:
        assert ground_truth.read_entry(case)["function"]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=() if case.key in SAMPLE else pytest.mark.slow, id=case.key)
        for case in CASES
    ],
)
@pytest.mark.usefixtures("lowered")
def test_facts_agree_with_the_ground_truth(case):
    """Outcome, plan, versions, barriers, memory, offsets, threads and counts of every row agree.

    The IR's counts and those of the generated CUDA must agree as well, and nothing may be unknown.
    """
    variants = results(plan_of(case))
    for row, result in zip(case.rows, variants, strict=True):
        where = f"{case.key} num_stages={row['num_stages']}"
        assert ground_truth.disagreements(case, row, result) == [], where
        if result.facts is not None:
            unsure = {"ir-cuda-disagree", "cuda-not-read", "unknown-op", "allocation-differs"}
            assert [d.message for d in result.facts.diagnostics if d.code in unsure] == [], where


@pytest.mark.slow
def test_cases_are_those_of_the_kernels():
    """`cases.json` is what the corpus's own KERNELS maps say."""
    script = ground_truth.HERE / "list_cases.py"
    listed = subprocess.run(
        [sys.executable, str(script)], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(listed) == json.loads((ground_truth.HERE / "cases.json").read_text())


def test_a_wrong_fact_is_noticed():
    """The comparison is not blind: a changed count in a row is reported by its column's name."""
    case = next(case for case in CASES if case.key == "k01_gemm_layouts-gemm_nt-sm_90a")
    result = results(plan_of(case))[2]
    for column in (*ground_truth.TOTALS, "dyn_smem"):
        row = {**case.rows[2], column: str(int(case.rows[2][column]) + 1)}
        found = [name for name, _, _ in ground_truth.disagreements(case, row, result)]
        assert found == [column]
