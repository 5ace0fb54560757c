"""What really runs of Apache TVM's GEMMs: PTX and SASS by value."""

import pytest

from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.lowering.cache_folder import default_cache_folder
from tests.tvm.lowering import needs_tvm

pytestmark = needs_tvm
KERNELS = (
    "gemm", "gemm_tensor_core", "gemm_tirx", "gemm_tirx_tma", "gemm_tirx_profiled",
    "gemm_tirx_tma_profiled",
)  # fmt: skip


@pytest.fixture(scope="module")
def machines():
    """The facts of each built-in at depth 3."""
    options = SweepOptions(assembler="nvrtc", cache_dir=default_cache_folder(), jobs=2)
    found = {}
    for kernel in KERNELS:
        plan = SweepPlan(kernel=kernel, num_stages=(3,), archs=("sm_90a",), compilers=("tvm",))
        (only,) = run_sweep(plan, options).run.variants
        assert only.outcome == "lowered", only.failure
        found[kernel] = only.facts
    return found


@pytest.mark.parametrize(
    ("kernel", "op", "expected"),
    [
        ("gemm", "cp_async_copy", (12, 128, 12)),
        ("gemm", "cp_async_wait", (3, 32, 3)),
        ("gemm_tensor_core", "mma_sync", (24, 256, 48)),
        ("gemm_tirx", "cp_async_copy", (12, 128, 12)),
        ("gemm_tirx_tma", "tma_load", (8, 64, 8)),
        ("gemm_tirx_tma", "mbarrier_wait", (2, 61, 2)),
        ("gemm_tirx_profiled", "threadfence", (11, 197, 11)),
        ("gemm_tirx_profiled", "cp_async_wait", (1, 32, 1)),
        ("gemm_tirx_tma_profiled", "threadfence", (24, 260, 25)),
        ("gemm_tirx_tma_profiled", "mbarrier_wait", (2, 61, 2)),
    ],
)
def test_counts(machines, kernel, op, expected):
    """Static and executed PTX, static SASS."""
    machine = machines[kernel].machine
    ptx, sass = machine.sync_ptx[op], machine.sync_sass[op]
    assert (ptx.static, ptx.executed, sass.static) == expected


@pytest.mark.parametrize("kernel", KERNELS)
def test_levels_agree(machines, kernel):
    """Every difference between IR, CUDA, PTX and SASS has a name; nothing spills."""
    machine = machines[kernel].machine
    assert [row.op for row in machine.levels if not row.agreed] == []
    assert machine.spill_bytes == 0
