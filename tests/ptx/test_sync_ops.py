"""Does every opcode become the operation that the CUDA readers call it by?"""

import pytest

from stagebench.ptx.families import access_bytes, family
from stagebench.ptx.sync_ops import read_ops
from tests.ptx.building import kernel_of


def ops(text):
    _, kernel = kernel_of(f"\t{text}\n")
    return [(one.op, one.args) for one in read_ops(kernel.instructions[0])]


BULK = "cp.async.bulk"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cp.async.cg.shared.global [%r1], [%rd1], 16;", [("cp_async_copy", {"bytes": 16})]),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;", [("cp_async_copy", {"bytes": 4})]),
        ("cp.async.commit_group;", [("cp_async_commit", {})]),
        ("cp.async.wait_group 3;", [("cp_async_wait", {"max_pending": 3})]),
        ("cp.async.wait_all;", [("cp_async_wait", {"max_pending": 0})]),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
         [("mbarrier_arrive", {"via": "cp_async_noinc"})]),
        ("cp.async.mbarrier.arrive.shared.b64 [%r1];", [("mbarrier_arrive", {"via": "cp_async"})]),
        (f"{BULK}.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[%r1], [%rd1, {%r2, %r3}], [%r4];", [("tma_load", {})]),
        (f"{BULK}.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r1], [%rd1, {%r2, %r3}], [%r4], %rs1;", [("tma_load", {"mode": "multicast"})]),
        (f"{BULK}.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 2048, [%r4];",
         [("tma_load", {"mode": "bulk", "bytes": 2048})]),
        (f"{BULK}.tensor.2d.global.shared::cta.bulk_group [%rd1, {{%r2, %r3}}], [%r1];",
         [("tma_store", {})]),
        (f"{BULK}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
         "[%r1], [%r2], 64, [%r3];", [("tma_store", {"mode": "cluster", "bytes": 64})]),
        ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
         "[%rd1, {%r2, %r3}], [%r1];", [("tma_store", {"mode": "reduce"})]),
        (f"{BULK}.commit_group;", [("tma_store_commit", {})]),
        (f"{BULK}.wait_group.read 1;", [("tma_store_wait", {"read": 1, "max_pending": 1})]),
        (f"{BULK}.prefetch.tensor.2d.L2.global.tile [%rd1, {{%r2, %r3}}];", [("tma_prefetch", {})]),
        ("prefetch.tensormap [%rd1];", [("tma_prefetch_descriptor", {})]),
        ("prefetch.global.L2 [%rd1];", []),
        ("mbarrier.init.shared::cta.b64 [%r1], 128;", [("mbarrier_init", {"count": 128})]),
        ("mbarrier.arrive.shared::cta.b64 _, [%r1];", [("mbarrier_arrive", {})]),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4096;",
         [("mbarrier_arrive", {}), ("mbarrier_expect_tx", {"bytes": 4096})]),
        ("mbarrier.expect_tx.shared::cta.b64 [%r1], %r2;", [("mbarrier_expect_tx", {})]),
        ("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2;", [("mbarrier_try_wait", {})]),
        ("mbarrier.inval.shared.b64 [%r1];", []),
        ("bar.sync 0;", [("syncthreads", {})]),
        ("barrier.cta.sync.aligned.all 0;", None),
        ("barrier.sync 0;", [("syncthreads", {})]),
        ("bar.sync 0, 128;", [("partial_barrier", {"barrier_id": 0, "threads": 128})]),
        ("bar.sync 3;", [("partial_barrier", {"barrier_id": 3})]),
        ("bar.sync %r1, 64;", [("partial_barrier", {"threads": 64})]),
        ("bar.arrive 1, 64;", [("partial_barrier_arrive", {"barrier_id": 1, "threads": 64})]),
        ("bar.warp.sync -1;", [("warp_sync", {"mask": -1})]),
        ("bar.red.popc.u32 %r1, 0, %p1;", [("syncthreads", {"reduction": "count"})]),
        ("barrier.cluster.arrive.release.aligned;", [("cluster_arrive", {})]),
        ("barrier.cluster.arrive.relaxed.aligned;", [("cluster_arrive", {"order": "relaxed"})]),
        ("barrier.cluster.wait.acquire.aligned;", [("cluster_wait", {})]),
        ("fence.proxy.async.shared::cta;", [("fence_proxy_async", {})]),
        ("fence.proxy.async;", [("fence_proxy_async", {})]),
        ("fence.mbarrier_init.release.cluster;", [("fence_barrier_init", {})]),
        ("fence.proxy.alias;", [("fence_proxy", {"kind": "alias"})]),
        ("fence.acq_rel.gpu;", [("threadfence", {"scope": "gpu"})]),
        ("membar.gl;", [("threadfence", {"scope": "gpu"})]),
        ("membar.cta;", [("threadfence", {"scope": "cta"})]),
        ("wgmma.fence.sync.aligned;", [("wgmma_fence", {})]),
        ("wgmma.commit_group.sync.aligned;", [("wgmma_commit", {})]),
        ("wgmma.wait_group.sync.aligned 1;", [("wgmma_wait", {"max_pending": 1})]),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f1}, %rd1, %rd2, %p1, 1, 1;",
         [("wgmma", {"shape": "m64n8k16", "types": "f16, bf16, f32"})]),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
         [("mma_sync", {"shape": "m16n8k16", "types": "f16, f16, f32"})]),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};",
         [("mma_sync", {"mode": "wmma", "shape": "m16n16k16"})]),
        ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
         [("tcgen05_mma", {"kind": "f16"})]),
        ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
         [("tcgen05_commit", {})]),
        ("tcgen05.wait::ld.sync.aligned;", [("tcgen05_wait", {"kind": "ld"})]),
        ("tcgen05.fence::before_thread_sync;", [("tcgen05_fence", {"when": "before"})]),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 128;",
         [("tcgen05_alloc", {"columns": 128})]),
        ("setmaxnreg.dec.sync.aligned.u32 24;", [("setmaxnreg", {"increase": 0, "registers": 24})]),
        ("griddepcontrol.wait;", [("griddepcontrol", {"kind": "wait"})]),
        ("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];", []),
        ("add.s32 %r1, %r2, 1;", []),
    ],
)  # fmt: skip
def test_operations(text, expected):
    """Operations and the arguments that the text fixes, by the names of the CUDA readers."""
    if expected is None:  # `.all` is no modifier of the barrier's
        expected = [("syncthreads", {})]
    assert ops(text) == expected


