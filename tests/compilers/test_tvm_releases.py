"""Do releases of Apache TVM whose IR is built otherwise give the same facts of the same kernels?

0.26 makes a buffer a variable and its pointer a call; 0.27 is the hostile one: other classes, nodes
for bitwise operations, no visitor of TVM's own, and PTX as a table of instructions.  The fast tests
fetch that one and lower two kernels with it; the slow ones have all kernels and the others too.
Without a network these skip.
"""

import json
from pathlib import Path

import pytest

import stagebench
from stagebench.diff.pass_runs import Lowering
from stagebench.dump.directory import read_run
from stagebench.errors import MachineError
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.kernels import TVM_BUILTINS
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.lowering.overlays import Overlays
from stagebench.lowering.tested_releases import TESTED_TVM
from tests.command_line import stagebench as run
from tests.diffing.passes.test_pass_facts import disagreements
from tests.tvm.lowering import needs_tvm

pytestmark = needs_tvm
KERNELS = Path(__file__).parents[1] / "tvm" / "kernels"
NEWEST = "tvm==0.27.0"
_CALLED = {"A": "A_ptr", "B": "B_ptr", "C": "C_ptr"}
"""What a device function's parameters are called from 0.26 on, where a schedule names them."""


def fetched(text):
    """Fetch a release, or skip where that can't be."""
    try:
        Overlays(default_cache_folder(), lambda _: None).make(parse_choice(text))
    except MachineError as exc:
        pytest.skip(exc.message)


def told(facts):
    """What a release says, but for its own names of passes, intrinsics and pointers."""
    launch = facts.launch
    return {
        "sites": [
            (op.op, op.role, op.section, op.static, op.dynamic, op.args, op.loops, op.guards)
            for op in facts.sync_ops
        ],
        "totals": facts.sync_totals,
        "loops": facts.pipeline_loops,
        "buffers": [(b.name, b.shape, b.num_versions) for b in facts.shared_buffers],
        "barriers": [(b.name, b.kind, b.count, b.guards) for b in facts.barriers],
        "memory": facts.shared_memory,
        "launch": (launch.grid, launch.block, launch.tma_descriptors),
        "tensors": [
            (_CALLED.get(t.name, t.name), t.dtype, t.shape, t.read, t.written)
            for t in launch.tensors
        ],
        "diagnostics": sorted(one.code for one in facts.diagnostics),
    }


@pytest.fixture(scope="module")
def newest():
    """An S-TIR and a TIRx kernel by this environment's release and by the newest, by kernel."""
    fetched(NEWEST)
    kernels = ("gemm", "gemm_tirx_tma")
    both = ["tvm", NEWEST]
    sweep = stagebench.sweep
    runs = {k: sweep(k, num_stages=[2], arch="sm_90a", compilers=both) for k in kernels}
    return {kernel: run.variants for kernel, run in runs.items()}


@pytest.mark.parametrize("kernel", ["gemm", "gemm_tirx_tma"])
def test_what_the_newest_says(newest, kernel):
    """Every site, count, argument, version, barrier, byte, tensor and descriptor is the same."""
    old, new = newest[kernel]
    assert [one.variant.compiler.version for one in (old, new)] == ["0.25.0.post1", "0.27.0"]
    assert [one.failure for one in (old, new)] == [None, None]
    assert told(new.facts) == told(old.facts)


def test_its_own_words_are_kept(newest):
    """The intrinsic that a site was read from is the release's, of its table of instructions."""
    facts = newest["gemm_tirx_tma"][1].facts
    named = {op.op: op.intrinsic for op in facts.sync_ops}
    assert named["tma_load"] == "tirx.ptx.cp_async_bulk_tensor_g2s_cluster"
    assert named["mbarrier_wait"] == "tirx.cuda.mbarrier_wait"
    assert "tirx.backend.cuda.LowerIket" in [one.name for one in facts.lowering.passes]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [*TVM_BUILTINS])
