"""The four levels side by side: each rewrite has a name, and what has none is not agreed."""

import pytest

from stagebench.facts.cuda_sites import read_cuda
from stagebench.machine.block_extent import extent_in_block
from stagebench.machine.cuda_to_ptx import explain_ptx
from stagebench.machine.levels import level_rows
from stagebench.model import LevelCount, SyncTotal
from stagebench.ptx.by_statement import Executed
from stagebench.ptx.sites import PtxSite
from stagebench.sass.rewrites import compare
from stagebench.sass.sites import SassSite

KERNEL = """\
extern "C" __global__ void __launch_bounds__(128, 1) k(float* p) {
  for (int i = 0; i < 4; ++i) {
    __syncthreads();
  }
  if (blockIdx.x < 2) {
    tl::cp_async_commit();
  }
  if (threadIdx.x < 32) {
    tl::cp_async_wait<0>();
  }
  __syncthreads();
}
"""
CUDA = read_cuda(KERNEL)[0]


class FactsOf:
    """As much of `Facts` as the levels look at."""

    def __init__(self, **totals):
        self.sync_totals = {op: SyncTotal(static=s, dynamic=d) for op, (s, d) in totals.items()}


FACTS = FactsOf(syncthreads=(2, 5), cp_async_commit=(1, 1), cp_async_wait=(1, 1))


def site(op, line, opcode="bar.sync"):
    return PtxSite(
        op=op, opcode=opcode, args={}, values={}, index=line, line=line, spin=False, block=0,
        loop_depth=0, cuda_line=None, cuda_line_exact=True,
    )  # fmt: skip


def ptx(op, cuda_line, lines, executed, opcode="bar.sync", args=None):
    return Executed(
        op=op, opcode=opcode, args=args or {}, cuda_line=cuda_line, ptx_lines=tuple(lines),
        executed=executed, sites=tuple(site(op, line, opcode) for line in lines),
    )  # fmt: skip


def sass(op, *ptx_lines):
    return [
        SassSite(op=op, args={}, opcode="X", index=i, pc=16 * i, ptx_line=line, cuda_line=None)
        for i, line in enumerate(ptx_lines)
    ]


def test_copies_of_a_loop_are_unrolling():
    """Four copies that are executed once each are the loop's four trips."""
    found = explain_ptx(
        "syncthreads", CUDA,
        [ptx("syncthreads", 3, [10, 11, 12, 13], 4), ptx("syncthreads", 11, [20], 1)], FACTS,
    )  # fmt: skip
    assert (found.agreed, found.reasons) == (True, ("unrolled ×4",))


COPY = read_cuda("""\
extern "C" __global__ void k(float* p) {
  for (int i = 0; i < 4; ++i) {
    tl::cp_async_gs<16>(p, p);
  }
}
""")[0]


def test_a_template_that_is_several_instructions_is_no_unrolling():
    """Twice the executions of a copy: each call is two instructions."""
    found = explain_ptx(
        "cp_async_copy", COPY, [ptx("cp_async_copy", 3, [10, 11], 8)],
        FactsOf(cp_async_copy=(1, 4)),
    )  # fmt: skip
    assert (found.agreed, found.reasons) == (
        True,
        ("each call is 2 cp_async_copy instructions",),
    )


def test_a_barrier_is_never_several():
    """Twice the executions of a barrier is an additional barrier: not explained."""
    found = explain_ptx(
        "syncthreads", CUDA,
        [ptx("syncthreads", 3, [10, 11], 8), ptx("syncthreads", 11, [20], 1)], FACTS,
    )  # fmt: skip
    assert not found.agreed
    assert "kernel.cu:3: 4 executions in the CUDA, 8 in PTX" in found.reasons


OF_THE_BLOCK = read_cuda("""\
extern "C" __global__ void k(float* p) {
  for (int i = 0; i < (((int)blockIdx.y) * 2) + 3; ++i) {
    __syncthreads();
  }
}
""")[0]


@pytest.mark.parametrize(
    ("block", "executed", "agreed"),
    [((0, 0, 0), 3, True), ((9, 4, 0), 11, True), ((0, 1, 0), 3, False), ((0, 0, 0), 4, False)],
)
def test_a_trip_count_of_the_block_is_computed_for_the_block_walked(block, executed, agreed):
    """``2 * blockIdx.y + 3`` is a number in the block that is walked: one more is not explained."""
    found = explain_ptx(
        "syncthreads", OF_THE_BLOCK, [ptx("syncthreads", 3, [10], executed)],
        FactsOf(syncthreads=(1, "2 * by + 3")), block,
    )  # fmt: skip
    assert found.agreed is agreed


