"""Is each thing that a reader must know told when it is so, and only then?"""

import pytest

from stagebench.facts.barriers import barriers
from stagebench.facts.buffers import shared_buffers
from stagebench.facts.diagnostics import diagnose
from stagebench.facts.pipeline import pipeline_loops
from stagebench.facts.shared_memory import shared_memory
from tests.facts.building import (
    PLANNED,
    allocation,
    arena,
    buffer,
    nest,
    observation,
    ops_of,
    request,
    roles_of,
    site,
)


def diagnostics(*body, arch="sm_80", num_stages=2, **more):
    """All diagnostics of a kernel of that body, by code."""
    seen = observation(*body, **more)
    buffers = shared_buffers(seen)
    found = diagnose(
        seen,
        pipeline_loops(seen, buffers),
        buffers,
        shared_memory(seen, buffers, arch=arch, num_stages=num_stages),
        barriers(seen, roles_of(seen)),
        ops_of(seen),
    )
    return [(d.severity, d.code, d.message) for d in found]


COMMIT, WAIT = site("cp_async_commit"), site("cp_async_wait", max_pending=0)


def ring(size):
    """A ring of full barriers that lhs is loaded through."""
    return (
        *(site("mbarrier_init", barrier="bar", slots=(i, i), count=1) for i in range(size)),
        site("tma_load", barrier="bar", slots=(0, size - 1), buffer="lhs"),
    )


def test_nothing_to_say():
    """A sound kernel: no diagnostic."""
    ring_of_two = [buffer("lhs", leading=(2,), by=["p"]), buffer("rhs", leading=(2,), by=["p"])]
    assert (
        diagnostics(
            nest("k", 15, site("cp_async_copy"), COMMIT, WAIT),
            requests=[request(**PLANNED)],
            buffers=ring_of_two,
            dynamic_smem_bytes=16384,
            arena=arena(lhs=0, rhs=8192),
        )
        == []
    )


SPECIALIZED = request(outcome="specialized", num_stages=1, producer_writes=("lhs",))
RED = {
    "shared-memory-over-limit": (
        {"dynamic_smem_bytes": 200_000},
        "error",
        "200000 bytes of shared memory, the limit is 166912",
    ),
    "shared-memory-over-limit, static": (
        {"allocations": (allocation("tile", 49153, scope="shared"),)},
        "error",
        "49153 bytes of static shared memory, the limit of the static part is 49152 (more must be "
        "dynamic): the kernel can't be assembled",
    ),
    "commit-without-wait": (
        {"body": [COMMIT, COMMIT]},
        "warning",
        "2 cp.async commit sites and no wait",
    ),
    "versioned-twice": (
        {"buffers": [buffer("lhs", leading=(3, 3), by=["p", "q"])]},
        "warning",
        "lhs has version dimensions [3, 3] (by p, q)",
    ),
    "allocation-differs": (
        {"buffers": [buffer("lhs")], "allocations": (allocation("lhs", 5000),)},
        "note",
        "lhs: 1 versions take 4096 bytes, the allocation has 5000",
    ),
    "barrier-not-placed": (
        {"body": [site("mbarrier_init", barrier="bar"), site("mbarrier_init", slots=(0, 0))]},
        "warning",
        "2 mbarrier_init sites (?, ?) name a barrier that can't be told",
    ),
    "ring-over-one-version": (
        {"body": ring(2), "buffers": [buffer("lhs")], "requests": [SPECIALIZED]},
        "warning",
        "2 full barriers guard lhs, which has one version",
    ),
    "depth-without-effect": (
        {"requests": [request()]},
        "warning",
        "loop k, num_stages=2: no pass took the loop up",
    ),
    "unknown-op": (
        {"body": [site("unknown:tl.new"), site("unknown:tl.new")]},
        "warning",
        "tl.new is not in the taxonomy",
    ),
    "more-than-one-kernel": (
        {"others": ["second", "third"]},
        "warning",
        "facts are those of kernel; the module also has second, third",
    ),
    "compiler-warning": ({"warnings": ["no fast path"]}, "warning", "no fast path"),
}
"""Code (and which of its messages) → the smallest kernel, severity, the message's start."""


