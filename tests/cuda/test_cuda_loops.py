"""Is a loop's trip count right, or an expression when it isn't constant?"""

from __future__ import annotations

import pytest

from stagebench.facts.cuda_sites import sync_totals


@pytest.mark.parametrize(
    ("header", "extent"),
    [
        ("for (int i = 0; i < 16; ++i)", 16),
        ("for (int i = 4; i < 16; i++)", 12),
        ("for (int i = 0; i <= 7; i = i + 2)", 4),
        ("for (int i = 0; i < 7; i += 2)", 4),
        ("for (int i = 10; i > 0; i -= 3)", 4),
        ("for (int i = 7; i >= 0; --i)", 8),
        ("for (int i = 5; i < 3; ++i)", 0),
        ("for (int i = 0; 16 > i; ++i)", 16),
        ("for (unsigned i = 0u; (i < ((1 << 4) / 3)); ++i)", 5),
        ("for (i = 0; i < 3; ++i)", 3),
        ("for (int i = 0; i < (((K + 31) >> 5) - 1); ++i)", "((K + 31) >> 5) - 1"),
        ("for (int i = 0; i < ((int)blockIdx.x) + 1; ++i)", "blockIdx.x + 1"),
        ("for (int i = 2; i < K; ++i)", "K - 2"),
        ("for (int i = K; i < 2 * K; ++i)", "2 * K - K"),
        ("for (int i = 0; i <= K; ++i)", "K + 1"),
        ("for (int i = 0; i < K; i += 4)", "ceildiv(K, 4)"),
        ("for (int i = 1; i < K; i *= 2)", "trips(for (int i = 1; i < K; i *= 2))"),
        ("for (int i = 0; i < 4; --i)", "trips(for (int i = 0; i < 4; --i))"),
        ("for (int i = 0; j < 4; ++i)", "trips(for (int i = 0; j < 4; ++i))"),
        ("for (int i = 0, j = 3; i < j; ++i)", "trips(for (int i = 0, j = 3; i < j; ++i))"),
        ("for (;;)", "trips(for (; ; ))"),
        ("for (auto& x : list)", "trips(for each of list)"),
        ("while (K < 3)", "trips(while K < 3)"),
    ],
)
def test_trip_count(read_body, header, extent):
    """A header that says how often it runs gives an integer or an expression; another its text."""
    (site,) = read_body(f"{header} {{ __syncthreads(); }}").sites
    assert site.loops[0].extent == extent
    assert site.dynamic == extent


