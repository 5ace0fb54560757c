"""Which mbarriers are there, how many arrivals, and what for?"""

from tests.facts.building import barriers_of, nest, observation, site

LOW, HIGH = "tx < 128", "!(tx < 128)"


def init(first, last, count, name="bar"):
    return site("mbarrier_init", barrier=name, slots=(first, last), count=count)


def ring(size):
    """A ring of full and empty barriers, as warp specialisation makes one."""
    return (
        *(init(i, i, 1) for i in range(size)),
        *(init(size + i, size + i, 128) for i in range(size)),
        nest(
            "k", 16,
            site("mbarrier_wait", tx=LOW, barrier="bar", slots=(size, 2 * size - 1)),
            site("tma_load", tx=LOW, barrier="bar", slots=(0, size - 1), buffer="lhs"),
            site("tma_load", tx=LOW, barrier="bar", slots=(0, size - 1), buffer="rhs"),
        ),
        nest(
            "k", 16,
            site("mbarrier_wait", tx=HIGH, barrier="bar", slots=(0, size - 1)),
            site("wgmma", tx=HIGH),
            site("mbarrier_arrive", tx=HIGH, barrier="bar", slots=(size, 2 * size - 1)),
        ),
    )  # fmt: skip


def test_a_ring_is_a_run_of_full_and_one_of_empty():
    """Neighbours with the same count and use are one run; the halves of an array are told apart."""
    assert barriers_of(observation(*ring(3))) == [
        ("bar", 0, 3, 1, "full", ("lhs", "rhs")),
        ("bar", 3, 3, 128, "empty", ()),
    ]


def test_a_ring_of_one():
    """Depth 1: one full and one empty barrier."""
    assert barriers_of(observation(*ring(1))) == [
        ("bar", 0, 1, 1, "full", ("lhs", "rhs")),
        ("bar", 1, 1, 128, "empty", ()),
    ]


def test_no_init_no_barrier():
    """A kernel that makes no barrier has none."""
    assert barriers_of(observation(site("syncthreads"))) == []


def test_an_init_in_a_loop_makes_as_many_as_its_index_reaches():
    """One site whose index runs over a range makes every barrier of the range."""
    assert barriers_of(observation(nest("i", 4, init(0, 3, 1)))) == [("bar", 0, 4, 1, "other", ())]


def test_a_wait_of_everybody_is_neither_full_nor_empty():
    """A barrier that nothing is loaded to and no producer waits on is other."""
    seen = observation(init(0, 0, 128), site("mbarrier_wait", barrier="bar", slots=(0, 0)))
    assert barriers_of(seen) == [("bar", 0, 1, 128, "other", ())]


def test_bytes_expected_or_a_copy_that_arrives_make_it_full():
    """An expect_tx, or a cp.async that arrives by itself, fills a barrier just as a load does."""
    seen = observation(
        init(0, 1, 1),
        site("mbarrier_expect_tx", barrier="bar", slots=(0, 0), bytes=4096),
        site("mbarrier_arrive", barrier="bar", slots=(1, 1), via="cp_async_noinc"),
    )
    assert barriers_of(seen) == [("bar", 0, 2, 1, "full", ())]


def test_a_plain_arrive_does_not_make_it_full():
    """Threads that arrive carry no data."""
    seen = observation(init(0, 0, 128), site("mbarrier_arrive", barrier="bar", slots=(0, 0)))
    assert barriers_of(seen) == [("bar", 0, 1, 128, "other", ())]


def test_another_array_of_the_same_indices_is_another_run():
    """Arrays with equal counts side by side are not run together."""
    seen = observation(init(0, 1, 1, "a"), init(0, 1, 1, "b"))
    assert barriers_of(seen) == [("a", 0, 2, 1, "other", ()), ("b", 0, 2, 1, "other", ())]


def test_a_gap_or_another_count_ends_a_run():
    """Only neighbours with the same count are one run."""
    seen = observation(init(0, 0, 1), init(1, 1, 128), init(3, 3, 128))
    assert barriers_of(seen) == [
        ("bar", 0, 1, 1, "other", ()),
        ("bar", 1, 1, 128, "other", ()),
        ("bar", 3, 1, 128, "other", ()),
    ]


def test_an_index_without_bounds_may_be_any_of_its_array():
    """A load whose slot can't be proven fills every barrier of its array, and none of another."""
    seen = observation(
        init(0, 1, 1),
        init(0, 0, 1, "other"),
        site("tma_load", barrier="bar", slots=None, buffer="lhs"),
    )
    assert barriers_of(seen) == [
        ("bar", 0, 2, 1, "full", ("lhs",)),
        ("other", 0, 1, 1, "other", ()),
    ]


def test_an_arrive_count_that_is_an_expression_is_kept():
    """A count that depends on the launch is shown as it is."""
    assert barriers_of(observation(init(0, 0, "n * 32"))) == [("bar", 0, 1, "n * 32", "other", ())]
