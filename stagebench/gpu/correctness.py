"""Did a variant compute the right thing, and always the same?

Two depths of one kernel add in the same order more often than not and are then bit-equal; where
they are not, ``‖out − ref‖ / ‖ref‖`` in float64 is held against the output dtype's tolerance, and
every element against ten times that of its own size and the output's mean size: a norm alone would
not see one wrong element in a million.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stagebench.gpu.dtypes import Doubles, Dtype, Raw, as_doubles
from stagebench.gpu.records import TensorComparison
from stagebench.model.timing import RunVerdict

_ELEMENT_FACTOR = 10.0


def compare(name: str, dtype: Dtype, reference: Raw, found: Raw) -> TensorComparison:
    """One output against another of the same kernel, as raw bytes of the same dtype."""
    if reference.shape != found.shape:
        raise ValueError(f"{name}: {len(found)} bytes against {len(reference)} of the reference")
    same = bool(np.array_equal(reference, found))
    expected, actual = as_doubles(reference, dtype), as_doubles(found, dtype)
    return _compared(name, dtype, expected, actual, same, _unwritten(found, dtype))


def compare_with_expected(
    name: str, dtype: Dtype, expected: Doubles, found: Raw
) -> TensorComparison:
    """One output against what the experiment says in float64."""
    actual = as_doubles(found, dtype)
    return _compared(name, dtype, expected, actual, False, _unwritten(found, dtype))


def relative_error(reference: Doubles, found: Doubles) -> float:
    """``‖found − reference‖ / ‖reference‖``; NaN where either holds one."""
    difference = float(np.linalg.norm(found - reference))
    size = float(np.linalg.norm(reference))
    if size == 0.0:
        return 0.0 if difference == 0.0 else float("inf")
    return difference / size


def verdict_of(differing_runs: int, tensors: Sequence[TensorComparison]) -> RunVerdict:
    """A race before an error: what moves between runs has no one error."""
    if differing_runs:
        return "race"
    if not tensors:
        return "not_compared"
    return "correct" if all(one.agrees for one in tensors) else "wrong"


def _compared(
    name: str, dtype: Dtype, expected: Doubles, actual: Doubles, same: bool, unwritten: int
) -> TensorComparison:
    with np.errstate(all="ignore"):
        both_nan = np.isnan(expected) & np.isnan(actual)
        equal = (expected == actual) | both_nan
        left, right = np.where(equal, 0.0, expected), np.where(equal, 0.0, actual)
        gap = np.abs(right - left)
        finite = np.where(np.isfinite(expected), expected, 0.0)
        mean_size = float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0
        allowed = _ELEMENT_FACTOR * dtype.tolerance * (np.abs(finite) + mean_size)
        off = ~equal & ~(gap <= allowed)  # a NaN is never within anything
        error = relative_error(finite, np.where(equal, finite, actual))
        largest = float(gap.max()) if len(gap) else 0.0
    fraction = float(np.count_nonzero(off)) / max(1, len(off))
    return TensorComparison(
        tensor=name,
        dtype=dtype.name,
        elements=len(expected),
        bit_equal=same,
        relative_error=error if np.isfinite(error) else None,
        max_abs_error=largest if np.isfinite(largest) else None,
        fraction_wrong=fraction,
        unwritten=unwritten,
        tolerance=dtype.tolerance,
        agrees=same or (fraction == 0.0 and bool(error <= dtype.tolerance)),
    )


def _unwritten(found: Raw, dtype: Dtype) -> int:
    size = max(1, dtype.bits // 8)
    whole = found[: len(found) // size * size].reshape(-1, size)
    return int(np.count_nonzero((whole == dtype.poison).all(axis=1)))
