"""Quantities, expressions, lists and messages: the small texts that rows are made of."""

import pytest

from stagebench.report import layout, quantities
from stagebench.report.expressions import readable
from stagebench.report.messages import group_messages, join_numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0 B"), (48, "48 B"), (16384, "16 KiB"), (98352, "96.05 KiB")],
)
def test_bytes_in_the_unit_that_reads_best(value, text):
    """What is not known is a dash, and nothing is a zero."""
    assert quantities.size(value) == text


@pytest.mark.parametrize(
    ("depths", "text"),
    [
        (["2"], "depth 2"),
        (["1", "2", "3", "8"], "depths 1–3, 8"),
        (["1", "3"], "depths 1, 3"),
        (["as written"], "depth as written"),
        (["novenv"], "novenv"),
        (["0.1.15", "novenv"], "0.1.15, novenv"),
    ],
)
def test_depths_are_named_as_ranges(depths, text):
    """Only neighbours are joined."""
    assert quantities.depths_name(depths) == text


def test_long_lists_are_shortened_and_short_ones_are_not():
    """Six numbers are read at a glance."""
    assert quantities.run_lengths([0, 0, 2]) == "0 0 2"
    assert quantities.run_lengths([0] + [1] * 9 + [0, 2]) == "0 1×9 0 2"
    assert quantities.number_list([2, 0, 1, 3, 4, 5, 6, 8, 7]) == "2 0–1 3–6 8 7"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.00002, "< 0.1 ms"), (0.0004, "0.4 ms"), (0.085, "85 ms"), (5.12, "5.1 s"),
     (125.0, "2 min 5 s")],
)  # fmt: skip
def test_times(seconds, text):
    """A time that was measured is never zero."""
    assert quantities.seconds(seconds) == text


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("T.truncmod(k, 3)", "k % 3"),
        ("mbarrier[T.truncmod(k, 3) + 3]", "mbarrier[(k % 3) + 3]"),
        ("mbarrier[T.bitwise_and(k, 3)]", "mbarrier[k & 3]"),
        ("T.bitwise_xor(T.Div(T.truncmod(k, 6), 3), 1)", "((k % 6) / 3) ^ 1"),
        ("T.min(a, b)", "T.min(a, b)"),
        ("k + 1", "k + 1"),
        ("T.truncmod(k", "T.truncmod(k"),
    ],
)
def test_known_calls_are_written_as_operators(script, text):
    """Anything else stays as it is, whole or broken."""
    assert readable(script) == text


def test_messages_are_grouped_by_all_but_their_numbers():
    """Another word is another message; another kind too."""
    found = group_messages(
        [("a", "1", "needs 4 bytes"), ("a", "2", "needs 8 bytes"), ("b", "2", "needs 8 bytes")]
    )
    assert found == [("a", ("1", "2"), "needs 4|8 bytes"), ("b", ("2",), "needs 8 bytes")]


def test_numbers_inside_names_are_not_numbers():
    """``sm_90a`` and ``2.5`` stay whole."""
    assert join_numbers(["sm_90a takes 1", "sm_90a takes 2"]) == "sm_90a takes 1|2"


def test_a_cut_list_says_how_many_are_missing():
    """Items that fit are kept in order, the others counted."""
    assert layout.cut_list(["a", "b"], 10) == "a, b"
    assert layout.cut_list(["aaaa", "bbbbbbbbbbbbbbbb", "cccc"], 22) == "aaaa, cccc … +1 more"


def test_long_names_break_at_their_humps():
    """And an indent is kept on every line."""
    assert layout.wrap("tl.ProducerConsumerWarpSpecialized", 20) == [
        "tl.ProducerConsumer", "WarpSpecialized",
    ]  # fmt: skip
    assert layout.wrap("  one two", 12) == ["  one two"]


def test_a_long_word_of_ours_gets_a_hyphen():
    """In a column of 13, five of which fit into 100; a name of that length is broken as it is."""
    assert layout.wrap("warp specialisation", 13) == ["warp", "speciali-", "sation"]
    assert layout.wrap("warp specialisation", 14) == ["warp", "specialisation"]
    assert layout.wrap("specialisation", 8) == ["speciali", "sation"]
    assert layout.wrap("specialisations", 13) == ["specialisatio", "ns"]
