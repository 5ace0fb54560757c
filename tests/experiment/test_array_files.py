"""Are the arrays of ``--inputs`` and ``--expected`` held against the kernel's tensors?"""

import numpy as np
import pytest

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.errors import UsageError
from stagebench.experiment.array_files import with_array_values
from stagebench.model import ProfilerBuffer
from tests.bundle.building import launch, result, tensor, variant

TIMES = ProfilerBuffer(
    tensor="times", format="tvm", groups=1, stride=1, events=(0,), event_names=(),
    group_names=(), marks={},
)  # fmt: skip
HOW = launch(
    tensors=(
        tensor("A", shape=("M", 4), read=True),
        tensor("B", shape=(4,), dtype="bfloat16", read=True),
        tensor("Q", shape=(4, 2), dtype="int4", read=True),
        tensor("F", shape=(4,), dtype="float8_e4m3fn", read=True),
        tensor("S", shape=(2,), dtype="int32", read=True, written=True),
        tensor("unused", shape=(2,), dtype="int32"),
        tensor("C", shape=(2, 4), written=True),
        tensor("times", shape=(8,), dtype="uint64", written=True),
    ),
    profilers=(TIMES,),
)
OPTIONS = BuildOptions(scalars={"M": 2})
HALVES = np.arange(8, dtype=np.float16).reshape(2, 4)


def candidates(*depths, how=HOW):
    return [Candidate(result(variant(depth), how), "") for depth in depths]


def complain(message):
    raise AssertionError(message)


def given(tmp_path, several=None, warn=complain, *, inputs=None, expected=None):
    paths = {}
    for kind, arrays in (("inputs", inputs), ("expected", expected)):
        paths[kind] = None if arrays is None else tmp_path / f"{kind}.npz"
        if arrays is not None:
            np.savez(paths[kind], **arrays)
    return with_array_values(
        several or candidates(1), paths["inputs"], paths["expected"], OPTIONS, warn
    )


def test_what_fits(tmp_path):
    """Exact dtypes, raw bits where numpy has none; every depth gets the same bytes."""
    bits = np.array([0x3F80, 0, 1, 2], np.uint16)
    inputs = {
        "A": HALVES, "B": bits, "Q": np.arange(4, dtype=np.uint8), "unused": np.zeros(2, np.int32),
        "F": np.arange(4, dtype=np.uint8), "S": np.array([1, -1], np.int32),
    }  # fmt: skip
    expected = {"C": HALVES + 1, "S": np.array([5, 6])}
    zero, one = given(tmp_path, candidates(0, 1), inputs=inputs, expected=expected)
    assert zero.contents == {name: array.tobytes() for name, array in inputs.items()}
    assert zero.expected == {
        "C": (HALVES + 1).astype(np.float64).tobytes(), "S": np.array([5.0, 6.0]).tobytes(),
    }  # fmt: skip
    assert all(zero.contents[key] is one.contents[key] for key in inputs)


def test_another_byte_order_keeps_the_values(tmp_path):
    """What a big-endian host saved is the same numbers here."""
    inputs = {"A": HALVES.astype(">f2"), "S": np.array([1, -2], ">i4"),
              "B": np.array([0x3F80, 0, 1, 2], ">u2")}  # fmt: skip
    (one,) = given(tmp_path, inputs=inputs, expected={"C": HALVES.astype(">f2")})
    assert one.contents["A"] == HALVES.tobytes()
    assert one.contents["S"] == np.array([1, -2], "<i4").tobytes()
    assert one.contents["B"][:2] == b"\x80\x3f"
    assert one.expected["C"] == HALVES.astype("<f8").tobytes()


