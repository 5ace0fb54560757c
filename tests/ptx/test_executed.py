"""Does the walk count what each thread executes, and stop where it cannot know?"""

import pytest

from stagebench.ptx.by_statement import executed_by_statement, op_totals
from stagebench.ptx.executed import walk
from stagebench.ptx.read import read_module
from stagebench.ptx.thread_class import Placement
from tests.ptx.building import FIRST_LINE, HEAD, WAIT, kernel_of, real, text_of

BLOCK = Placement(block=(64, 1, 1), grid=(4, 2, 1), cta=(3, 1, 0))


def run(body, params=None, placement=BLOCK, **options):
    module, kernel = kernel_of(body)
    return walk(module, kernel, placement, params or {}, **options)


def by_threads(execution):
    """Counts by op for each range of threads."""
    found = {}
    for group in execution.groups:
        counts = {}
        for site in execution.program.sites:
            counts[site.op] = counts.get(site.op, 0) + group.counts[site.index]
        found[group.ranges] = {op: n for op, n in counts.items() if n}
    return found


EVERYONE = ((0, 63),)


def loop(bound, body="\tbar.sync 0;\n", start=0):
    return (
        f"\tmov.u32 %r1, {start};\nTOP:\n{body}\tadd.s32 %r1, %r1, 1;\n"
        f"\tsetp.lt.s32 %p1, %r1, {bound};\n\t@%p1 bra TOP;\n"
    )


def test_a_loop():
    """A loop with a constant bound is executed as often as it says."""
    assert by_threads(run(loop(16))) == {EVERYONE: {"syncthreads": 16}}
    assert by_threads(run(loop(-3, start=-9))) == {EVERYONE: {"syncthreads": 6}}


def test_a_bound_from_a_parameter():
    """A scalar parameter that is given is known; one that is not is a branch on data."""
    body = "\tld.param.u32 %r2, [kernel_param_1];\n" + loop("%r2")
    assert by_threads(run(body, {"kernel_param_1": 5})) == {EVERYONE: {"syncthreads": 5}}
    unknown = run(body)
    assert not unknown.complete
    line = FIRST_LINE + 6
    assert [(one.reason, one.ptx_line, one.threads) for one in unknown.stops] == [
        ("a branch that depends on data", line, 64)
    ]


def test_threads_part_ways():
    """A branch on the thread index splits the block; each part has its own counts."""
    body = (
        "\tmov.u32 %r3, %tid.x;\n\tsetp.gt.u32 %p2, %r3, 31;\n\t@%p2 bra HIGH;\n"
        "\tbar.sync 1, 32;\n\tbra.uni END;\nHIGH:\n" + loop(3, "\tbar.sync 2, 32;\n") + "END:\n"
        "\tbar.sync 0;\n"
    )
    found = run(body)
    assert by_threads(found) == {
        ((0, 31),): {"partial_barrier": 1, "syncthreads": 1},
        ((32, 63),): {"partial_barrier": 3, "syncthreads": 1},
    }
    assert [group.warps for group in found.groups] == [(0,), (1,)]


@pytest.mark.parametrize(("guard", "threads"), [("@%p2", ((0, 9),)), ("@!%p2", ((10, 63),))])
def test_a_guarded_instruction(guard, threads):
    """A guarded site counts for the threads where the guard holds; ``!`` turns it round."""
    body = f"\tmov.u32 %r3, %tid.x;\n\tsetp.lt.u32 %p2, %r3, 10;\n\t{guard} bar.sync 1, 32;\n"
    found = by_threads(run(body))
    assert {key for key, counts in found.items() if counts} == {threads}


