"""Is a site in the prologue, the steady state or the epilogue?"""

from stagebench.facts.roles import assign_roles
from stagebench.facts.sections import assign_sections
from tests.facts.building import kernel, nest, site

LOW, HIGH = "tx < 128", "!(tx < 128)"


def sections(*body, requested=("k",)):
    seen = kernel(*body)
    return assign_sections(seen, frozenset(requested), assign_roles(seen.sites))


def test_before_in_and_behind_the_loop():
    """A software pipeline: what fills it, what runs in it, what drains it."""
    assert sections(
        site("cp_async_copy"),
        nest("k", 15, site("cp_async_copy"), nest("i", 4, site("mma_sync"))),
        site("cp_async_wait"),
    ) == ("prologue", "body", "body", "epilogue")


def test_no_pipelined_loop_no_sections():
    """A loop for which nobody asked a depth has no prologue."""
    assert sections(site("cp_async_copy"), nest("r", 15, site("mma_sync"))) == (None, None)


def test_a_loop_that_was_peeled_away_leaves_no_sections():
    """Fewer trips than stages: the loop is gone, and straight-line code is not called a body."""
    assert sections(site("cp_async_copy"), site("cp_async_wait"), site("mma_sync")) == (None,) * 3


def test_the_mark_of_the_compiler_is_enough():
    """A loop that carries the mark is pipelined whatever its variable is called."""
    assert sections(
        site("cp_async_copy"), nest("kk_1", 15, site("mma_sync"), pipelined=True), requested=()
    ) == ("prologue", "body")


def test_between_two_sibling_loops():
    """Copies behind the first loop fill the second; waits and tensor cores drain the first."""
    assert sections(
        site("cp_async_copy"),
        nest("k", 15, site("mma_sync")),
        site("cp_async_wait"),
        site("syncthreads"),
        site("mma_sync"),
        site("cp_async_copy"),
        site("syncthreads"),
        site("cp_async_commit"),
        nest("k", 15, site("mma_sync")),
        site("mma_sync"),
    ) == (
        "prologue", "body",
        "epilogue", "epilogue", "epilogue", "prologue", "prologue", "prologue",
        "body", "epilogue",
    )  # fmt: skip


def test_a_barrier_right_behind_the_first_of_two_loops_drains_it():
    """A site of no side directly behind a loop belongs to that loop."""
    assert (
        sections(
            nest("k", 15, site("mma_sync")), site("syncthreads"), nest("k", 15, site("mma_sync"))
        )[1]
        == "epilogue"
    )


def test_a_pipelined_loop_in_a_persistent_one():
    """An outer loop for which no depth was asked does not make its whole body a steady state."""
    assert sections(
        nest("tile", 4, site("cp_async_copy"), nest("k", 15, site("mma_sync")), site("syncthreads"))
    ) == ("prologue", "body", "epilogue")


def test_a_pipelined_loop_in_a_pipelined_one():
    """Inside an outer pipelined loop everything is its body, before the inner loop too."""
    assert sections(
        nest("outer", 4, site("cp_async_copy"), nest("k", 15, site("mma_sync"))),
        site("syncthreads"),
        requested=("outer", "k"),
    ) == ("body", "body", "epilogue")


def test_roles_have_loops_of_their_own():
    """The consumer's first wait is not behind the producer's loop: the two run side by side."""
    assert sections(
        site("mbarrier_init"),
        nest("k", 16, site("mbarrier_wait", tx=LOW), site("tma_load", tx=LOW)),
        site("setmaxnreg", tx=HIGH),
        nest("k", 16, site("mbarrier_wait", tx=HIGH), site("wgmma", tx=HIGH)),
        site("mbarrier_arrive", tx=HIGH),
        site("syncthreads"),
    ) == ("prologue", "body", "body", "prologue", "body", "body", "epilogue", "epilogue")
