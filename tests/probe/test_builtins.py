"""Do probes fit every built-in kernel at every depth, on both archs?

Slow: lowers and assembles 22 variants.
"""

from __future__ import annotations

import pytest

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.toolchain import find_toolchain
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.probe.build import build_probed

pytestmark = [pytest.mark.slow, pytest.mark.tilelang]

PLANS = [
    SweepPlan(kernel="gemm", num_stages=(0, 1, 2, 3, 4)),
    SweepPlan(kernel="flash_attention", num_stages=(1, 2, 3)),
    SweepPlan(kernel="dequant_gemm", num_stages=(1, 2, 3)),
]
DEVICE = {"sm_80": "sm_90", "sm_90a": "sm_90a"}
SPILLS = {("flash_attention", "sm_90a", 1): 8}
"""Bytes more than without probes, where no register is left: the audit says so."""


@pytest.fixture(scope="module")
def assembler():
    """From wheels, as users have it."""
    pytest.importorskip("cuda.bindings.nvrtc")
    with Assembler(find_toolchain(), jobs=2, cache_folder=None, warn=print) as running:
        yield running


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kernel)
def test_builtins(plan, assembler):
    """Every wait is timed, every count predicted; what spills anew is known and is told."""
    swept = run_sweep(plan, SweepOptions())

    for result, cuda in zip(swept.run.variants, swept.kernel_cus, strict=True):
        own, facts = result.variant.arch, result.facts
        assert facts is not None
        compiled = assembler.submit(cuda, own, facts.launch.function).result()
        built = build_probed(compiled.ptx, DEVICE[own], facts.launch, facts, assembler=assembler)
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