def test_the_leader_of_a_warp():
    """``elect.sync`` in inline asm with its own registers elects one lane of each warp."""
    body = (
        "\tmov.u32 %r2, 0;\n\t{\n\t.reg .b32 %rx;\n\t.reg .pred %px;\n"
        "\telect.sync %rx|%px, -1;\n\t@%px mov.s32 %r2, 1;\n\t}\n"
        "\tsetp.eq.s32 %p1, %r2, 0;\n\t@%p1 bra END;\n\tcp.async.bulk.commit_group;\nEND:\n"
    )
    found = by_threads(run(body))
    assert {key for key, counts in found.items() if counts} == {((0, 0), (32, 32))}


def test_a_warp_index_through_a_shuffle():
    """``shfl.sync.idx`` of lane 0 is the warp's index for all its lanes."""
    body = (
        "\tmov.u32 %r1, %tid.x;\n\tshr.u32 %r2, %r1, 5;\n"
        "\tshfl.sync.idx.b32 %r3|%p3, %r2, 0, 31, -1;\n"
        "\tsetp.eq.s32 %p1, %r3, 1;\n\t@%p1 bar.sync 1, 32;\n"
    )
    found = by_threads(run(body))
    assert found == {((0, 31),): {}, ((32, 63),): {"partial_barrier": 1}}


@pytest.mark.parametrize(
    ("vote", "barrier"),
    [
        ("any.pred %p3, %p2, -1", {0: 1}),
        ("all.pred %p3, %p2, -1", {}),
        ("any.pred %p3, %p2, 1", None),
    ],
)
def test_a_vote(vote, barrier):
    """Thread 3 alone says yes: any of warp 0, all of none; a vote of some lanes is not computed."""
    body = (
        "\tmov.u32 %r1, %tid.x;\n\tsetp.eq.s32 %p2, %r1, 3;\n"
        f"\tvote.sync.{vote};\n\t@%p3 bar.sync 1, 32;\n"
    )
    found = run(body)
    if barrier is None:
        assert not found.complete
        return
    counts = {
        warp: group.counts[found.program.sites[0].index]
        for group in found.groups
        for warp in group.warps
    }
    assert {warp: count for warp, count in counts.items() if count} == barrier


def test_waits_succeed():
    """A spin is executed once, however it is written."""
    assert by_threads(run(loop(4, WAIT.replace("%r1", "%r9")))) == {EVERYONE: {"mbarrier_wait": 4}}


def test_the_index_of_the_cta():
    """Bounds that depend on the block index are those of the block that is walked."""
    body = "\tmov.u32 %r5, %ctaid.x;\n" + loop("%r5")
    assert by_threads(run(body)) == {EVERYONE: {"syncthreads": 3}}
    other = Placement(block=(64, 1, 1), grid=(4, 2, 1), cta=(2, 0, 0))
    assert by_threads(run(body, placement=other)) == {EVERYONE: {"syncthreads": 2}}


DATA = "\tld.global.u32 %r4, [%rd1];\n\tsetp.eq.s32 %p1, %r4, 0;\n"


def test_data_decides_between_ways_without_synchronisation():
    """A branch on data over plain code is stepped over: later counts are exact."""
    found = run(DATA + "\t@%p1 bra OVER;\n\tst.global.u32 [%rd1], %r4;\nOVER:\n" + loop(5))
    assert found.complete
    assert by_threads(found) == {EVERYONE: {"syncthreads": 5}}
    stores = [i for i, name in found.program.families.items() if name == "st_global"]
    assert found.uncounted == frozenset(stores)


def test_what_such_a_branch_writes_is_unknown():
    """A register written on one of the ways is not known afterwards; a bound from it stops."""
    found = run(
        "\tmov.u32 %r6, 5;\n" + DATA + "\t@%p1 bra OVER;\n\tmov.u32 %r6, 9;\nOVER:\n" + loop("%r6")
    )
    assert [one.reason for one in found.stops] == ["a branch that depends on data"]


def test_data_decides_about_synchronisation():
    """A branch on data over a barrier ends the walk, and totals say that they are not known."""
    found = run(DATA + "\t@%p1 bra OVER;\n\tbar.sync 0;\nOVER:\n")
    assert not found.complete
    assert found.stops[0].ptx_line == FIRST_LINE + 2
    assert op_totals(executed_by_statement(found))["syncthreads"].executed is None