@pytest.mark.parametrize(
    ("extent", "number"),
    [
        ("2 * (blockIdx.x + 1)", 8),
        ("(blockIdx.x * 5 + 1) / 4 + blockIdx.y % 3", 6),
        ("((blockIdx.x + 31) >> 5)", 1),
        ("(K + 31) >> 5", "(K + 31) >> 5"),
        ("blockIdx.y - blockIdx.x", 2),
        ("blockIdx.x - blockIdx.y", "blockIdx.x - blockIdx.y"),
        ("(blockIdx.x - blockIdx.y) / 2 + 9", "(blockIdx.x - blockIdx.y) / 2 + 9"),
        ("4 / blockIdx.z", "4 / blockIdx.z"),
        ("blockIdx.x ? 1 : 2", "blockIdx.x ? 1 : 2"),
        ("n.x + blockIdx.x", "n.x + blockIdx.x"),
    ],
)
def test_an_extent_in_a_block(extent, number):
    """Integer arithmetic of block indices is computed as in C; all else stays symbolic."""
    assert extent_in_block(extent, (3, 5, 0)) == number


def test_a_lost_execution_is_not_explained():
    """One trip less than the loop has is a disagreement, with both numbers."""
    found = explain_ptx(
        "syncthreads", CUDA,
        [ptx("syncthreads", 3, [10], 3), ptx("syncthreads", 11, [20], 1)], FACTS,
    )  # fmt: skip
    assert not found.agreed
    assert found.reasons == ("kernel.cu:3: 4 executions in the CUDA, 3 in PTX",)


def test_a_lost_statement_is_not_explained():
    """A statement without PTX is told by its line."""
    found = explain_ptx("syncthreads", CUDA, [ptx("syncthreads", 3, [10], 4)], FACTS)
    assert (found.agreed, found.reasons) == (False, ("kernel.cu:11 has no PTX",))


def test_neighbours_that_the_line_table_mixes_are_compared_together():
    """All copies on the second line: the sum over both lines still fits."""
    found = explain_ptx("syncthreads", CUDA, [ptx("syncthreads", 11, [9, 10, 11], 5)], FACTS)
    assert found.agreed
    assert found.reasons == ("2 call sites are 3 copies, lines 3 to 11 together",)


REDUCE = "tl::AllReduce<tl::MaxOp, 256, 128, 128, tl::NamedBarrier<256>>::run"
REDUCTIONS = read_cuda(f"""\
extern "C" __global__ void k(float* p) {{
  for (int i = 0; i < 4; ++i) {{
    p[i] = {REDUCE}(p[i], p);
    p[i] = tl::AllReduce<tl::MaxOp, 4, 1, 128, tl::NamedBarrier<256>>::run(p[i]);
  }}
}}
""")[0]


@pytest.mark.parametrize(
    ("line", "executed", "barrier", "agreed"),
    [(4, 2, 2, True), (4, 3, 2, False), (4, 2, 3, False), (9, 2, 2, False)],
)
def test_a_template_inlined_beside_itself_has_copies_on_both_lines(line, executed, barrier, agreed):
    """A copy beside the call is the call's with its arguments and its count, and not far away."""
    first, second = ({"barrier_id": number, "threads": 256} for number in (1, 2))
    stray = {"barrier_id": barrier, "threads": 256}
    found = explain_ptx(
        "partial_barrier", REDUCTIONS,
        [
            ptx("partial_barrier", 3, [10, 20], 4, args=first),
            ptx("partial_barrier", 3, [11], 2, args=second),
            ptx("partial_barrier", line, [21], executed, args=stray),
        ],
        FactsOf(),
    )  # fmt: skip
    assert found.agreed is agreed
    told = f"inside {REDUCE}" if agreed else f"1 in PTX where kernel.cu:{line} has none"
    assert told in found.reasons


SYMBOLIC = read_cuda("""\
extern "C" __global__ void k(float* p, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    __syncthreads();
  }
  tl::mma_sync<1, 2>(p);
}
""")[0]


def test_mixed_lines_of_a_symbolic_count_are_not_held_against_each_other():
    """Neither count is known above PTX: which line which copy is from proves nothing."""
    found = explain_ptx(
        "syncthreads", SYMBOLIC, [ptx("syncthreads", 3, [9, 10], 7)],
        FactsOf(syncthreads=(2, "2*n")),
    )  # fmt: skip
    assert (found.agreed, found.reasons) == (True, ("a trip count is symbolic above PTX",))


FAR = read_cuda("""\
extern "C" __global__ void k(float* p, int n) {
  for (int i = 0; i < n; ++i) {
    tl::cp_async_wait<1>();
    p[i] += 1;
    p[i] += 2;
    p[i] += 3;
    p[i] += 4;
  }
  if (n < 0 && n > 0) {
    tl::cp_async_wait<0>();
  }
}
""")[0]


def test_a_wait_that_was_compiled_away_is_not_excused_by_a_symbolic_count():
    """TileLang's late_start: the last wait stands under a guard that is never true."""
    found = explain_ptx(
        "cp_async_wait", FAR, [ptx("cp_async_wait", 3, [9], None)],
        FactsOf(cp_async_wait=(2, "n + 1")),
    )  # fmt: skip
    assert not found.agreed
    assert "kernel.cu:10 has no PTX" in found.reasons