@pytest.mark.parametrize("code", RED)
def test_red(code):
    """Each diagnostic is shown alone by the kernel that has just that."""
    kernel, severity, message = RED[code]
    found = diagnostics(*kernel.get("body", ()), **{k: v for k, v in kernel.items() if k != "body"})
    assert [(s, c) for s, c, _ in found] == [(severity, code.partition(",")[0])]
    assert found[0][2].startswith(message)


@pytest.mark.parametrize(
    "kernel",
    [
        {"dynamic_smem_bytes": 166_912},
        {"dynamic_smem_bytes": 200_000, "arch": "sm_199"},
        {"body": [COMMIT, WAIT]},
        {"body": [COMMIT, site("mbarrier_arrive", via="cp_async_noinc")]},
        {"body": [WAIT]},
        {"buffers": [buffer("lhs", leading=(3,), by=["p"])]},
        {"buffers": [buffer("lhs")], "allocations": (allocation("lhs", 4096),)},
        {"buffers": [buffer("lhs")], "allocations": (allocation("lhs", 5000, scope="shared"),)},
        {"buffers": [buffer("lhs", "n")], "allocations": (allocation("lhs", 5000),)},
        {"buffers": [buffer("lhs")], "allocations": (allocation("buf_dyn_shmem", 9000),)},
        {"body": ring(2), "buffers": [buffer("lhs", leading=(2,))], "requests": [SPECIALIZED]},
        {"body": ring(1), "buffers": [buffer("lhs")], "requests": [SPECIALIZED]},
        {"body": ring(2), "buffers": []},
        {"body": ring(2), "buffers": [buffer("lhs")]},  # a ring of the author's own
        {"requests": [request(num_stages=0)]},
        {"requests": [request(num_stages=None)]},
    ],
    ids=[
        "exactly the limit", "limit not known", "waited for", "completed through a barrier",
        "wait alone", "versioned once", "allocation as declared", "another scope",
        "size not known", "merged allocation", "as many versions as barriers", "one barrier",
        "guards nothing that is known", "the author's own ring", "depth 0", "no depth",
    ],
)  # fmt: skip
def test_near_misses(kernel):
    """What only looks like one of them is not told."""
    more = {k: v for k, v in kernel.items() if k != "body"}
    assert diagnostics(*kernel.get("body", ()), **more) == []


def test_a_plain_arrive_does_not_complete_a_commit():
    """Threads that arrive at some barrier don't wait for copies."""
    found = diagnostics(COMMIT, site("mbarrier_arrive"))
    assert [code for _, code, _ in found] == ["commit-without-wait"]


def test_an_explicit_schedule_without_a_depth():
    """A loop with order and stage lists alone that nobody took up is told as such."""
    explicit = request(num_stages=None, explicit_order=(0, 1, 2), explicit_stage=(0, 0, 1))
    assert diagnostics(requests=[explicit]) == [
        (
            "warning",
            "depth-without-effect",
            "loop k, explicit schedule: no pass took the loop up",
        )
    ]


def test_over_the_limit_the_deepest_that_fits_is_named():
    """An overflow says what to ask for instead."""
    tiles = [buffer("lhs", 128, 64, leading=(12,), by=["p"])]
    (found,) = diagnostics(
        num_stages=12,
        buffers=tiles,
        requests=[request(num_stages=12, **PLANNED)],
        arena=arena(lhs=0),
        dynamic_smem_bytes=12 * 16384,
    )[:1]
    assert found[:2] == ("error", "shared-memory-over-limit")
    assert found[2].endswith("the deepest that fits is num_stages=10")


def test_most_severe_first():
    """Errors before warnings before notes, whatever their order of discovery."""
    found = diagnostics(
        COMMIT,
        dynamic_smem_bytes=200_000,
        buffers=[buffer("lhs")],
        allocations=(allocation("lhs", 5000),),
        warnings=["w"],
    )
    assert [severity for severity, _, _ in found] == ["error", "warning", "warning", "note"]