def test_a_guard_from_data():
    """A site whose guard depends on data is not counted as zero."""
    found = run(DATA + "\t@%p1 bar.sync 1, 64;\n\tbar.sync 0;\n")
    assert not found.complete
    totals = op_totals(executed_by_statement(found))
    assert (totals["partial_barrier"].executed, totals["syncthreads"].executed) == (None, 1)


def test_an_endless_loop():
    """The bound on steps ends a loop that never ends."""
    found = run("TOP:\n\tbar.sync 0;\n\tbra TOP;\n", max_steps=1000)
    assert [one.reason for one in found.stops] == ["the bound on steps was reached"]


def test_a_table_of_targets():
    """``brx.idx`` on the thread index sends each value its own way."""
    body = (
        "\tmov.u32 %r1, %tid.x;\n\tand.b32 %r2, %r1, 1;\nts: .branchtargets A, B;\n"
        "\tbrx.idx %r2, ts;\nA:\n\tbar.sync 1, 32;\n\tbra END;\nB:\n\tbar.arrive 2, 32;\nEND:\n"
    )
    found = by_threads(run(body, placement=Placement((4, 1, 1), (1, 1, 1))))
    assert found == {
        ((0, 0), (2, 2)): {"partial_barrier": 1},
        ((1, 1), (3, 3)): {"partial_barrier_arrive": 1},
    }


def test_a_call_of_a_function_that_synchronises():
    """A call into code with a barrier ends the path; a call of other code does not."""
    for inside, stops in (("bar.sync 0;", 1), ("add.s32 %r1, %r1, 1;", 0)):
        callee = f".func helper()\n{{\n\t.reg .b32 %r<4>;\n\t{inside}\n\tret;\n}}\n"
        text = text_of("\tcall.uni helper;\n\tbar.sync 1, 64;\n").replace(HEAD, HEAD + callee)
        module = read_module(text)
        found = walk(module, module.entries[0], BLOCK)
        assert len(found.stops) == stops


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("mul.wide.s32 %rd1, %r1, -4;\n\tcvt.u32.u64 %r2, %rd1;", (-28) & 0xFFFFFFFF),
        ("mad.lo.s32 %r2, %r1, 3, 1;", 22),
        ("shr.s32 %r2, -16, 2;", (-4) & 0xFFFFFFFF),
        ("shr.u32 %r2, -16, 28;", 15),
        ("shl.b32 %r2, %r1, 33;", 0),
        ("div.s32 %r2, -7, 2;", (-3) & 0xFFFFFFFF),
        ("rem.s32 %r2, -7, 2;", (-1) & 0xFFFFFFFF),
        ("mul.hi.u32 %r2, -1, -1;", 0xFFFFFFFE),
        ("min.s32 %r2, -1, %r1;", 0xFFFFFFFF),
        ("min.u32 %r2, -1, %r1;", 7),
        ("bfe.u32 %r2, 0xABCD, 4, 8;", 0xBC),
        ("bfe.s32 %r2, 0xABCD, 4, 8;", 0xFFFFFFBC),
        ("lop3.b32 %r2, %r1, 12, 10, 0x96;", 7 ^ 12 ^ 10),
        ("shf.l.wrap.b32 %r2, 0x80000000, 1, 1;", 3),
        ("prmt.b32 %r2, 0x11223344, 0x55667788, 0x5410;", 0x77883344),
        ("not.b32 %r2, %r1;", 0xFFFFFFF8),
        ("neg.s32 %r2, %r1;", 0xFFFFFFF9),
        ("popc.b32 %r2, %r1;", 3),
        ("clz.b32 %r2, %r1;", 29),
        ("selp.b32 %r2, 4, 5, %p9;", 4),
        ("cvt.s32.s8 %r2, 0x80;", 0xFFFFFF80),
        ("cvt.u32.u16 %r2, 0x18000;", 0x8000),
        ("mov.b64 %rd1, {%r1, 1};\n\tmov.b64 {%r3, %r2}, %rd1;", 1),
        ("and.b32 %r2, %r30, 0;", 0),
    ],
)
def test_integer_instructions(code, value):
    """Results by the ISA's rules: once for one value, once through an array of the same values."""
    compare = f"\t{code}\n\tsetp.eq.u32 %p2, %r2, {value};\n\t@%p2 bar.sync 1, 64;\n"
    flag = "\tsetp.eq.s32 %p9, %r1, 7;\n"
    assert by_threads(run("\tmov.u32 %r1, 7;\n" + flag + compare))[EVERYONE] == {
        "partial_barrier": 1
    }
    spread = "\tmov.u32 %r7, %tid.x;\n\tand.b32 %r7, %r7, 1;\n\tadd.s32 %r1, %r7, 6;\n"
    found = by_threads(run(spread + flag + compare))
    odd = next(counts for key, counts in found.items() if (1, 1) in key or key == EVERYONE)
    assert odd == {"partial_barrier": 1}


