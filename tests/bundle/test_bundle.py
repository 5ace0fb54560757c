"""What is written comes back, and what is damaged does not."""

import json

import msgspec
import pytest

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import read_bundle
from stagebench.bundle.records import BUNDLE, ValueRange
from stagebench.bundle.write import write_bundle
from stagebench.dump.profiler_sidecar import sidecar_of
from stagebench.model import LaunchParam, ProfilerBuffer, VariantResult
from tests.bundle.building import (
    A,
    C,
    bundle,
    descriptor,
    launch,
    name,
    parts,
    tensor,
    variant,
)


@pytest.mark.parametrize("target", ["folder", "one.tar"])
def test_everything_comes_back(tmp_path, target):
    """Cubins, facts and probe metadata are the bytes that went in, from a folder and from a tar."""
    probed = parts(2, cubins={"control": b"c" * 99, "probed": b"p"}, probe=b'{"symbol": "s"}')
    opened = read_bundle(bundle(tmp_path / target, parts(0), probed))
    two = opened.variant(name(2))
    assert {kind: opened.load(file) for kind, file in two.cubins.items()} == {
        "base": b"fake copy", "control": b"c" * 99, "probed": b"p",
    }  # fmt: skip
    assert opened.load(two.probe) == b'{"symbol": "s"}'
    assert msgspec.json.decode(opened.load(two.facts), type=VariantResult) == probed.result
    assert opened.variant(name(0)).probe is None


def test_the_same_bundle_has_the_same_bytes(tmp_path):
    """No time, no path, no order of a dictionary gets into a bundle."""
    one = bundle(tmp_path / "a" / "x.tar", parts(0), parts(1)).read_bytes()
    assert bundle(tmp_path / "b" / "y.tar", parts(0), parts(1)).read_bytes() == one


def test_roles_and_symbols(tmp_path):
    """Roles come from reads and writes; symbolic sizes and scalars are numbers in the bundle."""
    how = launch(
        grid=("n // 64", 1, 1),
        params=(
            LaunchParam(name="A_desc", kind="tma_descriptor", dtype="CUtensorMap"),
            LaunchParam(name="C", kind="tensor", dtype="float16"),
            LaunchParam(name="n", kind="scalar", dtype="int32"),
        ),
        tma_descriptors=(descriptor(global_shape=(512, "n")),),
        tensors=(
            tensor("A", shape=("n", 512), strides=(512, 1), read=True),
            C,
            tensor("S", dtype="int32", read=True, written=True),
            tensor("U"),
        ),
    )
    made = parts(1, how=how, scalars={"n": 256}, values={"S": ValueRange(low=0, high=3)})
    found = read_bundle(bundle(tmp_path, made)).variant(name(1))
    assert [(t.name, t.role, t.shape) for t in found.tensors] == [
        ("A", "input", (256, 512)), ("C", "output", (256,)),
        ("S", "inout", (256,)), ("U", "unused", (256,)),
    ]  # fmt: skip
    assert found.launch.grid == (4, 1, 1)
    assert found.launch.tma_descriptors[0].global_shape == (512, 256)
    assert [(s.name, s.dtype, s.value) for s in found.scalars] == [("n", "int32", 256)]
    assert found.tensors[2].values == ValueRange(low=0, high=3)


def test_a_profilers_buffer_is_no_output(tmp_path):
    """Its role says so, and its record travels with the launch, its stride a number."""
    times = tensor("times", shape=("n",), dtype="uint64", written=True)
    marked = ProfilerBuffer(
        tensor="times", format="tvm", groups=2, stride="n // 2", events=(0,),
        event_names=("load",), group_names=(), marks={"timer_init_cuda": 1},
    )  # fmt: skip
    how = launch(tensors=(A, C, times), profilers=(marked,))
    write_bundle(tmp_path / "b", [parts(1, how=how, scalars={"n": 64})])
    (found,) = read_bundle(tmp_path / "b").bundle.variants
    roles = [(one.name, one.role, one.shape) for one in found.tensors]
    assert roles == [("A", "input", (256,)), ("C", "output", (256,)), ("times", "profiler", (64,))]
    assert found.launch.profilers == (msgspec.structs.replace(marked, stride=32),)
    sidecar = sidecar_of("k", found.launch, found.launch.profilers[0])
    assert (sidecar.blocks, sidecar.groups, sidecar.stride) == (32, 2, 32)
    assert sidecar.event_names == ("load",)


def test_a_variant_that_cannot_be_launched_is_left_out_by_name(tmp_path):
    """One that lacks a scalar's value is told; the others are bundled."""
    needs = launch(params=(*launch().params, LaunchParam(name="n", kind="scalar", dtype="int32")))
    made = write_bundle(tmp_path, [parts(0), parts(1, how=needs)])
    assert [v.id for v in made.variants] == [name(0)]
    assert [s.variant for s in made.skipped] == [variant(1)]
    assert (
        "the argument n (int32) has no value (give it: --scalar n=1024)" in made.skipped[0].reason
    )


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (launch(tensors=None), "do not say which tensors"),
        (launch(tensors=(A,)), "the argument C is no known tensor"),
        (
            launch(params=(LaunchParam(name="A_desc", kind="tma_descriptor", dtype="x"),)),
            "no TMA descriptor is known for A_desc",
        ),
    ],
)
def test_an_unbound_argument_is_refused(tmp_path, how, said):
    """A kernel is never launched with an argument that nothing is bound to."""
    with pytest.raises(BundleError, match=said):
        write_bundle(tmp_path, [parts(1, how=how)])


