"""Which integers do symbolic extents become?"""

import pytest

from stagebench.bundle.errors import BundleError
from stagebench.bundle.extents import evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (7, 7),
        ("K", 100),
        ('T.Cast("int64", K) * T.int64(2)', 200),
        ("(K + 31) // 32", 4),
        ("T.ceildiv(K, 64)", 2),
        ("T.min(K, 64) - 1", 63),
        ("T.shift_right(K, 2) % 7", 4),
        ("-K // 3", -34),
        ("T.truncdiv(-K, 3)", -33),
    ],
)
def test_arithmetic_of_tvmscript(text, value):
    """Every form that TileLang prints in an extent is evaluated as TVM defines it."""
    assert evaluate(text, {"K": 100}, "grid") == value


def test_a_missing_scalar_is_named():
    """The message says what has no value, the hint how to give it one."""
    with pytest.raises(BundleError, match="the shape of A is 'K \\* 2': K has no value") as raised:
        evaluate("K * 2", {"M": 1}, "the shape of A")
    assert raised.value.hint == "give it: --scalar K=1024"


@pytest.mark.parametrize(
    "text",
    ["T.popcount(K)", "__import__('os')", "K.bit_length()", "K if K else 1", "K //", "K / 2"],
)
def test_what_is_not_arithmetic_is_refused(text):
    """Nothing else is evaluated, a call of Python's least of all."""
    with pytest.raises(BundleError, match="can't be"):
        evaluate(text, {"K": 100}, "grid")