@pytest.mark.parametrize(("op", "agreed"), [("mma_sync", True), ("syncthreads", False)])
def test_a_product_may_be_computed_without_matrix_units(op, agreed):
    """No MMA in the PTX is the template's doing (a diagnostic says so); no barrier is not."""
    sites = {"mma_sync": 1, "syncthreads": 2}
    found = explain_ptx(op, SYMBOLIC, [], FactsOf(**{op: (sites[op], 1)}))
    assert found.agreed == agreed


MIXED = read_cuda("""\
extern "C" __global__ void k(float* p) {
  for (int i = 0; i < 4; ++i) {
    if (i == 0) {
      __syncthreads();
    }
    __syncthreads();
  }
}
""")[0]


@pytest.mark.parametrize(("executed", "agreed"), [(5, True), (4, True), (3, False), (9, False)])
def test_mixed_lines_behind_a_branch(executed, agreed):
    """Both statements on one line of the table: between the unguarded count and all branches."""
    found = explain_ptx(
        "syncthreads", MIXED, [ptx("syncthreads", 4, [9, 10], executed)],
        FactsOf(syncthreads=(2, 8)),
    )  # fmt: skip
    assert found.agreed == agreed


def test_a_branch_on_the_block_may_not_be_taken():
    """Above PTX every branch is taken; the block that was walked may not take it."""
    found = explain_ptx("cp_async_commit", CUDA, [ptx("cp_async_commit", 6, [10], 0)], FACTS)
    assert found.agreed
    assert found.reasons == ("behind `blockIdx.x < 2`: 0 of 1 in this block",)


def test_a_branch_on_the_thread_excuses_nothing():
    """Some thread of every block takes it, so a missing execution is one."""
    found = explain_ptx("cp_async_wait", CUDA, [ptx("cp_async_wait", 9, [10], 0)], FACTS)
    assert not found.agreed


def test_what_the_walk_does_not_know_is_said():
    """An unknown count is neither agreement of numbers nor a difference."""
    found = explain_ptx("cp_async_wait", CUDA, [ptx("cp_async_wait", 9, [10], None)], FACTS)
    assert found.agreed
    assert found.reasons == ("not walked to the end: executions of the PTX are not known",)


def test_ptx_from_nowhere_is_not_explained():
    """An instruction on a line that has no such call is told by its line."""
    found = explain_ptx("fence_proxy_async", CUDA, [ptx("fence_proxy_async", 3, [10], 1)], FACTS)
    assert (found.agreed, found.reasons) == (False, ("1 in PTX where kernel.cu:3 has none",))


def test_ir_and_cuda_must_have_the_same_sites():
    """A site that the IR lacks is found before PTX is looked at."""
    found = explain_ptx("syncthreads", CUDA, [], FactsOf(syncthreads=(1, 5)))
    assert not found.agreed
    assert found.reasons[0] == "1 call sites in the IR, 2 in the CUDA"


def test_a_rewrite_of_ptxas_is_named_and_what_has_no_name_is_not_agreed():
    """All four levels of one op: a commit that wait_all brings, and one that nothing brings."""
    statements = [
        ptx("cp_async_commit", 6, [10], 1, "cp.async.commit_group"),
        ptx("cp_async_wait", 9, [12], 1, "cp.async.wait_all"),
    ]
    good = sass("cp_async_commit", 10, 12) + sass("cp_async_wait", 12)
    rows = {row.op: row for row in level_rows(FACTS, CUDA, statements, good)}
    commit = rows["cp_async_commit"]
    assert (commit.ptx, commit.sass) == (
        LevelCount(static=1, executed=1),
        LevelCount(static=2, executed=None),
    )
    assert (commit.agreed, commit.explanations) == (True, ("wait_all is a commit and a wait",))
    bad = sass("cp_async_commit", 10, 13) + sass("cp_async_wait", 12)
    commit = {row.op: row for row in level_rows(FACTS, CUDA, statements, bad)}["cp_async_commit"]
    assert (commit.agreed, commit.explanations) == (False, ("not explained: +1 in SASS",))


@pytest.mark.parametrize(("arrives", "agreed"), [(False, True), (True, False)])
def test_only_a_bare_expect_tx_can_be_merged(arrives, agreed):
    """expect_tx disappears into the arrive behind it; an arrive that disappears is lost."""
    lines = [("mbarrier_expect_tx", 10), ("mbarrier_expect_tx", 12), ("mbarrier_arrive", 12)]
    if arrives:
        lines.append(("mbarrier_arrive", 10))
    found = compare(lines, sass("mbarrier_expect_tx", 12) + sass("mbarrier_arrive", 12))
    expect = next(one for one in found if one.op == "mbarrier_expect_tx")
    assert (expect.unexplained == 0) == agreed