def test_references(tmp_path):
    """Depth 0 of the same arch, then of another, then lower depths; other parameters are apart."""
    made = write_bundle(
        tmp_path,
        [
            parts(0), parts(1), parts(2), parts(0, arch="sm_80"), parts(2, arch="sm_80"),
            parts(2, params={"block": 64}),
        ],
    )  # fmt: skip
    found = [(v.id, v.references) for v in made.variants]
    assert [references for _, references in found[:2]] == [(), (found[0][0], found[3][0])]
    assert found[2][1] == (found[0][0], found[3][0], found[1][0])
    assert found[4][1] == (found[3][0], found[0][0])
    assert found[5][1] == ()
    assert len({v.case for v in made.variants[:5]}) == 1
    assert made.variants[5].case != made.variants[0].case


def damaged(tmp_path, damage):
    path = bundle(tmp_path / "b", parts(0))
    damage(path / name(0) / "base.cubin.z")
    opened = read_bundle(path)
    return opened, opened.variant(name(0)).cubins["base"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-3]), "truncated"),
        (lambda p: p.write_bytes(p.read_bytes() + b"x"), "were written"),
        (lambda p: p.write_bytes(p.read_bytes()[:-1] + b"!"), "checksum differs"),
        (lambda p: p.unlink(), "No such file"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, damage, said):
    """The message names the file and what is wrong with it; the hint what to do."""
    opened, file = damaged(tmp_path, damage)
    with pytest.raises(BundleError, match=r"base\.cubin\.z") as raised:
        opened.load(file)
    assert said in raised.value.message
    assert "stagebench bundle RUN -o DIR" in raised.value.hint


def test_a_truncated_tar_is_refused(tmp_path):
    """Half a tar file is no bundle."""
    path = bundle(tmp_path / "b.tar", parts(0))
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(BundleError, match=r"b\.tar"):
        read_bundle(path)


def test_another_schema_is_refused(tmp_path):
    """A bundle of a later schema is told from a damaged one."""
    path = bundle(tmp_path, parts(0)) / BUNDLE
    path.write_bytes(path.read_bytes().replace(b'"schema_version": 2', b'"schema_version": 3', 1))
    with pytest.raises(BundleError, match="schema version 3, this stagebench reads 2"):
        read_bundle(tmp_path)


@pytest.mark.parametrize(
    ("removed", "said"),
    [("schema_version", "has no schema_version"), ("variants", "has no variant")],
)
def test_an_index_that_says_nothing_is_refused(tmp_path, removed, said):
    """Without its version it may be of any; without variants there is nothing to run."""
    path = bundle(tmp_path, parts(0)) / BUNDLE
    index = json.loads(path.read_bytes())
    if removed == "variants":
        index["variants"] = []
    else:
        del index[removed]
    path.write_text(json.dumps(index))
    with pytest.raises(BundleError, match=said):
        read_bundle(tmp_path)


@pytest.mark.parametrize("evil", ["../secret", "/etc/passwd", "a/../../b"])
def test_a_name_that_leads_out_is_refused(tmp_path, evil):
    """A bundle from elsewhere can't make us read files beside it."""
    (tmp_path / "secret").write_bytes(b"x")
    opened = read_bundle(bundle(tmp_path / "b", parts(0)))
    file = msgspec.structs.replace(opened.variant(name(0)).facts, path=evil)
    with pytest.raises(BundleError, match="outside of itself"):
        opened.load(file)


def test_only(tmp_path):
    """A selection brings its reference with it; one that matches nothing is an error."""
    opened = read_bundle(bundle(tmp_path, parts(0), parts(1), parts(2)))
    assert [v.id for v in opened.select(["num_stages=2"])] == [name(0), name(2)]
    assert len(opened.select([])) == 3
    deep = read_bundle(bundle(tmp_path / "deep", parts(0), parts(1), parts(16)))
    assert [v.id for v in deep.select(["num_stages=1"])] == [name(0), name(1)]
    with pytest.raises(BundleError, match="--only num_stages=7"):
        opened.select(["num_stages=2", "num_stages=7"])


def test_no_bundle(tmp_path):
    """A path without a bundle says how one is made."""
    with pytest.raises(BundleError, match="no bundle at"):
        read_bundle(tmp_path / "nowhere")


def test_a_file_that_is_no_bundle(tmp_path):
    """One line says so: not what each compression makes of it."""
    path = tmp_path / "README.md"
    path.write_text("# no bundle\n")
    with pytest.raises(BundleError) as caught:
        read_bundle(path)
    assert caught.value.message == (
        f"{path} is no bundle: neither a folder with bundle.json nor a tar file"
    )
