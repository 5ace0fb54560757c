"""Are inputs the same everywhere, and fit for their dtype?"""

import numpy as np
import pytest

from stagebench.bundle.records import BundledTensor, ValueRange
from stagebench.gpu.dtypes import (
    UnknownDtypeError,
    as_doubles,
    bfloat16_of,
    dtype_of,
    float8_values,
)
from stagebench.gpu.inputs import elements_of, random_input


def tensor(dtype, shape=(64, 32), name="A", **more):
    return BundledTensor(
        name=name, dtype=dtype, shape=shape, strides=more.pop("strides", None), role="input", **more
    )


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("float16", 4096), ("bfloat16", 4096), ("float32", 8192), ("float64", 16384),
        ("float8_e4m3fn", 2048), ("float8_e5m2", 2048), ("int8", 2048), ("uint8", 2048),
        ("int32", 8192), ("int4", 1024), ("float4_e2m1fn", 1024), ("bool", 2048),
    ],
)  # fmt: skip
def test_values_are_deterministic_finite_and_of_the_right_size(dtype, size):
    """Seed, case and name make the bytes: the same twice, others for another of the three."""
    raw = random_input(tensor(dtype), 1, "case")
    assert (raw.dtype, raw.nbytes) == (np.uint8, size)
    assert np.array_equal(raw, random_input(tensor(dtype), 1, "case"))
    for other in (
        random_input(tensor(dtype), 2, "case"),
        random_input(tensor(dtype), 1, "other"),
        random_input(tensor(dtype, name="B"), 1, "case"),
    ):
        assert not np.array_equal(raw, other)
    values = as_doubles(raw, dtype_of(dtype))
    assert np.isfinite(values).all()
    assert np.ptp(values) > 0


def test_the_first_bytes_never_change():
    """A recorded result stays comparable: what the seed 0 gives is fixed."""
    raw = random_input(tensor("int8", shape=(8,)), 0, "case")
    assert raw.view(np.int8).tolist() == [-2, -6, -8, -1, 1, -6, 0, -8]


def test_float8_tables():
    """Codes are those of the OCP tables: largest, smallest, ones, NaN and infinity."""
    e4m3, e5m2 = float8_values(4), float8_values(5)
    assert (e4m3[0x7E], e4m3[0x01], e4m3[0x38], e4m3[0xB8]) == (448.0, 2**-9, 1.0, -1.0)
    assert np.isnan(e4m3[[0x7F, 0xFF]]).all()
    assert np.isfinite(np.delete(e4m3, [0x7F, 0xFF])).all()
    assert (e5m2[0x7B], e5m2[0x01], e5m2[0x3C]) == (57344.0, 2**-16, 1.0)
    assert (e5m2[0x7C], e5m2[0xFC]) == (np.inf, -np.inf)
    assert np.isnan(e5m2[[0x7D, 0x7F, 0xFF]]).all()


def test_bfloat16_rounds_to_even():
    """Halfway goes to the even neighbour, just above it up."""
    halfway = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], dtype=np.float32)
    values = as_doubles(bfloat16_of(halfway), dtype_of("bfloat16"))
    assert values.tolist() == [1.0, 1 + 2**-6, 1 + 2**-7]


def test_index_tensors_take_their_range():
    """Without one they stay in {0, 1}; with one they fill it and never leave it."""
    plain = random_input(tensor("int32"), 0, "c").view(np.int32)
    assert set(plain.tolist()) == {0, 1}
    ranged = tensor("int32", values=ValueRange(low=-2, high=5))
    assert set(random_input(ranged, 0, "c").view(np.int32).tolist()) == set(range(-2, 5))


def test_strides_count():
    """A padded tensor is as long as its last element, no shorter; an empty one has nothing."""
    assert elements_of(tensor("float16", shape=(4, 8), strides=(16, 1))) == 56
    assert elements_of(tensor("float16", shape=(4, 0))) == 0


def test_an_unknown_dtype_is_named():
    """Nothing is guessed for a dtype that is in no table."""
    with pytest.raises(UnknownDtypeError, match="float6_e3m2"):
        random_input(tensor("float6_e3m2"), 0, "c")
