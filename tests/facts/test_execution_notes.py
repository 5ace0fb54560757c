"""Is it said where executions are an upper bound, and where they can't be told?"""

from stagebench.facts.execution_notes import execution_notes
from tests.facts.building import kernel, nest, site


def test_a_condition_makes_an_upper_bound():
    """Each condition once, also for its ``else`` branch, with the ops behind it."""
    seen = kernel(
        nest(
            "i", 8, site("warp_sync", guards=("i < 3",)), site("syncthreads", guards=("!(i < 3)",))
        ),
        site("syncthreads", guards=("4 < limit",)),
    )
    (note,) = execution_notes(seen)
    assert (note.severity, note.code) == ("note", "every-branch-taken")
    assert note.message.endswith("`i < 3` (warp_sync, syncthreads); `4 < limit` (syncthreads)")


def test_conditions_on_the_thread_alone_are_exact():
    """A count is of a thread that reaches the site: neither its range nor an election bounds it."""
    elected = site("tma_load", tx="tx < 128", guards=("T.tl_shuffle_elect(128)",))
    by_warp = site("mbarrier_wait", guards=("warp == 0",), thread_guards=("warp == 0",))
    assert list(execution_notes(kernel(elected, by_warp, site("syncthreads")))) == []


def test_many_conditions_are_counted():
    """Four are named, the others are not lost."""
    sites = [site("syncthreads", guards=(f"k == {index}",)) for index in range(6)]
    (note,) = execution_notes(kernel(*sites))
    assert note.message.endswith("`k == 3` (syncthreads); and 2 more")


def test_executions_that_cannot_be_told_are_named():
    """The nest is said; one whose sum is known is not."""
    seen = kernel(
        nest("i", "A[0]", nest("j", "i + 1", site("syncthreads"), executions=None)),
        nest("i", 8, nest("j", "i + 1", site("warp_sync"), executions=36)),
    )
    (note,) = execution_notes(seen)
    assert (note.severity, note.code) == ("note", "executions-not-known")
    assert note.message.endswith("no executions of syncthreads in i<A[0] > j<i + 1")