@pytest.mark.parametrize(
    ("inputs", "said", "hint"),
    [
        ({"C": HALVES}, "gives C, which is an output", "use --expected for it"),
        ({"times": np.zeros(8, np.uint64)}, "gives times, which is the buffer", "leave times out"),
        ({"Z": HALVES}, "gives Z, which is no tensor", "it has A, B, Q"),
        ({"A": HALVES.astype(np.float32)}, "gives A as float32, and the kernel takes float16",
         "an array of float16"),
        ({"A": HALVES.view(np.int16)}, "gives A as int16", "an array of float16"),
        ({"A": HALVES.view(np.uint16)}, "gives A as uint16", "an array of float16"),
        ({"A": HALVES.reshape(4, 2)}, r"gives A with shape \(4, 2\), and the kernel takes \(2, 4\)",
         "an array of shape (2, 4)"),
        ({"A": HALVES.ravel()}, r"gives A with shape \(8,\)", "(2, 4)"),
        ({"B": np.zeros(4, np.int16)}, "gives B as int16, and the kernel takes bfloat16",
         "its bits as uint16"),
        ({"F": np.zeros(4, np.int8)}, "gives F as int8", "its bits as uint8"),
        ({"Q": np.zeros(8, np.uint8)}, r"gives Q with shape \(8,\), and packed bytes \(4,\)", "4"),
        ({"A": np.array([["x"] * 4] * 2)}, "gives A as <U1", "float16"),
        ({"A": np.zeros((2, 4), "V2")}, r"gives A as \|V2", "float16"),
    ],
)  # fmt: skip
def test_inputs_that_do_not_fit(tmp_path, inputs, said, hint):
    """The tensor, what it is and what was given are named; nothing is reinterpreted."""
    with pytest.raises(UsageError, match=said) as raised:
        given(tmp_path, inputs=inputs)
    assert hint in raised.value.hint
    assert "inputs.npz" in raised.value.message


@pytest.mark.parametrize(
    ("expected", "said", "hint"),
    [
        ({"A": HALVES}, "gives A, which is an input", "use --inputs for it"),
        ({"unused": np.zeros(2)}, "gives unused, which is unused", "leave unused out"),
        ({"Z": HALVES}, "gives Z, which is no tensor", "it has A"),
        ({"C": HALVES.reshape(4, 2)}, r"gives C with shape .4, 2., and the kernel w", "(2, 4)"),
        ({"C": HALVES.astype(complex)}, "gives C as complex128: not real numbers", "float64"),
        ({"C": np.array([["x"]])}, "gives C as <U1: not real numbers", "float64"),
        ({"C": np.array([[None] * 4] * 2)}, "C: Python objects", "numeric dtype"),
    ],
)  # fmt: skip
def test_expected_that_does_not_fit(tmp_path, expected, said, hint):
    """It is refused where the bundle is made, not on the GPU host."""
    with pytest.raises(UsageError, match=said) as raised:
        given(tmp_path, expected=expected)
    assert hint in raised.value.hint


@pytest.mark.parametrize("data", [b"no zip", b""])
def test_no_file_of_arrays(tmp_path, data):
    """A damaged or an empty one, one lone array, and none at all."""
    (tmp_path / "no.npz").write_bytes(data)
    with pytest.raises(UsageError, match=r"no\.npz is no \.npz file"):
        with_array_values(candidates(1), tmp_path / "no.npz", None, OPTIONS, complain)
    np.save(tmp_path / "lone.npy", HALVES)
    with pytest.raises(UsageError, match=r"lone\.npy holds one array without a name"):
        with_array_values(candidates(1), tmp_path / "lone.npy", None, OPTIONS, complain)
    with pytest.raises(UsageError, match="nowhere"):
        with_array_values(candidates(1), tmp_path / "nowhere.npz", None, OPTIONS, complain)


def test_several_kernels(tmp_path):
    """Each gets what is its own; one that gets nothing is told of."""
    other = launch(params=(), tensors=(tensor("X", read=True), tensor("Y", written=True)))
    told = []
    several = [*candidates(1), *candidates(2, how=other)]
    found = given(tmp_path, several, told.append, inputs={"A": HALVES})
    assert [set(one.contents) for one in found] == [{"A"}, set()]
    assert told == ["1 of 2 variants have no tensor that --inputs gives"]