def test_nested_loops_multiply(read_body):
    """Trip counts multiply, integers in front; an unrolled loop is one site."""
    body = """
    for (int i = 0; i < 3; ++i) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) __syncthreads();
      for (int j = 0; j < K + 1; ++j) for (int k = 0; k < 5; ++k) __syncwarp();
      for (int j = 0; j < 0; ++j) for (int k = 0; k < K; ++k) tl::cluster_sync();
    }
    """
    kernel = read_body(body)
    assert [(site.op, site.dynamic) for site in kernel.sites] == [
        ("syncthreads", 12),
        ("warp_sync", "15 * (K + 1)"),
        ("cluster_sync", 0),
    ]
    assert [(loop.var, loop.extent) for loop in kernel.sites[1].loops] == [
        ("i", 3), ("j", "K + 1"), ("k", 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("loops", "executed"),
    [
        ("for (int i = 0; i < 8; ++i) for (int j = 0; j < i + 1; ++j)", 36),
        ("for (int i = 0; i < 4; ++i) for (int k = 0; k < K; ++k) for (int j = i; j < 4; j += 2)",
         "6 * K"),
        ("for (int i = 7; i >= 0; --i) for (int j = 0; j < min(i, 3) - 1; ++j)", 11),
        ("for (int i = 2; i < 6; ++i) { int n = i * i; for (int j = 0; j < (n >> 1); ++j)", 26),
        ("for (int i = 0; i < 8; ++i) { int n = K * 2; for (int j = 0; j < n; ++j)",
         "8 * (K * 2)"),
        ("for (int i = 0; i < 8; ++i) for (int j = 0; j < A[0]; ++j)", "8 * A[0]"),
        ("for (int i = 0; i < 0; ++i) for (int j = 0; j < A[i]; ++j)", 0),
        ("for (int i = 0; i < K; ++i) for (int j = 0; j < i + 1; ++j)", None),
        ("for (int i = 0; i < 8; ++i) for (int j = 0; j < A[i]; ++j)", None),
        ("int n[1]; for (int i = 0; i < 8; ++i) for (int j = 0; j < n[0]; ++j)", None),
        ("for (int i = 0; i < 8; ++i) while (A[0] < i)", None),
        ("for (int i = 0; i < 2000000; ++i) for (int j = 0; j < i; ++j)", None),
    ],
)  # fmt: skip
def test_trip_counts_that_depend_on_loops_around(read_body, loops, executed):
    """Added up exactly over static ranges, other loops as factors; never in a loop's variable."""
    (site,) = read_body(f"{loops} __syncthreads(); {'}' * loops.count('{')}").sites
    assert site.dynamic == executed
    assert sync_totals([site])["syncthreads"].dynamic == executed


@pytest.mark.parametrize(
    ("argument", "executed"), [("4", 32), ("K", "8 * K"), ("i + 1", None), ("A[i]", None)]
)
def test_a_trip_count_that_a_call_passes(read_body, argument, executed):
    """A device function's loop runs as often as the call says, where that is the same each time."""
    before = "__device__ void f(int n) { for (int j = 0; j < n; ++j) __syncthreads(); }"
    (site,) = read_body(f"for (int i = 0; i < 8; ++i) f({argument});", before).sites
    assert site.dynamic == executed


def test_header_parts_count_inside_or_outside(read_body):
    """The initialiser runs once, condition and update once per trip."""
    body = "for (int i = __syncthreads_or(1); i < __syncthreads_and(K); ++i) { }"
    outside, inside = read_body(body).sites
    assert (outside.args["reduction"], len(outside.loops)) == ("or", 0)
    assert (inside.args["reduction"], len(inside.loops)) == ("and", 1)


@pytest.mark.parametrize(
    ("body", "extent", "early"),
    [
        ("while (1) { if (!((K < 3))) { break; } __syncthreads(); }", "trips(while K < 3)", False),
        ("while (1) { if (K) break; __syncthreads(); }", "trips(while !(K))", False),
        ("while (1) { __syncthreads(); if (K) break; }", "trips(while 1)", True),
        ("for (int i = 0; i < 4; ++i) { if (K) { break; } __syncthreads(); }", 4, True),
        ("for (int i = 0; i < 4; ++i) { if (K) return; __syncthreads(); }", 4, True),
        ("for (int i = 0; i < 4; ++i) { if (K) continue; __syncthreads(); }", 4, False),
        (
            "for (int i = 0; i < 4; ++i) { for (;;) { break; } __syncthreads(); }",
            4,
            False,
        ),
        (
            "for (int i = 0; i < 4; ++i) { switch (K) { case 1: break; } __syncthreads(); }",
            4,
            False,
        ),
        ("do { __syncthreads(); } while (K < 3);", "trips(do while K < 3)", False),
    ],
)
def test_loops_that_end_early(read_body, body, extent, early):
    """``while (1)`` with a leading test is TVM's ``while (test)``; other exits make a bound."""
    (site,) = read_body(body).sites
    assert (site.loops[0].extent, site.loops[0].exits_early) == (extent, early)


def test_do_while_zero_is_no_loop(read_body):
    """The macro idiom runs once."""
    (site,) = read_body("do { __syncthreads(); } while (0);").sites
    assert (site.loops, site.dynamic) == ((), 1)
