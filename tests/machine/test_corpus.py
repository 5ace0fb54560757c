"""Does the whole corpus assemble, and do its four levels agree?  A sample in CI, all on demand.

The PTX walk is an oracle for the counts of the IR.  `COUNTED_BRANCHES` lists where they differ, and
why: the IR's rule is that every branch is taken (DESIGN, "The JSON that scripts rely on").
"""

import pytest

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.lowering.cache_folder import default_cache_folder
from tests.corpus.test_ground_truth import CASES, plan_of

pytestmark = pytest.mark.tilelang

SAMPLE = {
    "k04_read_after_loop-last_tile_epilogue-sm_90a",
    "k18_three_groups-three_streams-sm_80",
    "k14_tcgen05-ws_ring-sm_100a",
}
DATA_DEPENDENT = {"k07_branch_in_pipeline", "k09_dynamic_extent"}
"""Kernels that branch on what they load or on a size that is not known: not walked to the end."""

LOST = {
    ("k09_dynamic_extent-late_start-sm_80", 3): {"cp_async_commit", "cp_async_wait"},
    ("k09_dynamic_extent-late_start-sm_80", 4): {"cp_async_commit", "cp_async_wait"},
}
"""A defect of the compiler that the levels show: the last wait stands under a guard that is never
true, so the assembler drops it.  A Hopper GPU computes wrong results there (hopper_truth.csv)."""

COUNTED_BRANCHES = {
    "k02_war_refill-consume_then_refill-sm_90a": "the first trip alone waits (`step == 0`)",
    "k07_branch_in_pipeline": "some trips are skipped",
    "k21_attention": "the first trip alone waits for Q (`k == 0`)",
    "k32_manual_async": "both arms of an if are counted",
}


def prefix_of(case, known):
    return next((name for name in known if case.key.startswith(name)), None)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=() if case.key in SAMPLE else pytest.mark.slow, id=case.key)
        for case in CASES
    ],
)
def test_every_point_assembles_and_its_levels_agree(case):
    """Every lowered point has machine code; no difference is without a name, no opcode unknown."""
    options = SweepOptions(assembler="nvrtc", cache_dir=default_cache_folder(), jobs=2)
    for one in run_sweep(plan_of(case), options).run.variants:
        where = f"{case.key} num_stages={one.variant.num_stages}"
        if one.facts is None:
            continue
        machine = one.facts.machine
        assert machine is not None, (where, one.facts.diagnostics)
        assert machine.unknown_opcodes == (), where
        left = {row.op for row in machine.levels if not row.agreed}
        assert left == LOST.get((case.key, one.variant.num_stages), set()), where
        codes = {diagnostic.code for diagnostic in machine.diagnostics}
        assert machine.walk.complete or case.file in DATA_DEPENDENT, where
        assert ("no-matrix-instruction" in codes) == (case.key == "k24_dtypes-fp8_nt-sm_80"), where
        if machine.walk.complete:
            counted_otherwise(case, one.facts, where)


def counted_otherwise(case, facts, where):
    """What the PTX executes is what the IR says, but for the listed branches."""
    for op, total in facts.sync_totals.items():
        executed = facts.machine.sync_ptx[op].executed if op in facts.machine.sync_ptx else 0
        if not isinstance(total.dynamic, int) or executed == total.dynamic:
            continue
        row = next(row for row in facts.machine.levels if row.op == op)
        named = [reason for reason in row.explanations if "each call is" in reason
                 or "matrix units" in reason or "inside" in reason]  # fmt: skip
        assert named or prefix_of(case, COUNTED_BRANCHES), (where, op, total.dynamic, executed)
