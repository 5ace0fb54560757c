"""What is read off the IR texts of Apache TVM's passes, and which pass brought it."""

import pytest

from stagebench.diff.pass_compare import pass_timeline
from stagebench.diff.pass_runs import Lowering
from stagebench.dump.directory import read_run
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from tests.diffing.passes.test_pass_facts import disagreements
from tests.tvm.lowering import needs_tvm

pytestmark = needs_tvm
KERNELS = ("gemm", "gemm_tensor_core", "gemm_tirx", "gemm_tirx_tma")


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    """The dump of each built-in at depth 3."""
    found = {}
    for kernel in KERNELS:
        folder = tmp_path_factory.mktemp(kernel)
        plan = SweepPlan(kernel=kernel, num_stages=(3,), archs=("sm_90a",), compilers=("tvm",))
        run_sweep(plan, SweepOptions(dump_dir=folder))
        (found[kernel],) = read_run(folder)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_last_text_shows_the_recorded_facts(dumps, kernel):
    """Counts, waits, barriers, memory and launch after the last pass are those of the facts."""
    assert disagreements(Lowering(dumps[kernel])) == {}


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_line_of_every_text_is_read(dumps, kernel):
    """No text of a lowering has a line that the reader leaves out."""
    lowering = Lowering(dumps[kernel])
    assert {line for digest in lowering.texts for line in lowering.facts_of(digest).unread} == set()


def test_which_pass_brought_what(dumps):
    """The pipeline pass makes versions, commits and waits; another one the copies; none wraps."""
    passes = pass_timeline(dumps["gemm"]).passes
    brought = {change.path: each.name for each in reversed(passes) for change in each.facts}
    assert brought["sync_totals[cp_async_commit].static"] == "s_tir.InjectSoftwarePipeline"
    assert brought["sync_ops[cp_async_wait].args[max_pending]"] == "s_tir.InjectSoftwarePipeline"
    assert brought["sync_totals[cp_async_copy].static"] == "s_tir.InjectPTXAsyncCopy"
    assert brought["sync_totals[syncthreads].static"] == "s_tir.ThreadSync"
    assert {"_pipeline", "sequential"}.isdisjoint(each.name for each in passes)