def test_values_of_arguments():
    """Bytes in a register are found out, per statement; a value that varies is left open."""
    body = (
        "\t.loc 1 4 1\n\tmov.u32 %r2, 8192;\n\tmbarrier.expect_tx.shared::cta.b64 [%r1], %r2;\n"
        "\t.loc 1 5 1\n" + loop(3, "\tmbarrier.expect_tx.shared::cta.b64 [%r9], %r1;\n")
    )
    first, second = executed_by_statement(run(body))
    assert (first.args, first.executed) == ({"bytes": 8192}, 1)
    assert (second.args, second.executed) == ({}, 3)


def test_copies_are_summed_and_roles_added():
    """Per statement the sum of its copies by the busiest thread; the total adds statements."""
    body = (
        "\tmov.u32 %r3, %tid.x;\n\tsetp.gt.u32 %p2, %r3, 31;\n\t@%p2 bra HIGH;\n"
        "\t.loc 1 4 1\n\tbar.sync 1, 32;\n\tbar.sync 1, 32;\n\tbra.uni END;\nHIGH:\n\t.loc 1 9 1\n"
        + loop(3, "\tbar.sync 1, 32;\n") + "END:\n"
    )  # fmt: skip
    found = executed_by_statement(run(body))
    assert [(one.cuda_line, one.copies, one.executed) for one in found] == [(4, 2, 2), (9, 1, 3)]
    total = op_totals(found)["partial_barrier"]
    assert (total.static, total.executed) == (3, 5)


GEMM = {
    "gemm.sm_80": (128, {
        "cp_async_commit": (3 + 1 - 1, 8), "cp_async_copy": (9, 24), "cp_async_wait": (3, 8),
        "mma_sync": (24, 64), "syncthreads": (5, 15),
    }),
    "gemm.sm_90a": (256, {
        "fence_barrier_init": (1, 1), "mbarrier_arrive": (16, 16), "mbarrier_expect_tx": (16, 16),
        "mbarrier_init": (4, 4), "mbarrier_wait": (16, 16), "setmaxnreg": (2, 2),
        "syncthreads": (1, 1), "tma_load": (16, 16), "tma_prefetch_descriptor": (2, 2),
        "wgmma": (16, 16), "wgmma_commit": (8, 8), "wgmma_fence": (8, 8), "wgmma_wait": (8, 8),
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", GEMM)
def test_the_built_in_gemm(name):
    """Depth 2, K = 256 in steps of 32: eight trips, whatever was unrolled."""
    threads, expected = GEMM[name]
    module = read_module(real(name))
    found = walk(module, module.entries[0], Placement((threads, 1, 1), (8, 4, 1)))
    assert found.complete
    totals = op_totals(executed_by_statement(found))
    assert {op: (one.static, one.executed) for op, one in totals.items()} == expected
