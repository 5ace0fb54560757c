"""Differences between PTX and SASS are named; what has no name is left over."""

from stagebench.sass.rewrites import compare
from stagebench.sass.sites import SassSite


def _site(op, line):
    return SassSite(op, {}, "X", 0, 0, line, None)


def _only(comparisons, op):
    (found,) = [c for c in comparisons if c.op == op]
    return found


def test_wait_all_is_a_commit_and_a_wait():
    """A commit at the line of a wait is the wait's; the commit of its own stays one."""
    ptx = [("cp_async_commit", 10), ("cp_async_wait", 20)]
    sass = [_site("cp_async_commit", 10), _site("cp_async_commit", 20), _site("cp_async_wait", 20)]
    found = _only(compare(ptx, sass), "cp_async_commit")
    assert (found.ptx, found.sass, found.unexplained) == (1, 2, 0)
    assert [r.name for r in found.rewrites] == ["wait_all is a commit and a wait"]


def test_copies_are_counted():
    """Three sites of one line are copies that the assembler made."""
    found = _only(compare([("syncthreads", 5)], [_site("syncthreads", 5)] * 3), "syncthreads")
    assert [(r.name, r.difference) for r in found.rewrites] == [("copied ×3 by ptxas", 2)]
    assert found.unexplained == 0


def test_an_expected_transfer_is_merged_into_an_arrival():
    """Two lines announce bytes, one instruction does: the other was merged."""
    ptx = [("mbarrier_expect_tx", 7), ("mbarrier_expect_tx", 9), ("mbarrier_arrive", 9)]
    sass = [_site("mbarrier_expect_tx", 9), _site("mbarrier_arrive", 9)]
    found = _only(compare(ptx, sass), "mbarrier_expect_tx")
    assert [r.name for r in found.rewrites] == ["expect_tx merged into arrive"]
    assert found.unexplained == 0


def test_a_barrier_that_vanishes_is_left_over():
    """No rule says that a __syncthreads may go: 1 fewer, unexplained."""
    ptx = [("syncthreads", 5), ("syncthreads", 8)]
    found = _only(compare(ptx, [_site("syncthreads", 5)]), "syncthreads")
    assert (found.rewrites, found.unexplained) == ((), -1)


def test_a_lost_barrier_is_not_made_up_for_elsewhere():
    """One lost, one at a line of another op: the numbers agree and the lines do not."""
    ptx = [("syncthreads", 5), ("cp_async_wait", 8)]
    found = _only(compare(ptx, [_site("syncthreads", 8)]), "syncthreads")
    assert (found.ptx, found.sass, found.rewrites, found.unexplained) == (1, 1, (), -1)


def test_a_lost_barrier_is_not_made_up_for_by_a_copy():
    """One copied, one lost: still one too few."""
    ptx = [("syncthreads", 5), ("syncthreads", 8)]
    found = _only(compare(ptx, [_site("syncthreads", 8)] * 2), "syncthreads")
    assert found.unexplained == -1


def test_an_op_from_nowhere_is_left_over():
    """A load at a line where the PTX has none is not explained away."""
    found = _only(compare([("syncthreads", 5)], [_site("tma_load", 5)]), "tma_load")
    assert (found.ptx, found.sass, found.unexplained) == (0, 1, 1)


def test_products_copied_in_part_need_their_fences_copied():
    """6 products became 16: explained where a fence was copied too, left over where none was."""
    ptx = [("wgmma", line) for line in range(6)] + [("wgmma_fence", 90), ("wgmma_fence", 91)]
    sass = [_site("wgmma", None)] * 16 + [_site("wgmma_fence", 90)]
    copied = [*sass, *[_site("wgmma_fence", 91)] * 4]
    assert _only(compare(ptx, copied), "wgmma").unexplained == 0
    assert _only(compare(ptx, [*sass, _site("wgmma_fence", 91)]), "wgmma").unexplained == 10
