"""Do probes fit every built-in kernel at every depth, on both archs?  From dumps, as users have.

Slow: lowers and assembles 22 variants.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.probe.build import build_probes

pytestmark = [pytest.mark.slow, pytest.mark.tilelang]

PLANS = [
    SweepPlan(kernel="gemm", num_stages=(0, 1, 2, 3, 4)),
    SweepPlan(kernel="flash_attention", num_stages=(1, 2, 3)),
    SweepPlan(kernel="dequant_gemm", num_stages=(1, 2, 3)),
]
DEVICE = {"sm_80": "sm_90", "sm_90a": "sm_90a"}
SPILLS = {("flash_attention", "sm_90a", 1): 8}
"""Bytes more than without probes, where no register is left: the audit says so."""


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kernel)
def test_builtins(plan, tmp_path):
    """Every wait is timed, every count predicted; what spills anew is known and is told."""
    pytest.importorskip("cuda.bindings.nvrtc")
    dumped = run_sweep(plan, SweepOptions(dump_dir=tmp_path))

    for result, folder in zip(dumped.run.variants, dumped.dump_folders, strict=True):
        assert result.facts is not None
        arch = DEVICE[result.variant.arch]
        built = build_probes(tmp_path / Path(str(folder)), arch, cache_folder=tmp_path / "cache")
        shown = (plan.kernel, result.variant.arch, result.variant.num_stages)
        more = SPILLS.get(shown, 0)
        assert built.audit.passed is (more == 0), (shown, built.audit.findings)
        assert built.plan.left_out == (), shown
        assert built.plan.cap_from == "prediction", (shown, built.plan.not_predicted)
        assert all(site.predicted is not None for site in built.metadata.sites), shown
        spilled = built.audit.spill_bytes
        assert spilled["probed"] - spilled["base"] <= more, shown
        if more:
            assert any("spill" in finding.message for finding in built.audit.findings), shown
        kinds = {s.barrier_kind for s in built.metadata.sites if s.op == "mbarrier_wait"}
        assert None not in kinds, shown