@pytest.mark.parametrize("release", ["tvm==0.26.0", NEWEST])
def test_what_a_release_says_is_what_the_oldest_says(release, kernel):
    """Of every built-in, without a pipeline and with a deep one."""
    fetched(release)
    runs = stagebench.sweep(kernel, num_stages=[1, 3], arch="sm_90a", compilers=["tvm", release])
    found = {(r.variant.compiler.version, r.variant.params["num_stages"]): r for r in runs.variants}
    assert [r.failure for r in runs.variants] == [None] * 4
    for depth in (1, 3):
        old = told(found["0.25.0.post1", depth].facts)
        assert told(found[release.rpartition("==")[2], depth].facts) == old


@pytest.mark.slow
def test_a_descriptor_that_its_own_op_encodes():
    """Shapes from the op's arguments, the rest from its attributes; what it loads is only read."""
    fetched(NEWEST)
    kernel = f"{KERNELS / 'encoding_op.py'}:tile"
    runs = stagebench.sweep(kernel, num_stages=[2], arch="sm_90a", compilers=NEWEST)
    launch = runs.variants[0].facts.launch
    (found,) = launch.tma_descriptors
    assert (found.name, found.tensor, found.data_type, found.rank) == ("A_map", "A_ptr", 6, 2)
    assert (found.global_shape, found.global_strides_bytes) == ((128, 256), (2, 256))
    assert (found.box, found.element_strides) == ((32, 64), (1, 1))
    assert (found.interleave, found.swizzle, found.l2_promotion, found.oob_fill) == (0, 2, 0, 0)
    uses = [(one.name, one.read, one.written) for one in launch.tensors]
    assert uses == [("A_ptr", True, False), ("B_ptr", False, True)]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["gemm", "gemm_tirx", "gemm_tirx_tma"])
def test_the_texts_of_its_passes_show_the_same_counts(kernel, tmp_path):
    """PTX by its words in the text after the last pass, against what was read from the objects."""
    fetched(NEWEST)
    plan = SweepPlan(kernel=kernel, num_stages=(3,), archs=("sm_90a",), compilers=(NEWEST,))
    run_sweep(plan, SweepOptions(dump_dir=tmp_path))
    (dump,) = read_run(tmp_path)
    lowering = Lowering(dump)
    assert disagreements(lowering) == {}
    assert {line for text in lowering.texts for line in lowering.facts_of(text).unread} == set()


@pytest.mark.slow
def test_a_diff_of_two_releases_names_what_is_different():
    """The names of pointers and of what each site was read from; no count and no byte."""
    fetched(NEWEST)
    found = run("diff", "gemm", "--compiler", "tvm", NEWEST, "--arch", "sm_90a", "--json")
    assert found.code == 1, found.err
    paths = {change["path"].lstrip(".") for change in json.loads(found.out)["facts"]}
    assert any(path.startswith("launch.params") for path in paths)
    assert not any(path.startswith(("sync_totals", "shared_memory")) for path in paths), paths


@pytest.mark.slow
@pytest.mark.parametrize(
    "release", [release for release in TESTED_TVM if release != "0.25.0.post1"]
)
def test_every_release_lowers_the_built_ins(release):
    """Each built-in kernel, for both architectures, with no unknown op and no failed check."""
    fetched(f"tvm=={release}")
    for kernel in TVM_BUILTINS:
        arch = ["sm_90a"] if kernel == "gemm_tirx_tma" else ["sm_80", "sm_90a"]
        runs = stagebench.sweep(kernel, num_stages=[2], arch=arch, compilers=f"tvm=={release}")
        for result in runs.variants:
            assert result.failure is None, result.failure.message
            assert not [op for op in result.facts.sync_totals if op.startswith("unknown")]
            assert "ir-cuda-disagree" not in {d.code for d in result.facts.diagnostics}
            assert result.variant.compiler.version == release
