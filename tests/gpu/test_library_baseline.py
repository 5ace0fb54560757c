"""Which kernels have a library's matrix product to stand beside?"""

import msgspec
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.bundle.records import BundledTensor
from stagebench.gpu.library_baseline import gemm_shape, gemm_shapes, time_libraries
from stagebench.gpu.run_request import RunOptions
from tests.bundle.building import bundle, parts


def tensor(name, shape, role="input", dtype="float16"):
    return BundledTensor(name=name, dtype=dtype, shape=shape, strides=None, role=role)


@pytest.fixture
def variant(tmp_path):
    return read_bundle(bundle(tmp_path, parts(0))).bundle.variants[0]


def shape_of(variant, *tensors):
    found = gemm_shape(msgspec.structs.replace(variant, tensors=tensors))
    return None if found is None else (found.m, found.n, found.k)


@pytest.mark.parametrize(
    ("left", "right"), [((8, 4), (16, 4)), ((8, 4), (4, 16)), ((4, 8), (4, 16)), ((4, 8), (16, 4))]
)
def test_all_layouts_of_a_product(variant, left, right):
    """M, N and K are read from the shapes, transposed or not."""
    out = tensor("C", (8, 16), "output", "float32")
    assert shape_of(variant, tensor("A", left), tensor("B", right), out) == (8, 16, 4)


def test_near_misses(variant):
    """Other dtypes, three inputs, an updated output, shapes that don't fit: no product."""
    a, b, out = tensor("A", (8, 4)), tensor("B", (16, 4)), tensor("C", (8, 16), "output")
    assert shape_of(variant, a, b, out) == (8, 16, 4)
    assert shape_of(variant, a, b, b, out) is None
    assert shape_of(variant, a, tensor("B", (16, 5)), out) is None
    assert shape_of(variant, a, b, tensor("C", (8, 16), "inout")) is None
    assert shape_of(variant, tensor("A", (8, 4), dtype="int8"), b, out) is None
    assert shape_of(variant, tensor("A", (8, 4, 1)), b, out) is None


def test_each_case_is_timed_once(variant):
    """All depths of a case stand beside the same time."""
    tensors = (tensor("A", (8, 4)), tensor("B", (16, 4)), tensor("C", (8, 16), "output"))
    one = msgspec.structs.replace(variant, tensors=tensors)
    other = msgspec.structs.replace(one, case="another")
    assert [s.case for s in gemm_shapes([one, one, variant, other])] == [one.case, "another"]


def test_no_library_is_a_note(variant):
    """A machine whose libraries find no device says so and goes on."""
    tensors = (tensor("A", (8, 4)), tensor("B", (16, 4)), tensor("C", (8, 16), "output"))
    shapes = gemm_shapes([msgspec.structs.replace(variant, tensors=tensors)])
    found, notes = time_libraries(shapes, RunOptions(runs=1), python="/nonexistent/python")
    assert found == ()
    assert notes[0].startswith("no library baseline of 8×16×4 float16: ")
