"""Are scalars and ranges held against what the kernels take?"""

import pytest

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.bundle.option_checks import check_options
from stagebench.bundle.records import ValueRange
from stagebench.errors import UsageError
from stagebench.model import LaunchParam
from tests.bundle.building import C, descriptor, launch, result, tensor, variant
from tests.dumping import building as dumps

SYMBOLIC = launch(
    grid=("(M + 127) // 128", 1, 1),
    params=(
        *launch().params,
        LaunchParam(name="M", kind="scalar", dtype="int32"),
        LaunchParam(name="shift", kind="scalar", dtype="int8"),
        LaunchParam(name="scale", kind="scalar", dtype="float32"),
    ),
    tma_descriptors=(descriptor(global_shape=(512, 'T.Cast("int64", wide)')),),
    tensors=(
        tensor("A", shape=("M",), read=True),
        tensor("index", dtype="uint8", read=True),
        tensor("long", dtype="int64", read=True),
        tensor("count", dtype="int32", written=True),
        C,
    ),
)


def check(how=SYMBOLIC, scalars=None, **ranges):
    values = {name: ValueRange(low=low, high=high) for name, (low, high) in ranges.items()}
    options = BuildOptions(scalars=scalars or {}, values=values)
    check_options(options, [Candidate(result(variant(1), how), "")])


def test_what_fits():
    """Sizes by whichever name they have, arguments within their type, ranges up to its end."""
    check(scalars={"M": 256, "shift": -128, "scale": 0.5, "wide": 1 << 40})
    check(scalars={"M": 256.0, "scale": float("inf")})
    check(index=(0, 256), long=(-(1 << 63), 1 << 63))


@pytest.mark.parametrize(
    ("scalars", "said", "hint"),
    [
        ({"M": 2.5}, r"M=2.5: M is a size \(int32\)", "whole"),
        ({"M": float("nan")}, "M=nan: M is a size", "whole"),
        ({"M": 0}, "M=0: M is a size", "from 1 to 2147483647"),
        ({"M": -4}, "M=-4: M is a size", "from 1 to 2147483647"),
        ({"M": 10**26}, "M=1" + "0" * 26 + ": M is a size", "from 1 to 2147483647"),
        ({"wide": 0}, r"wide=0: wide is a size \(int64\)", "from 1 to 92"),
        ({"shift": 128}, "shift=128: shift is an argument of int8", "from -128 to 127"),
        ({"zeta": 3}, "zeta: no variant has", "there are M, shift, scale, wide"),
        ({"T": 3}, "T: no variant has", "there are M"),
    ],
)
def test_a_scalar_that_does_not_fit(scalars, said, hint):
    """It is named, with what it is and what it may be."""
    with pytest.raises(UsageError, match=said) as raised:
        check(scalars=scalars)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("name", "bounds", "said", "hint"),
    [
        ("Z", (0, 3), "no variant has a tensor Z", "there are A, index, long, count, C"),
        ("A", (0, 3), "A holds no integers, it is float16", "are read from index, long"),
        ("count", (0, 3), "count is an output", "of an input's values"),
        ("index", (0, 257), "index is uint8", "LOW from 0, HIGH up to 256"),
        ("index", (-1, 2), "index is uint8", "LOW from 0, HIGH up to 256"),
        ("long", (0, (1 << 63) + 1), "long is int64", f"up to {1 << 63}"),
    ],
)
def test_a_range_that_does_not_fit(name, bounds, said, hint):
    """A tensor that is not there, holds floats or nothing that is read; bounds out of its type."""
    with pytest.raises(UsageError, match=f"--range {name}=.*{said}") as raised:
        check(**{name: bounds})
    assert hint in raised.value.hint


def test_one_kernel_of_several():
    """What one of the kernels has is enough; where nothing lowered, the bundle says so."""
    other = Candidate(result(variant(0), launch()), "")
    failed = Candidate(dumps.failed(variant(3)), None)
    options = BuildOptions(scalars={"M": 256})
    check_options(options, [other, failed, Candidate(result(variant(1), SYMBOLIC), "")])
    check_options(options, [failed])
    with pytest.raises(UsageError, match="--scalar M: no variant") as raised:
        check_options(options, [other])
    assert "every size is a number already" in raised.value.hint
