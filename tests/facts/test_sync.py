"""Is every call site told with its executions, its loops and its guards?"""

from stagebench.facts.sync import sync_totals
from tests.facts.building import nest, observation, ops_of, request, site


def test_a_site_in_loops():
    """Executions are the product of the loops around the site; the nest is told outermost first."""
    (op,) = ops_of(
        observation(nest("k", 15, nest("i", 8, site("cp_async_copy", bytes=16, line=7))))
    )
    assert (op.static, op.dynamic, op.loops) == (1, 120, ("k<15", "i<8"))
    assert (op.args, op.intrinsic) == ({"bytes": 16}, "tl.cp_async_copy")
    assert (op.file, op.line, op.line_kind) == ("kernel.py", 7, "exact")


def test_a_site_outside_of_loops_runs_once():
    """No loop: once.  A trip count of zero: never, and still a site."""
    once, never = ops_of(observation(site("syncthreads"), nest("k", 0, site("syncthreads"))))
    assert (once.dynamic, once.loops) == (1, ())
    assert (never.static, never.dynamic) == (1, 0)


def test_a_symbolic_trip_count_is_kept():
    """A loop whose extent is an expression gives an expression, not a guess."""
    (op,) = ops_of(observation(nest("k", "(K + 63) // 64", nest("i", 4, site("mma_sync")))))
    assert (op.dynamic, op.loops) == ("4*((K + 63) // 64)", ("k<(K + 63) // 64", "i<4"))


def test_executions_that_are_not_a_product():
    """What the reader of the IR added up is taken as it is, also that it can't be told."""
    body = nest("i", 8, nest("j", "i + 1", site("syncthreads"), executions=36))
    lost = nest("i", "A[0]", nest("j", "i + 1", site("syncthreads"), executions=None))
    ops = ops_of(observation(body, lost, site("syncthreads")))
    assert [op.dynamic for op in ops] == [36, None, 1]
    assert sync_totals(ops)["syncthreads"].dynamic is None
    assert sync_totals(ops[::2])["syncthreads"].dynamic == 37


def test_guards_are_the_thread_range_first():
    """The branch on threads stands before other conditions, and both count as taken."""
    (op,) = ops_of(observation(site("tma_load", tx="tx < 128", guards=("k == 0",))))
    assert (op.guards, op.dynamic) == (("tx < 128", "k == 0"), 1)


def test_totals_add_sites_of_all_roles():
    """Per op, sorted by name: call sites and executions, whoever executes them."""
    ops = ops_of(
        observation(
            nest("k", 16, site("mbarrier_wait", tx="tx < 128"), site("tma_load", tx="tx < 128")),
            nest("k", 16, site("mbarrier_wait", tx="!(tx < 128)")),
            site("syncthreads"),
            nest("n", "N", site("syncthreads")),
            requests=[request()],
        )
    )
    totals = {name: (t.static, t.dynamic) for name, t in sync_totals(ops).items()}
    assert totals == {"mbarrier_wait": (2, 32), "syncthreads": (2, "N + 1"), "tma_load": (1, 16)}
    assert list(totals) == sorted(totals)


def test_no_sites_no_totals():
    """A kernel without synchronisation has empty totals."""
    assert ops_of(observation()) == ()
    assert sync_totals(()) == {}


def test_what_is_unknown_is_counted_under_its_name():
    """An op outside of the taxonomy keeps its name and is counted as any other."""
    ops = ops_of(observation(nest("k", 3, site("unknown:tl.new_thing"))))
    assert {n: (t.static, t.dynamic) for n, t in sync_totals(ops).items()} == {
        "unknown:tl.new_thing": (1, 3)
    }
