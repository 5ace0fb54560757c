"""Each PTX statement's machine code is recognised: one statement a line, one file an arch."""

import pytest

from stagebench.sass.program import Instruction
from stagebench.sass.sync_ops import read_sync
from tests.sass.reading import ops_by_ptx, read, sites


def _starting(found, start):
    (ops,) = [ops for statement, ops in found.items() if statement.startswith(start)]
    return ops


@pytest.mark.parametrize(
    ("start", "ops"),
    [
        ("cp.async.ca", ("cp_async_copy",)),
        ("cp.async.cg", ("cp_async_copy",)),
        ("cp.async.commit_group", ("cp_async_commit",)),
        ("cp.async.wait_group 3", ("cp_async_wait",)),
        ("cp.async.wait_all", ("cp_async_commit", "cp_async_wait")),
        ("mbarrier.arrive", ("threadfence", "mbarrier_arrive")),
        ("cp.async.mbarrier.arrive.noinc", ("mbarrier_arrive",)),
        ("bar.sync 0;", ("syncthreads",)),
        ("bar.sync 1,64", ("partial_barrier",)),
        ("bar.arrive 2,64", ("partial_barrier_arrive",)),
        ("membar.gl", ("threadfence",)),
        ("mma.sync.aligned.m16n8k32", ("mma_sync",)),
    ],
)
def test_ampere(start, ops):
    """cp.async, barriers and mma of sm_80."""
    assert _starting(ops_by_ptx("instructions_sm_80"), start) == ops


@pytest.mark.parametrize(
    ("start", "ops"),
    [
        ("@%p3 mbarrier.init", ("fence_proxy_async", "mbarrier_init")),
        ("fence.proxy.async.shared::cta", ("threadfence", "fence_proxy_async")),
        ("mbarrier.arrive.shared::cta.b64 _,[%r2];", ("mbarrier_arrive",)),
        ("mbarrier.arrive.shared::cta.b64 _,[%r2],3", ("mbarrier_arrive",)),
        ("mbarrier.arrive.expect_tx.shared::cta", ("mbarrier_arrive", "mbarrier_expect_tx")),
        ("mbarrier.expect_tx.relaxed.cta", ("mbarrier_expect_tx",)),
        ("mbarrier.test_wait.parity", ("mbarrier_try_wait",)),
        (
            "mbarrier.try_wait.parity.shared::cta.b64 %p2,[%r2],%r3,%r1",
            ("mbarrier_try_wait", "mbarrier_poll"),
        ),
        ("cp.async.bulk.tensor.2d.shared::cluster", ("tma_load",)),
        ("cp.async.bulk.tensor.2d.global", ("tma_store",)),
        ("cp.async.bulk.shared::cluster.global", ("tma_load",)),
        ("cp.async.bulk.global.shared::cta", ("tma_store",)),
        ("cp.async.bulk.commit_group", ("tma_store_commit",)),
        ("cp.async.bulk.wait_group 1", ("tma_store_wait",)),
        ("barrier.cluster.arrive.relaxed.aligned", ("cluster_arrive",)),
        ("barrier.cluster.wait.aligned", ("cluster_wait", "syncthreads")),
        ("griddepcontrol.wait", ("griddepcontrol",)),
        ("prefetch.tensormap", ("tma_prefetch_descriptor",)),
        ("mbarrier.inval", ("mbarrier_inval",)),
    ],
)
def test_hopper(start, ops):
    """mbarriers, bulk copies, clusters and fences of sm_90a."""
    assert _starting(ops_by_ptx("instructions_sm_90a"), start) == ops


