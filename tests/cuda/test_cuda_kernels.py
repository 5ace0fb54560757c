"""Do kernels that compilers generated count as measured, and fast enough?

Recorded with TileLang 0.1.15 (from the corpus, whose ground truth was measured independently) and
Apache TVM 0.25.0.post1.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stagebench.facts.cuda_sites import read_cuda, sync_totals

KERNELS = Path(__file__).parent / "kernels"
TRIPS = "((K + 31) >> 5) - 1"

TOTALS = {
    "gemm.sm_80.2": {
        "cp_async_commit": (2, 16), "cp_async_copy": (4, 128), "cp_async_wait": (2, 16),
        "mma_sync": (4, 1024), "syncthreads": (3, 31),
    },
    "gemm.sm_80.3": {
        "cp_async_commit": (3, 16), "cp_async_copy": (6, 128), "cp_async_wait": (3, 16),
        "mma_sync": (6, 1024), "syncthreads": (4, 30),
    },
    "gemm.sm_90a.2": {
        "fence_barrier_init": (1, 1), "mbarrier_arrive": (2, 32), "mbarrier_expect_tx": (2, 32),
        "mbarrier_init": (4, 4), "mbarrier_wait": (2, 32), "setmaxnreg": (2, 2),
        "syncthreads": (1, 1), "tma_load": (2, 48), "tma_prefetch_descriptor": (2, 2),
        "wgmma": (1, 64), "wgmma_commit": (1, 16), "wgmma_fence": (1, 16), "wgmma_wait": (1, 16),
    },
    "persistent.sm_90a.2": {
        "fence_barrier_init": (1, 1), "mbarrier_arrive": (2, 50), "mbarrier_expect_tx": (2, 50),
        "mbarrier_init": (4, 4), "mbarrier_wait": (2, 50), "syncthreads": (2, 6),
        "tma_load": (2, 50), "tma_prefetch_descriptor": (2, 2), "wgmma": (1, 50),
        "wgmma_commit": (1, 25), "wgmma_fence": (1, 25), "wgmma_wait": (1, 25),
    },
    "symbolic_k.sm_80.2": {
        "cp_async_commit": (2, f"1 + ({TRIPS})"), "cp_async_wait": (2, f"1 + ({TRIPS})"),
        "mma_sync": (4, f"16 + 16 * ({TRIPS})"), "syncthreads": (3, f"1 + 2 * ({TRIPS})"),
    },
    "tcgen05_ring.sm_100a.2": {
        "fence_barrier_init": (1, 1), "fence_proxy_async": (1, 8), "mbarrier_arrive": (1, 8),
        "mbarrier_expect_tx": (2, 16), "mbarrier_init": (5, 5), "mbarrier_wait": (3, 17),
        "syncthreads": (2, 2), "tcgen05_alloc": (1, 1), "tcgen05_commit": (2, 9),
        "tcgen05_dealloc": (1, 1), "tcgen05_fence": (6, 13), "tcgen05_mma": (1, 32),
        "tma_load": (2, 24), "tma_prefetch_descriptor": (2, 2),
    },
    "tvm_stir_gemm.sm_80.3": {
        "cp_async_commit": (3, 32), "cp_async_copy": (6, 128), "cp_async_wait": (3, 32),
        "syncthreads": (4, 62),
    },
    "tvm_tirx_gemm.sm_90a.3": {
        "fence_proxy_async": (1, 1), "mbarrier_arrive": (2, 64), "mbarrier_expect_tx": (1, 32),
        "mbarrier_init": (6, 6), "mbarrier_wait": (2, 64), "syncthreads": (1, 1),
        "tma_load": (2, 64),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TOTALS)
def test_totals(recorded, name):
    """Every operation's static and dynamic count, nothing unknown."""
    totals = sync_totals(recorded(name).sites)
    assert {op: (total.static, total.dynamic) for op, total in totals.items()} == TOTALS[name]


@pytest.mark.parametrize(
    ("name", "waits"),
    [("gemm.sm_80.2", [1, 0]), ("gemm.sm_80.3", [2, 1, 0]), ("tvm_stir_gemm.sm_80.3", [2, 1, 0])],
)
def test_wait_depths(recorded, name, waits):
    """The depth of each wait, from a template argument or from PTX inside a device function."""
    found = [
        site.args["max_pending"] for site in recorded(name).sites if site.op == "cp_async_wait"
    ]
    assert found == waits


def test_warp_specialised_gemm(recorded):
    """Role, slot, parity and bytes can be read off the sites."""
    kernel = recorded("gemm.sm_90a.2")
    assert (kernel.function, kernel.launch_bounds, kernel.line) == ("kernel_kernel", (256, 1), 22)
    producer, consumer = [site for site in kernel.sites if site.op == "mbarrier_wait"]
    assert (producer.guards, consumer.guards) == (("threadIdx.x < 128",), ("!(threadIdx.x < 128)",))
    assert producer.args == {"barrier": "mbarrier[(kk & 1) + 2]", "parity": "((kk & 3) >> 1) ^ 1"}
    assert [(alias.name, alias.offset_bytes) for alias in kernel.arena_aliases] == [
        ("lhs", 0),
        ("rhs", 16384),
    ]


def test_tensor_memory_load_hides_a_wait(recorded):
    """``tcgen05_ld_*`` ends with ``tcgen05.wait::ld``."""
    (hidden,) = recorded("tcgen05_ring.sm_100a.2").hidden_syncs
    assert (hidden.op, hidden.args, hidden.line) == ("tcgen05_wait", {"kind": "ld"}, 96)


def test_lines_are_physical(recorded):
    """Each site's line holds its callee's name."""
    lines = (KERNELS / "gemm.sm_90a.2.cu").read_text().splitlines()
    for site in recorded("gemm.sm_90a.2").sites:
        name = site.callee.rpartition("::")[2].rpartition(".")[2].partition("<")[0]
        assert name in lines[site.line - 1]


def test_time_grows_with_length_only():
    """A 20,000-line kernel takes 150 times a 136-line one, give or take; never its square."""
    source = (KERNELS / "gemm.sm_80.3.cu").read_text()
    start = source.index("{", source.index("__launch_bounds__")) + 1
    end = source.rindex("}")
    body = source[start:end]
    large = source[:start] + "".join(f"{{{body}}}\n" for _ in range(170)) + source[end:]
    kernels = read_cuda(source)  # loads the grammar, too

    began = time.perf_counter()
    (kernel,) = read_cuda(large)
    seconds = time.perf_counter() - began

    assert large.count("\n") > 20_000 * 0.95
    assert len(kernel.sites) == 170 * len(kernels[0].sites)
    assert seconds < 10, "measured 1 s; more than ten times that is not noise"
