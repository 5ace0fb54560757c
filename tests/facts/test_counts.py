"""Are trip counts multiplied and summed right, symbolic ones too?"""

import pytest

from stagebench.facts.counts import product, total


@pytest.mark.parametrize(
    ("extents", "wanted"),
    [
        ([], 1),
        ([16], 16),
        ([15, 8], 120),
        ([16, 0, 4], 0),
        (["K", 0], 0),
        ([10**12, 10**12], 10**24),
        (["K"], "K"),
        (["K", 1], "K"),
        ([4, "K", 2], "8*K"),
        (["N", "K"], "K*N"),
        (["(K + 63) // 64"], "(K + 63) // 64"),
        (["(K + 63) // 64", 2], "2*((K + 63) // 64)"),
        (["while(x < 3)", 2], "2*(while(x < 3))"),
    ],
)
def test_product(extents, wanted):
    """Constants are multiplied out and stand in front; an expression is kept whole in brackets."""
    assert product(extents) == wanted


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([], 0),
        ([15, 1], 16),
        ([0, 0], 0),
        ([10**24, 1], 10**24 + 1),
        (["K"], "K"),
        (["K", "K"], "2*K"),
        (["3*K", "2*K"], "5*K"),
        (["K", 3], "K + 3"),
        (["K", 0], "K"),
        (["K", "N", "K", 2], "2*K + N + 2"),
        (["8*K*N"], "8*K*N"),
        (["8*K*N", "K*N"], "9*K*N"),
        (["while(x < 3)"], "while(x < 3)"),
        (["(a + 1)*(b + 1)"], "(a + 1)*(b + 1)"),
    ],
)
def test_total(counts, wanted):
    """Equal terms are collected, in the order in which they come up; integers stand at the end."""
    assert total(counts) == wanted


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        (["(K + 63) // 64", "(K + 63) // 64"], 2 * 2),
        (["(K + 63) // 64", "2*((K + 63) // 64)"], 3 * 2),
        (["2*n + 1"], 7),
        (["2*n + 1", "2*n + 1"], 14),
        (["2*n - 1", 3], 8),
        (["(n)*(K) - 1", "(n)*(K) - 1"], 2 * (3 * 100 - 1)),
        ([product(["(K + 63) // 64", "n", 4]), product(["n", "(K + 63) // 64"])], 5 * 2 * 3),
        (["3 * K", "K"], 4 * 100),
    ],
)
def test_a_total_means_what_its_terms_mean(counts, value):
    """A sum, read as arithmetic, has the value of its terms: no bracket is lost (K=100, n=3)."""
    assert eval(str(total(counts)), {"K": 100, "n": 3}) == value  # noqa: S307 - our own text


def test_equal_expressions_are_one_term():
    """An expression alone and the same under a factor are the same term."""
    assert total(["(K + 63) // 64", "2*((K + 63) // 64)"]) == "3*((K + 63) // 64)"