@pytest.mark.parametrize(
    ("start", "ops"),
    [
        ("tcgen05.alloc", ("tcgen05_alloc", "tcgen05_alloc", "warp_sync")),
        ("tcgen05.mma.cta_group::1.kind::f16 [%r3],%rd5", ("tcgen05_mma",)),
        ("tcgen05.mma.cta_group::1.kind::mxf4", ("tcgen05_mma",)),
        (
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
            ("tcgen05_commit",),
        ),
        ("tcgen05.ld.sync.aligned.32x32b", ("tcgen05_ld",)),
        ("tcgen05.st", ("tcgen05_st",)),
        ("tcgen05.wait::st", ("tcgen05_wait",)),
        ("tcgen05.cp", ("tcgen05_cp",)),
        ("tcgen05.dealloc", ("tcgen05_dealloc",)),
    ],
)
def test_blackwell(start, ops):
    """Tensor memory of sm_100a; the scoreboard wait of an allocation is no wait for groups."""
    assert _starting(ops_by_ptx("tcgen05_sm_100a"), start) == ops


def test_wgmma_and_the_commit_of_an_empty_group():
    """A product without operands is the commit of a group that is empty, not a product."""
    ops = [site.op for site in sites("wgmma_sm_90a")]
    assert {op: ops.count(op) for op in set(ops)} == {
        "wgmma": 2,
        "wgmma_commit": 1,
        "wgmma_fence": 2,
        "wgmma_wait": 2,
    }


def _instruction(opcode, *operands):
    return Instruction(0, 0, None, opcode, operands, None, (), 1)


@pytest.mark.parametrize(
    ("opcode", "operands", "op"),
    [
        ("SYNCS.ARRIVE.TRANS64.A2T0", ("RZ", "[UR4]", "RZ"), "unknown:SYNCS.ARRIVE.TRANS64.A2T0"),
        ("BAR.SCAN", ("0x0",), "unknown:BAR.SCAN"),
        ("FENCE.VIEW.BULK", (), "unknown:FENCE.VIEW.BULK"),
        ("UBLKCP.S.S", ("[UR4]",), "unknown:UBLKCP.S.S"),
        ("WARPGROUP.DEPBAR.LE", ("gsb1", "0x0"), "unknown:WARPGROUP.DEPBAR.LE"),
        ("LDT.x4", ("R0",), "unknown:LDT.x4"),
    ],
)
def test_an_unknown_member_of_a_family_is_named(opcode, operands, op):
    """It synchronises, we don't know how: reported by its name."""
    assert [read.op for read in read_sync(_instruction(opcode, *operands))] == [op]


@pytest.mark.parametrize(
    ("opcode", "operands"),
    [
        ("DEPBAR", ("{5,4,3,2,1,0}",)),
        ("WARPSYNC.COLLECTIVE", ("R10", "`(.L_x_1)")),
        ("ATOMS.ADD.S32", ("RZ", "[0x4]", "R7")),
        ("CCTL.IVALL", ()),
        ("LDS", ("RZ", "[RZ]")),
    ],
)
def test_a_near_miss_is_no_synchronisation(opcode, operands):
    """Scoreboards of one's own, the slow way of an election, other atomics."""
    assert read_sync(_instruction(opcode, *operands)) == ()


def test_a_register_is_an_argument_by_name_and_an_immediate_a_number():
    """``bar.sync`` by register keeps the register."""
    (known,) = read_sync(_instruction("BAR.SYNC.DEFER_BLOCKING", "0x1", "0x40"))
    assert (known.op, known.args) == ("partial_barrier", {"barrier": 1, "threads": 64})
    (unknown,) = read_sync(_instruction("BAR.SYNC", "R6", "0x40"))
    assert unknown.args == {"barrier": "R6", "threads": 64}


def test_consumer_blackwell_reads_like_hopper():
    """sm_120a has Hopper's mbarriers and bulk copies: the same statements, the same ops."""
    hopper = [site.op for site in sites("instructions_sm_90a")]
    blackwell = [site.op for site in sites("instructions_sm_120a")]
    extra = ["warp_sync"] * 2  # brought by the aligned cluster barrier
    assert sorted(blackwell) == sorted(hopper + extra)
    assert read("instructions_sm_120a").unknown_opcodes == ()
