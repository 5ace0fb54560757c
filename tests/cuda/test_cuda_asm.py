"""Is inline PTX recognised by its opcode, with its operands, and never by a substring?"""

from __future__ import annotations

import pytest

POSITIVE = [
    ("cp.async.ca.shared.global [%0], [%1], 16;", "cp_async_copy", {"bytes": 16}),
    ("cp.async.cg.shared.global.L2::128B [a], [b], 16, %2;", "cp_async_copy", {"bytes": 16}),
    ("cp.async.commit_group;", "cp_async_commit", {}),
    ("cp.async.wait_group 2;", "cp_async_wait", {"max_pending": 2}),
    ("cp.async.wait_all;", "cp_async_wait", {"max_pending": 0}),
    (
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];",
        "mbarrier_arrive",
        {"via": "cp_async_noinc", "barrier": 7},
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];",
        "tma_load",
        {},
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;",
        "tma_load",
        {"mode": "multicast"},
    ),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4, [%2];",
        "tma_load",
        {},
    ),
    (
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a], [b], 4, [c];",
        "tma_store",
        {"mode": "cluster"},
    ),
    ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [a, {b}], [c];", "tma_store", {}),
    (
        "cp.reduce.async.bulk.global.shared::cta.add.f32 [a], [b], 4;",
        "tma_store",
        {"mode": "reduce"},
    ),
    ("cp.async.bulk.commit_group;", "tma_store_commit", {}),
    ("cp.async.bulk.wait_group.read 1;", "tma_store_wait", {"read": 1, "max_pending": 1}),
    ("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [a, {b, c}];", "tma_prefetch", {}),
    ("prefetch.tensormap [%0];", "tma_prefetch_descriptor", {"descriptor": 7}),
    ("mbarrier.init.shared::cta.b64 [%0], %1;", "mbarrier_init", {"barrier": 7, "count": "n"}),
    ("mbarrier.arrive.shared::cta.b64 _, [%0];", "mbarrier_arrive", {"barrier": 7}),
    (
        "mbarrier.expect_tx.shared::cta.b64 [%0], %1;",
        "mbarrier_expect_tx",
        {"barrier": 7, "bytes": "n"},
    ),
    (
        "{ .reg .pred P1; LAB_%=: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;"
        " @P1 bra DONE; bra LAB_%=; DONE: }",
        "mbarrier_wait",
        {"barrier": 7, "parity": "n"},
    ),
    ("wgmma.fence.sync.aligned;", "wgmma_fence", {}),
    ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1}, %2, %3, p, 1, 1;", "wgmma", {}),
    ("wgmma.commit_group.sync.aligned;", "wgmma_commit", {}),
    ("wgmma.wait_group.sync.aligned 1;", "wgmma_wait", {"max_pending": 1}),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a}, {b}, {c}, {d};", "mma_sync", {}),
    ("tcgen05.mma.cta_group::1.kind::f16 [a], b, c, d, p;", "tcgen05_mma", {}),
    (
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];",
        "tcgen05_commit",
        {"barrier": 7},
    ),
    ("tcgen05.wait::ld.sync.aligned;", "tcgen05_wait", {"kind": "ld"}),
    ("tcgen05.fence::before_thread_sync;", "tcgen05_fence", {"when": "before"}),
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 128;", "tcgen05_alloc", {}),
    ("bar.sync 0;", "syncthreads", {}),
    ("barrier.sync.aligned 0;", "syncthreads", {}),
    ("bar.sync %0, 128;", "partial_barrier", {"barrier_id": 7, "threads": 128}),
    ("bar.arrive 1, 64;", "partial_barrier_arrive", {"barrier_id": 1, "threads": 64}),
    ("bar.warp.sync 0xffffffff;", "warp_sync", {}),
    ("barrier.cluster.arrive.relaxed.aligned;", "cluster_arrive", {}),
    ("barrier.cluster.wait.aligned;", "cluster_wait", {}),
    ("fence.proxy.async.shared::cta;", "fence_proxy_async", {}),
    ("fence.mbarrier_init.release.cluster;", "fence_barrier_init", {}),
    ("fence.acq_rel.gpu;", "threadfence", {"scope": "gpu"}),
    ("membar.cta;", "threadfence", {"scope": "cta"}),
    ("setmaxnreg.dec.sync.aligned.u32 24;", "setmaxnreg", {"increase": 0, "registers": 24}),
    ("griddepcontrol.wait;", "griddepcontrol", {"kind": "wait"}),
]


@pytest.mark.parametrize(("ptx", "op", "args"), POSITIVE, ids=[case[0][:40] for case in POSITIVE])
def test_instruction(sites, ptx, op, args):
    """Each instruction is the operation that its opcode spells, ``%n`` replaced by operands."""
    assert sites(f'asm volatile("{ptx}" :: "r"(7), "r"(n) : "memory");') == [(op, args)]


def test_arrive_expect_has_two_effects(ops):
    """One instruction, two effects: as the ``Barrier`` method."""
    ptx = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
    assert ops(f'asm("{ptx}" :: "r"(a), "r"(n));') == ["mbarrier_arrive", "mbarrier_expect_tx"]


@pytest.mark.parametrize(
    "statement",
    [
        'asm volatile("" ::: "memory");',
        'asm volatile("{.reg .pred p;\\n" " setp.ne.b32 p, %2, 0;\\n" " @!p mov.b32 %0, 0;\\n"'
        ' " @p ld.global.nc.f32 %0, [%1];}\\n" : "=f"(A[0]) : "l"(A), "r"(K));',
        'asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(K));',
        'asm("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(K) : "r"(K));',
        'asm("// bar.sync 0;\\n mov.u32 %0, 3; /* cp.async.commit_group; */" : "=r"(K));',
        'asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1}, [%2];" :: "r"(K));',
        'asm("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 4;" :: "r"(K));',
    ],
)
def test_no_synchronisation(ops, statement):
    """Moves, loads, shuffles and comments are no sites."""
    assert ops(statement) == []


@pytest.mark.parametrize(
    ("ptx", "op"),
    [
        ("frobnicate.sync.aligned 3;", "unknown:asm frobnicate.sync.aligned"),
        ("cp.async.brand_new 3;", "unknown:asm cp.async.brand_new"),
        ("barrier.galaxy.sync;", "unknown:asm barrier.galaxy.sync"),
        ("mbarrier.inval.shared.b64 [a];", "unknown:asm mbarrier.inval.shared.b64"),
        ("setmaxnreg.double 3;", "unknown:asm setmaxnreg.double"),
        ("clusterlaunchcontrol.try_cancel.async.b128 [a], [b];", "unknown:clc_try_cancel"),
        ("%0 mov;", "unknown:asm %0"),
    ],
)
def test_unknown_instruction_is_named(ops, ptx, op):
    """An opcode of no table is reported whole."""
    assert ops(f'asm volatile("{ptx}");') == [op]


def test_several_instructions_and_spellings(ops):
    """Concatenated strings, raw strings and ``__asm__`` are the same; order is kept."""
    assert ops('asm volatile("cp.async." "commit_group;\\n\\t" "cp.async.wait_all;");') == [
        "cp_async_commit",
        "cp_async_wait",
    ]
    assert ops('__asm__ __volatile__(R"(bar.sync 0;)");') == ["syncthreads"]
    found = ops('asm(PTX_OF_A_HEADER " bar.sync 0;");')
    assert found == ["unknown:asm PTX_OF_A_HEADER", "syncthreads"]
