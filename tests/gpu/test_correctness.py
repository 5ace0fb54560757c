"""Is a wrong output wrong, a rounded one right, and a moving one a race?"""

import numpy as np
import pytest

from stagebench.gpu.correctness import compare, compare_with_expected, relative_error, verdict_of
from stagebench.gpu.dtypes import dtype_of

HALF = dtype_of("float16")


def raw(values, dtype=np.float16):
    return np.asarray(values, dtype=dtype).view(np.uint8)


def normal(count=1000):
    return np.random.default_rng(7).standard_normal(count)


def test_equal_bits():
    """The same bytes agree, whatever is in them."""
    found = compare("C", HALF, raw([1, np.nan, np.inf]), raw([1, np.nan, np.inf]))
    assert (found.bit_equal, found.agrees, found.fraction_wrong) == (True, True, 0.0)
    assert (found.relative_error, found.max_abs_error) == (0.0, 0.0)


def test_the_relative_error_by_value():
    """‖out − ref‖ / ‖ref‖: 3-4-5 and a hundredth of it."""
    assert relative_error(np.array([3.0, 4.0]), np.array([3.03, 4.04])) == pytest.approx(0.01)
    assert relative_error(np.zeros(2), np.zeros(2)) == 0.0
    assert relative_error(np.zeros(2), np.ones(2)) == float("inf")


def test_rounding_is_no_error():
    """One unit in the last place everywhere is what another order of adding gives."""
    values = normal()
    found = compare("C", HALF, raw(values), raw(values * (1 + 2**-11)))
    assert (found.bit_equal, found.agrees) == (False, True)
    assert 0 < found.relative_error < HALF.tolerance


def test_one_wrong_element_in_a_million_is_seen():
    """A norm alone would pass it: every element is looked at too."""
    values = normal(1 << 20)
    other = values.copy()
    other[12345] += 1
    found = compare("C", HALF, raw(values), raw(other))
    assert found.relative_error < HALF.tolerance
    assert (found.agrees, found.fraction_wrong) == (False, 1 / (1 << 20))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(bad):
    """A NaN or an infinity where the reference has a number is wrong, and no error is made up."""
    values = normal()
    other = values.copy()
    other[1] = bad
    found = compare("C", HALF, raw(values), raw(other))
    assert (found.agrees, found.relative_error) == (False, None)
    assert found.fraction_wrong == pytest.approx(1e-3)


def test_a_number_where_the_reference_has_nan_is_wrong():
    """Two outputs agree on NaN only where both have one."""
    found = compare("C", HALF, raw([np.nan, 1]), raw([0, 1]))
    assert (found.agrees, found.fraction_wrong) == (False, 0.5)


def test_unwritten_elements_are_counted():
    """What still holds the poison was never written."""
    values = raw(normal(8))
    other = values.copy()
    other[:4] = 0xFF
    assert compare("C", HALF, values, other).unwritten == 2
    assert compare("C", HALF, values, values).unwritten == 0


def test_integers_must_be_equal():
    """No tolerance where nothing is rounded."""
    dtype = dtype_of("int32")
    left, right = raw([100_000, 2], np.int32), raw([100_001, 2], np.int32)
    assert compare("C", dtype, left, left).agrees
    found = compare("C", dtype, left, right)
    assert (found.agrees, found.max_abs_error, found.fraction_wrong) == (False, 1.0, 0.5)


def test_another_size_is_an_error_of_ours():
    """Outputs of other shapes are not compared."""
    with pytest.raises(ValueError, match="4 bytes against 2"):
        compare("C", HALF, raw([1]), raw([1, 2]))


def test_against_what_the_experiment_expects():
    """The experiment's float64 result is held against the output as rounded."""
    values = normal()
    assert compare_with_expected("C", HALF, values, raw(values)).agrees
    assert not compare_with_expected("C", HALF, values + 0.5, raw(values)).agrees


def test_verdicts():
    """A race comes before an error; nothing to compare with is no verdict."""
    right = compare("C", HALF, raw([1, 2]), raw([1, 2]))
    wrong = compare("C", HALF, raw([1, 2]), raw([1, 9]))
    assert verdict_of(0, [right]) == "correct"
    assert verdict_of(0, [right, wrong]) == "wrong"
    assert verdict_of(1, [right]) == "race"
    assert verdict_of(0, []) == "not_compared"
