"""Is a launch that can't be refused, when it is made and when a bundle is read?"""

import msgspec
import pytest

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import read_bundle
from stagebench.bundle.records import BUNDLE
from stagebench.model import LaunchParam
from tests.bundle.building import A, bundle, launch, name, parts, tensor

SIZED = launch(
    grid=("n - 4", 1, 1),
    params=(*launch().params, LaunchParam(name="n", kind="scalar", dtype="int32")),
    tensors=(A, tensor("C", dtype="int32", written=True)),
)


def edited(tmp_path, change):
    """A bundle whose index someone changed by hand."""
    how = parts(1, how=SIZED, scalars={"n": 8}, expected={"C": bytes(8 * 256)})
    path = bundle(tmp_path / "b", parts(0), how)
    index = msgspec.json.decode((path / BUNDLE).read_bytes())
    change(index["variants"][1])
    (path / BUNDLE).write_bytes(msgspec.json.encode(index))
    return path


def test_as_it_was_made(tmp_path):
    """Without a change it is read: what follows is about the change."""
    assert len(read_bundle(edited(tmp_path, lambda _: None)).bundle.variants) == 2


def at(*keys, value):
    def change(one):
        for key in keys[:-1]:
            one = one[key]
        one[keys[-1]] = value

    return change


FILE = {"path": "x", "digest": "", "stored_bytes": 1, "content_bytes": 1, "compression": "none"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (at("launch", "grid", 0, value=0), "the grid is 0 × 1 × 1: nothing would run"),
        (at("launch", "grid", 1, value=65536), "the grid is 4 × 65536 × 1: more than"),
        (at("launch", "grid", 0, value="n"), "the grid is n × 1 × 1, which is no number"),
        (at("launch", "block", 0, value=-128), "the block is -128 × 1 × 1"),
        (at("launch", "block", value=[512, 4, 1]), "a block of 2048 threads"),
        (at("launch", "cluster", value=[0, 1, 1]), "the cluster is 0 × 1 × 1"),
        (at("launch", "dynamic_smem_bytes", value=-1), "-1 bytes of dynamic shared memory"),
        (at("tensors", 0, "shape", 0, value=-1), "A has the shape -1"),
        (at("tensors", 0, "strides", value=[1, 1]), "A has the shape 256 and the strides"),
        (at("tensors", 1, "contents", value=FILE), "C is an output, and has values to start from"),
        (at("tensors", 0, "expected", value=FILE), "A is an input, and it is said what must"),
        (at("tensors", 1, "shape", 0, value=255), "C: 256 values are expected, and it has 255"),
        (at("tensors", 1, "values", value={"low": 0, "high": 2**31 + 1}), "C is int32, and its"),
        (at("tensors", 0, "values", value={"low": 0, "high": 1}), "A is float16, and its values"),
        (at("tensors", 1, "name", value="A"), "the tensor A is there twice"),
        (at("tensors", 1, "name", value="D"), "nothing is bound to the argument C"),
        (at("scalars", value=[]), "nothing is bound to the argument n"),
        (at("scalars", 0, "value", value=2.5), "the argument n is int32, and its value 2.5"),
        (at("scalars", 0, "value", value=2**40), "the argument n is int32, and its value 1099"),
        (at("references", 0, value="k.copy/none"), "its reference k.copy/none is no variant"),
        (at("references", 0, value=name(1)), f"its reference {name(1)} is itself"),
        (at("cubins", value={}), "it has no base cubin"),
        (at("id", value=name(0)), f"has the variant {name(0)} twice"),
    ],
)
def test_what_was_edited_is_named(tmp_path, change, said):
    """The variant and what is wrong with it, before anything is launched."""
    with pytest.raises(BundleError) as raised:
        read_bundle(edited(tmp_path, change))
    assert said in raised.value.message
    assert BUNDLE in raised.value.message
    assert "make it again" in raised.value.hint


@pytest.mark.parametrize(
    ("n", "said"), [(4, "the grid is 0 × 1 × 1"), (3, "the grid is -1 ×"), (4.5, "no whole number")]
)
def test_what_a_scalar_leads_to(tmp_path, n, said):
    """A size that leaves no grid is told where the bundle is made."""
    with pytest.raises(BundleError, match=said):
        bundle(tmp_path, parts(1, how=SIZED, scalars={"n": n}))


def test_a_whole_scalar_is_an_integer(tmp_path):
    """8.0 is 8, as the argument and in the grid."""
    (found,) = read_bundle(
        bundle(tmp_path, parts(1, how=SIZED, scalars={"n": 8.0}))
    ).bundle.variants
    assert (found.launch.grid, found.scalars[0].value) == ((4, 1, 1), 8)
    assert isinstance(found.scalars[0].value, int)


def test_a_kernel_that_writes_nothing_is_not_fed_its_output(tmp_path):
    """Values for an output would stand in the place of the poison."""
    with pytest.raises(BundleError, match="C is an output, and has values to start from"):
        bundle(tmp_path, parts(1, contents={"C": bytes(512)}))
