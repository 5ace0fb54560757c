"""What takes the whole function: kinds of groups, and which polls make one wait."""

import pytest

from stagebench.sass.control_flow import control_flow
from stagebench.sass.read import read_sass
from stagebench.sass.sites import site_totals, sync_sites
from tests.sass.reading import DATA, ops_by_ptx, sites, text


def test_a_spinning_wait_is_one_wait_and_two_polls():
    """The GEMM of depth 2 over 4 tiles: 8 waits of 3 polls, each with its own try_wait's line."""
    found = sites("gemm_depth2_sm_90a", "gemm_kernel_kernel")
    assert site_totals(found) == {
        "fence_proxy_async": 1,
        "mbarrier_arrive": 8,
        "mbarrier_expect_tx": 4,
        "mbarrier_init": 4,
        "mbarrier_poll": 16,
        "mbarrier_wait": 8,
        "setmaxnreg": 2,
        "syncthreads": 1,
        "tma_load": 8,
        "tma_prefetch_descriptor": 2,
        "warp_sync": 2,
        "wgmma": 16,
        "wgmma_fence": 4,
        "wgmma_wait": 4,
    }
    waits = {site.ptx_line for site in found if site.op == "mbarrier_wait"}
    assert len(waits) == 8
    assert waits == {site.ptx_line for site in found if site.op == "mbarrier_poll"}


@pytest.mark.parametrize(
    ("instruction", "waits"), [("LDL.LU R2, [R1+0x50]", 8), ("LDS R2, [R7]", 7)]
)
def test_a_spin_loop_may_reload_a_spilled_register(instruction, waits):
    """An address is spilled around an mbarrier's spin loop; a load of data is other work."""
    name = "gemm_kernel_kernel"
    before, after = text("gemm_depth2_sm_90a").split("@!P0 NANOSLEEP.SYNCS 0x989680", 1)
    sass = read_sass(f"{before}{instruction}{after}", name)
    found = site_totals(sync_sites(control_flow(sass)))
    assert found["mbarrier_wait"] == waits
    assert ("mbarrier_try_wait" in found) is (waits == 7)


@pytest.mark.parametrize(
    ("instruction", "waits"),
    [
        ("LEA R7, R38, R39, 0x18", 8),  # the poll reads R7
        ("S2R R7, SR_CgaCtaId", 8),
        ("LEA R9, R38, R39, 0x18", 7),  # nothing of the wait needs R9
        ("VIADD R7, R7, 0x1", 7),  # another address in each trip
        ("IADD3 R8, PT, PT, R8, 0x1, RZ", 7),  # tries are counted
    ],
)
def test_a_spin_loop_may_make_its_address_again(instruction, waits):
    """As ptxas does where registers are short; what goes elsewhere or is carried is other work."""
    before, after = text("gemm_depth2_sm_90a").split("@!P0 NANOSLEEP.SYNCS 0x989680", 1)
    sass = read_sass(f"{before}{instruction}{after}", "gemm_kernel_kernel")
    found = site_totals(sync_sites(control_flow(sass)))
    assert found["mbarrier_wait"] == waits
    assert ("mbarrier_try_wait" in found) is (waits == 7)


def test_one_kind_of_group_names_the_wait():
    """A function that commits cp.async groups alone waits for those; the depth is an argument."""
    waits = [s for s in sites("manual_ring_sm_80", "kernel_kernel") if s.op == "cp_async_wait"]
    assert [(site.args, site.cuda_line) for site in waits] == [
        ({"max_pending": 0}, 58),
        ({"max_pending": 4}, 55),
    ]


def test_two_kinds_of_groups_are_not_guessed():
    """cp.async and bulk groups wait with the same instruction: unknown without the PTX's word."""
    assert site_totals(sites("both_groups_sm_90a"))["unknown:DEPBAR.LE"] == 4


def test_two_kinds_of_groups_are_told_apart_by_the_ptx_line():
    """With the PTX's ops by line each wait has its kind."""
    kinds = {"cp.async.wait": "cp_async_wait", "cp.async.bulk.wait": "tma_store_wait"}
    statements = (DATA / "both_groups_sm_90a.ptx").read_text().split("\n")
    ptx_ops = {
        line: kind
        for line, statement in enumerate(statements, start=1)
        for start, kind in kinds.items()
        if statement.startswith(start)
    }
    found = ops_by_ptx("both_groups_sm_90a", ptx_ops)
    assert found["cp.async.wait_group 0;"] == ("cp_async_wait",)
    assert found["cp.async.bulk.wait_group.read 1;"] == ("tma_store_wait",)
    assert found["cp.async.wait_all;"] == ("cp_async_commit", "cp_async_wait")
    assert found["cp.async.bulk.wait_group 0;"] == ("tma_store_wait",)
