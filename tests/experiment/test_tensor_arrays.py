"""Does an author's array become exactly the tensor that the kernel gets, or a message?"""

import numpy as np
import pytest

from stagebench.bundle.records import BundledTensor
from stagebench.errors import UsageError
from stagebench.experiment.tensor_arrays import as_seen, by_name, to_bytes, to_expected


def tensor(dtype="float16", shape=(2, 3), strides=None, role="input"):
    return BundledTensor(name="A", dtype=dtype, shape=shape, strides=strides, role=role)


def test_plain_values_come_back():
    """Bytes are the array's; an author sees floats as float64 and integers as they are."""
    halves = np.arange(6, dtype=np.float16).reshape(2, 3)
    data = to_bytes("inputs()", tensor(), halves)
    assert data == halves.tobytes()
    seen = as_seen(tensor(), data)
    assert (seen.dtype, seen.tolist()) == (np.float64, [[0, 1, 2], [3, 4, 5]])
    index = np.array([[1, 2, 3], [4, 5, 2**40]], dtype=np.int64)
    seen = as_seen(tensor("int64"), to_bytes("inputs()", tensor("int64"), index))
    assert (seen.dtype, seen[1, 2]) == (np.int64, 2**40)


def test_an_array_in_another_order_is_put_in_order():
    """A transposed view has the shape and not the memory."""
    array = np.arange(6, dtype=np.float16).reshape(3, 2).T
    assert to_bytes("inputs()", tensor(), array) == np.ascontiguousarray(array).tobytes()


def test_another_byte_order_keeps_the_values():
    """Big-endian arrays are converted, with bits of a dtype that numpy lacks too."""
    halves = np.arange(6, dtype=np.float16).reshape(2, 3)
    assert to_bytes("f", tensor(), halves.astype(">f2")) == halves.tobytes()
    bf16 = tensor("bfloat16", shape=(1,))
    assert to_bytes("f", bf16, np.array([0x3F80], ">u2")) == b"\x80\x3f"
    assert to_bytes("f", bf16, np.array([1.0], ">f4")) == b"\x80\x3f"
    assert to_expected("f", tensor(), halves.astype(">f8")) == halves.astype("<f8").tobytes()


def test_packed_outputs_have_no_numbers():
    """Two values of a byte are compared as one; what is expected of each can't be."""
    with pytest.raises(UsageError, match="A, which is packed int4") as raised:
        to_expected("reference()", tensor("int4"), np.zeros((2, 3)))
    assert "leave A out" in raised.value.hint


def test_strides_and_gaps():
    """Elements lie where the strides say; the gaps are zero, and are not seen."""
    padded = tensor("int32", strides=(4, 1))
    data = to_bytes("inputs()", padded, np.arange(1, 7, dtype=np.int32).reshape(2, 3))
    assert np.frombuffer(data, np.int32).tolist() == [1, 2, 3, 0, 4, 5, 6]
    assert as_seen(padded, data).tolist() == [[1, 2, 3], [4, 5, 6]]
    columns = tensor("int32", strides=(1, 2))
    data = to_bytes("inputs()", columns, np.arange(1, 7, dtype=np.int32).reshape(2, 3))
    assert np.frombuffer(data, np.int32).tolist() == [1, 4, 2, 5, 3, 6]
    with pytest.raises(UsageError, match="A has gaps"):
        to_expected("reference()", padded, np.zeros((2, 3)))
    expected = to_expected("reference()", columns, np.arange(1, 7).reshape(2, 3))
    assert np.frombuffer(expected).tolist() == [1, 4, 2, 5, 3, 6]


def test_dtypes_that_numpy_lacks():
    """bfloat16 is rounded from float32 or given as bits; float8 is bits; packed ones are bytes."""
    bf16 = tensor("bfloat16", shape=(2,))
    assert to_bytes("f", bf16, np.array([1.0, -2.0], np.float32)) == b"\x80\x3f\x00\xc0"
    assert to_bytes("f", bf16, np.array([0x3F80, 0xC000], np.uint16)) == b"\x80\x3f\x00\xc0"
    assert as_seen(bf16, b"\x80\x3f\x00\xc0").tolist() == [1.0, -2.0]
    fp8 = tensor("float8_e4m3fn", shape=(2,))
    assert to_bytes("f", fp8, np.array([0x38, 0xB8], np.uint8)) == b"\x38\xb8"
    assert as_seen(fp8, b"\x38\xb8").tolist() == [1.0, -1.0]
    packed = tensor("int4", shape=(2, 3))
    assert to_bytes("f", packed, np.array([1, 2, 3], np.uint8)) == b"\x01\x02\x03"
    assert as_seen(packed, b"\x01\x02\x03").tolist() == [1, 2, 3]
    flags = tensor("bool", shape=(2,))
    assert to_bytes("f", flags, np.array([True, False])) == b"\x01\x00"
    assert as_seen(flags, b"\x01\x00").tolist() == [True, False]


@pytest.mark.parametrize(
    ("of", "value", "said"),
    [
        (
            tensor(),
            np.zeros((2, 3)),
            r"inputs\(\) gives A as float64, and the kernel",
        ),
        (tensor(), np.zeros((2, 3), np.uint16), "as uint16, and the kernel takes float16"),
        (tensor("int32"), np.zeros((2, 3), np.uint32), "as uint32, and the kernel takes int32"),
        (tensor(), np.zeros((3, 2), np.float16), r"with shape \(3, 2\), and the kernel takes"),
        (tensor(), np.zeros(6, np.float16), r"with shape \(6,\)"),
        (tensor("bfloat16"), np.zeros((2, 3), np.float64), "as float64"),
        (tensor("int4"), np.zeros((2, 3), np.uint8), r"packed bytes \(3,\)"),
        (tensor(), [[0.0] * 3] * 2, "as a list, not a numpy array"),
        (tensor(), 3, "as a int"),
    ],
)
def test_what_is_not_the_tensor(of, value, said):
    """A wrong dtype, size or kind is told by the tensor's name: nothing is cast."""
    with pytest.raises(UsageError, match=said):
        to_bytes("inputs()", of, value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.zeros(6), r"with shape \(6,\), and the kernel writes \(2, 3\)"),
        (np.zeros((2, 3), complex), "complex128: not real numbers"),
        (None, "as a NoneType"),
    ],
)
def test_what_is_no_expected_output(value, said):
    """Any real dtype will do, and the shape must be the output's."""
    assert len(to_expected("reference()", tensor(), np.zeros((2, 3), np.int8))) == 48
    with pytest.raises(UsageError, match=said):
        to_expected("reference()", tensor(), value)


def test_names():
    """What is no dict, or names no tensor of the kind, is refused."""
    known = {"A": tensor()}
    assert by_name("f", {"A": 1}, known) == {"A": 1}
    with pytest.raises(UsageError, match="f returned a value of type tuple, not a dict"):
        by_name("f", (1,), known)
    with pytest.raises(UsageError, match="f gives 'B', which is no such tensor") as caught:
        by_name("f", {"B": 1}, known)
    assert caught.value.hint == "it has A"
