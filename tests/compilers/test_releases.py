"""Does a release that spells its IR otherwise give the same facts, and no made-up ones?

0.1.9 is the hostile one: another namespace, nested allocations, no line numbers, one arena, no seam
for passes, another FFI.  It is fetched once into the tests' cache; without a network these skip.
"""

import json
import re

import msgspec
import pytest

import stagebench
from stagebench.errors import MachineError
from stagebench.gate.spelling import SPELLED
from stagebench.lowering.cache_folder import default_cache_folder
from stagebench.lowering.compiler_choice import parse_choice
from stagebench.lowering.overlays import Overlays
from stagebench.lowering.tested_releases import TESTED
from tests.command_line import stagebench as run
from tests.gate.projects import Project

OLD = "tilelang==0.1.9"
pytestmark = pytest.mark.tilelang


def fetch(text):
    try:
        Overlays(default_cache_folder(), lambda _: None).make(parse_choice(text))
    except MachineError as exc:
        pytest.skip(exc.message)


@pytest.fixture(scope="module")
def both():
    """The built-in GEMM by the old release and by this environment's."""
    fetch(OLD)
    return stagebench.sweep(num_stages=[2], arch="sm_90a", compilers=[OLD, "tilelang"]).variants


def test_what_both_say_is_the_same(both):
    """Schedule, versions, memory and every count of the GEMM."""
    old, new = (result.facts for result in both)
    assert both[0].variant.compiler.version == "0.1.9"
    assert old.sync_totals == new.sync_totals
    assert old.sync_totals["tma_load"].dynamic == 32
    assert old.shared_memory.dynamic_bytes == new.shared_memory.dynamic_bytes == 65536
    versions = [[(b.name, b.shape, b.num_versions) for b in f.shared_buffers] for f in (old, new)]
    assert versions[0] == versions[1]
    loops = [(f.pipeline_loops[0].scheduled_by, f.pipeline_loops[0].pass_name) for f in (old, new)]
    assert loops[0] == loops[1] == ("warp_specialization", "tl.ProducerConsumerWarpSpecialized")
    assert (old.launch.grid, old.launch.block) == (new.launch.grid, new.launch.block)
    assert old.launch.tma_descriptors == new.launch.tma_descriptors
    assert old.diagnostics == new.diagnostics == ()


def test_what_the_old_one_can_not_say_is_none(both):
    """No offset, alignment, line or guarded buffer is made up: `None`, not 0 and not empty."""
    old, new = (result.facts for result in both)
    assert {(b.offset_bytes, b.alignment_bytes) for b in old.shared_buffers} == {(None, None)}
    assert {b.offset_bytes for b in new.shared_buffers} == {0, 32768}
    assert {(op.file, op.line) for op in old.sync_ops} == {(None, None)}
    assert any(op.line for op in new.sync_ops)
    assert [b.guards for b in old.barriers if b.kind == "full"] == [None]
    assert [b.guards for b in new.barriers if b.kind == "full"] == [("A_shared", "B_shared")]


def test_a_prefetched_descriptor_makes_no_tensor_written(both):
    """0.1.9 prefetches by a function's name: A and B are read, C is written, as by the new one."""
    for result in both:
        roles = {t.name: (t.read, t.written) for t in result.facts.launch.tensors}
        assert roles == {"A": (True, False), "B": (True, False), "C": (False, True)}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("kernel", ["gemm", "flash_attention", "dequant_gemm"])
def test_the_generated_cuda_is_of_one_mind_about_what_is_written(tmp_path, kernel, arch):
    """An independent level: ``const`` pointers, and descriptors that nothing stores through."""
    fetch(OLD)
    found = stagebench.sweep(kernel, num_stages=[2], arch=arch, compilers=[OLD], dump_dir=tmp_path)
    (cuda,) = (file.read_text() for file in tmp_path.rglob("kernel.cu"))
    (signature,) = re.findall(r"__global__ void __launch[^{]*{", cuda)
    plain = set(re.findall(r"(?<!const )\b\w+\* __restrict__ (\w+)", signature))
    stored = set(re.findall(r"tma_store[^;]*?\b(\w+)_desc", cuda))
    tensors = found.variants[0].facts.launch.tensors
    assert {t.name for t in tensors if t.written} == plain | stored


def test_its_passes_are_seen_too(both):
    """Through TVM's own instrument: names, what changed, and the IR after each."""
    passes = both[0].facts.lowering.passes
    assert len(passes) > 70
    changed = [one.name for one in passes if one.changed]
    assert "tl.ProducerConsumerWarpSpecialized" in changed
    assert all(one.snapshot for one in passes)
    assert {one.pass_phase for one in passes} == {None}


def test_a_diff_of_the_two_names_passes():
    """One command lowers both and says what is different and since when."""
    fetch(OLD)
    found = run("diff", "gemm", "--compiler", OLD, "tilelang", "--arch", "sm_90a", "--json")
    assert found.code == 1, found.err
    document = json.loads(found.out)
    paths = {change["path"].lstrip(".") for change in document["facts"]}
    assert "shared_buffers[A_shared].alignment_bytes" in paths
    assert not any(path.startswith("sync_totals") for path in paths)


def test_what_the_upgrade_changed_in_my_kernels(tmp_path):
    """The gate judges this compiler's result against the other's; nothing is written.

    ``tir.ptx_init_barrier_thread_count`` is what 0.1.9 calls the same op: told, and no drift.  What
    drifts are the guards: its producers are the upper half of the threads, the new one's the lower.
    """
    fetch(OLD)
    project = Project(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    found = run("check", "--against-compiler", OLD, "--json", "-", cwd=tmp_path)
    verdict = json.loads(found.out)
    assert found.code == 1, found.err
    assert verdict["against"] == "what tilelang 0.1.9 makes of them"
    assert verdict["compared"] == 2
    assert verdict["accept"] is None
    drifts = {group["change"]["path"] for group in verdict["groups"]}
    assert not any(path.endswith(".intrinsic") for path in drifts), drifts
    spelled = {
        group["change"]["path"]
        for group in verdict["allowed_groups"]
        if group["change"]["rule"] == msgspec.to_builtins(SPELLED)
    }
    assert any(path.endswith(".intrinsic") for path in spelled), spelled
    assert not any(path.startswith("sync_totals") for path in drifts), drifts
    unsaid = {
        group["change"]["path"]
        for group in verdict["allowed_groups"]
        if group["change"]["rule"]["pattern"] == "said by one compiler alone"
    }
    assert any(path.endswith("offset_bytes") for path in unsaid), unsaid
    assert not drifts & unsaid
    files = {group["change"]["place"]["file"] for group in verdict["groups"]}
    assert files == {"experiments/tiny.py"}
    assert sorted(tmp_path.rglob("*")) == before
    assert not project.dumps.exists()


@pytest.mark.slow
@pytest.mark.parametrize("release", [*TESTED])
def test_every_release_lowers_the_built_ins(release):
    """Each built-in kernel, for both architectures, with no unknown op and no failed check."""
    fetch(f"tilelang=={release}")
    for kernel in ("gemm", "gemm_nn", "gemm_tn", "flash_attention", "dequant_gemm"):
        run_ = stagebench.sweep(kernel, num_stages=[2], compilers=f"tilelang=={release}")
        for result in run_.variants:
            assert result.failure is None, result.failure.message
            assert not [op for op in result.facts.sync_totals if op.startswith("unknown")]
            assert "ir-cuda-disagree" not in {d.code for d in result.facts.diagnostics}
            assert result.variant.compiler.version == release