@pytest.mark.parametrize(
    "text",
    ["cp.async.wait_some 1;", "mbarrier.frob.b64 [%r1];", "wgmma.frob;", "tcgen05.frob;",
     "bar.frob 1;", "setmaxnreg.same 1;", "cp.async.bulk.frob [%r1];", "fence.frob;",
     "clusterlaunchcontrol.frob [%r1];"],
)  # fmt: skip
def test_an_unknown_member_of_a_family(text):
    """What the table does not know of a synchronising family is reported whole, by its name."""
    assert ops(text) == [(f"unknown:{text.split()[0].rstrip(';')}", {})]


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        ("ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", "ld_global", 16),
        ("ld.global.L2::128B.v2.f16x2 {%r1, %r2}, [%rd1];", "ld_global", 8),
        ("st.global.u16 [%rd1], %rs1;", "st_global", 2),
        ("st.shared::cta.b64 [%r1], %rd1;", "st_shared", 8),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r1];", "ld_shared", 8),
        ("ld.u32 %r1, [%rd1];", "ld_generic", 4),
        ("atom.global.add.u32 %r1, [%rd1], 1;", "atom_global", 4),
        ("red.shared.add.f32 [%r1], %f1;", "red_shared", 4),
        ("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1], {%r1, %r2, %r3, %r4};", "stmatrix", None),
        ("elect.sync _|%p1, -1;", "elect", None),
        ("ld.param.u64 %rd1, [kernel_param_0];", None, 8),
        ("mov.u32 %r1, %tid.x;", None, None),
    ],
)
def test_families(text, name, size):
    """Loads and stores by state space, with the bytes that one thread moves."""
    _, kernel = kernel_of(f"\t{text}\n")
    assert (family(kernel.instructions[0]), access_bytes(kernel.instructions[0])) == (name, size)
