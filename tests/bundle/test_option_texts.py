"""What do the words of ``--scalar`` and ``--range`` say?"""

import pytest

from stagebench.bundle.option_texts import ranges, scalars
from stagebench.bundle.records import ValueRange
from stagebench.errors import UsageError


def test_scalars_and_ranges():
    """Whole numbers stay whole, however long; a range is half open."""
    assert scalars(["K=1024", "scale=0.5", "n=-3", f"big={10**26}"]) == {
        "K": 1024, "scale": 0.5, "n": -3, "big": 10**26,
    }  # fmt: skip
    assert ranges(["idx=0,128"]) == {"idx": ValueRange(low=0, high=128)}


@pytest.mark.parametrize("text", ["K", "K=", "=3", "K=three", "1K=3", "K=--3", "K=²"])
def test_a_wrong_scalar(text):
    """What is no number is refused with its own text."""
    with pytest.raises(UsageError, match="--scalar"):
        scalars([text])


@pytest.mark.parametrize("text", ["idx", "idx=3", "idx=3,x", "idx=5,5", "=0,1"])
def test_a_wrong_range(text):
    """An empty range, or half of one, is refused."""
    with pytest.raises(UsageError, match="--range"):
        ranges([text])


def test_a_name_twice():
    """The last one does not win quietly, though it be the same."""
    with pytest.raises(UsageError, match="--scalar K=2: K is 1 already"):
        scalars(["K=1", "K=2"])
    with pytest.raises(UsageError, match="--range i=0,2: i has a range already"):
        ranges(["i=0,1", "i=0,2"])
