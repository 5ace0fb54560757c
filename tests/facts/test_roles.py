"""Which warps execute a site?"""

from stagebench.facts.roles import assign_roles
from tests.facts.building import nest, observation, roles_of, site

LOW, HIGH = "tx < 128", "!(tx < 128)"


def test_the_side_that_loads_produces():
    """Warp specialisation: one side loads, the other multiplies, what is outside is of all."""
    seen = observation(
        site("syncthreads"),
        nest("k", 16, site("mbarrier_wait", tx=LOW), site("tma_load", tx=LOW)),
        nest("k", 16, site("mbarrier_wait", tx=HIGH), site("wgmma", tx=HIGH)),
    )
    assert roles_of(seen) == ("all", "producer", "producer", "consumer", "consumer")


def test_no_branch_no_roles():
    """A kernel without a branch on the thread index has one role."""
    seen = observation(site("cp_async_copy"), site("cp_async_wait"), site("mma_sync"))
    assert roles_of(seen) == ("all",) * 3


def test_no_sites():
    """A kernel that synchronises nowhere has no roles to give."""
    assert assign_roles(()) == ()


def test_a_guard_around_a_small_copy_is_no_split():
    """`tx < 64` around a copy that needs half the threads: nobody waits on the other side."""
    seen = observation(
        site("cp_async_copy", tx="tx < 64"), site("cp_async_commit"), site("mma_sync")
    )
    assert roles_of(seen) == ("all",) * 3


def test_two_guards_without_a_handshake_are_no_split():
    """Copies under one guard and tensor cores under another are no roles without a barrier."""
    seen = observation(site("cp_async_copy", tx=LOW), site("mma_sync", tx=HIGH))
    assert roles_of(seen) == ("all", "all")


def test_a_handshake_without_a_load_is_no_split():
    """Where no side starts a load there is no producer, so nobody consumes either."""
    seen = observation(
        site("mbarrier_arrive", tx=LOW), site("mbarrier_wait", tx=HIGH), site("mma_sync", tx=HIGH)
    )
    assert roles_of(seen) == ("all",) * 3


def test_a_side_that_loads_and_multiplies_consumes():
    """A consumer may load something itself; what makes it one is the tensor-core work."""
    seen = observation(
        site("mbarrier_wait", tx=LOW),
        site("tma_load", tx=LOW),
        site("mbarrier_wait", tx=HIGH),
        site("tma_load", tx=HIGH),
        site("wgmma", tx=HIGH),
    )
    assert roles_of(seen) == ("producer", "producer", "consumer", "consumer", "consumer")


def test_a_guard_beside_a_real_split_is_of_all():
    """In a specialised kernel a third branch without barrier or tensor core is nobody's."""
    seen = observation(
        site("syncthreads", tx="tx < 32"),
        site("tma_load", tx=LOW),
        site("mbarrier_wait", tx=HIGH),
        site("wgmma", tx=HIGH),
    )
    assert roles_of(seen) == ("all", "producer", "consumer", "consumer")
