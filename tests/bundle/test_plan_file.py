"""What is a launch plan refused for before anything is compiled?  Each by its name, with a hint."""

import json
import shutil
from pathlib import Path

import pytest

from stagebench.bundle import plan_records
from stagebench.bundle.plan_file import is_plan, read_plan
from stagebench.bundle.planned_launch import launch_of, scalars_of, variant_of
from stagebench.errors import UsageError
from stagebench.gpu import dtypes

PLANS = Path(__file__).parent / "plans"
ADD = json.loads((PLANS / "add.json").read_text())
DESCRIPTOR = {
    "tensor": "A", "data_type": 7, "global_shape": [64, 8], "global_strides_bytes": [4, 256],
    "box": [32, 8],
}  # fmt: skip


def written(tmp_path, **changes):
    """The plan `add` with changes (``None`` takes a field away), beside its source."""
    shutil.copy(PLANS / "add.ptx", tmp_path)
    fields = {name: value for name, value in {**ADD, **changes}.items() if value is not None}
    (tmp_path / "k.cu").touch()
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(fields))
    return path


def argument(**changes):
    """The arguments of `add` with the first one changed."""
    first = {**ADD["arguments"][0], **changes}
    first = {name: value for name, value in first.items() if value is not None}
    return [first, *ADD["arguments"][1:]]


def refused(path):
    with pytest.raises(UsageError) as caught:
        read_plan(path)
    return caught.value


def test_toml_and_json_say_the_same(tmp_path):
    """A plan in TOML is the plan in JSON; roles, extents and the depth are in the records."""
    path = written(tmp_path)
    toml = tmp_path / "plan.toml"
    toml.write_text(
        'kernel = "add"\nsource = "add.ptx"\nentry = "add_kernel"\narch = "sm_80"\n'
        "params = { block = 128 }\ngrid = [4]\nblock = [128]\n"
        'made_by = { name = "triton", version = "3.5.0" }\ndynamic_smem_bytes = 0\narguments = [\n'
        '{ name = "A", dtype = "float32", shape = [512], role = "input" },\n'
        '{ name = "C", dtype = "float32", shape = [512], role = "output" },\n'
        '{ name = "s", dtype = "float32", value = 0.5 } ]\n'
    )
    plan = read_plan(path)
    assert read_plan(toml) == plan
    launch = launch_of(plan, "add_kernel")
    assert (launch.grid, launch.block, launch.cluster) == ((4, 1, 1), (128, 1, 1), None)
    assert [(one.kind, one.dtype) for one in launch.params] == [
        ("tensor", "float32"), ("tensor", "float32"), ("scalar", "float32"),
    ]  # fmt: skip
    assert [(one.name, one.read, one.written) for one in launch.tensors] == [
        ("A", True, False), ("C", False, True),
    ]  # fmt: skip
    assert scalars_of(plan) == {"s": 0.5}
    variant = variant_of(plan)
    assert (variant.num_stages, variant.stage_param, variant.params) == (None, None, {"block": 128})
    deep = variant_of(read_plan(written(tmp_path, num_stages=3)))
    assert (deep.num_stages, deep.stage_param) == (3, "num_stages")
    assert deep.params == {"block": 128, "num_stages": 3}
    assert (variant.compiler.name, variant.compiler.version) == ("triton", "3.5.0")


def test_a_descriptor_of_a_dump_can_be_pasted(tmp_path):
    """What follows from the rest may be there, and is filled in where it is not."""
    tensors = [{"name": "T", "dtype": "float32", "shape": [8, 64], "role": "inout"}]
    one = {**DESCRIPTOR, "tensor": "T"}
    several = [
        {"name": "D", "descriptor": one},
        {"name": "E", "descriptor": {**one, "name": "E", "rank": 2, "swizzle": 3}},
    ]
    path = written(tmp_path, arguments=several, tensors=tensors)
    launch = launch_of(read_plan(path), "add_kernel")
    plain, pasted = launch.tma_descriptors
    assert (plain.name, plain.rank, plain.element_strides, plain.swizzle) == ("D", 2, (1, 1), 0)
    assert plain.fields == (64, 8, 4, 256, 32, 8, 1, 1, 0, 0, 0, 0)
    assert (pasted.name, pasted.swizzle) == ("E", 3)
    assert [(one.name, one.read, one.written) for one in launch.tensors] == [("T", True, True)]


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"gird": [4]}, "unknown field `gird`", "did you mean grid?"),
        ({"arguments": argument(rolle="input")}, "unknown field `rolle`", "did you mean role?"),
        ({"grid": None}, "missing required field `grid`", "it needs grid = …"),
        ({"grid": "4"}, "Expected `array`", None),
        ({"schema_version": 2}, "Invalid enum value 2", None),
        ({"kernel": "gemm"}, "gemm is a built-in's name", "gemm_cu"),
        ({"kernel": "a/b"}, "kernel 'a/b' is no name", "without a /"),
        ({"arch": "sm_9000"}, "plan.json: unknown arch 'sm_9000'", "did you mean"),
        ({"params": {"num_stages": 2}}, "params holds num_stages", "num_stages = 2"),
        ({"num_stages": -1}, "num_stages -1", None),
        ({"source": "other.ptx"}, "source: no file", "relative to the plan"),
        ({"source": "add.cubin"}, "neither .cu nor .ptx", None),
        ({"include": ["nowhere"]}, "include: no folder", "relative to the plan"),
        ({"define": {"N": 1}}, "define is for the compiler of CUDA", "remove define"),
        ({"flags": ["-maxrregcount=32"]}, "flags has -maxrregcount=32", "__launch_bounds__"),
        ({"flags": ["-Iinc"]}, "flags has -Iinc", "goes into include"),
        ({"grid": []}, "grid = []: one to three extents", None),
        ({"grid": [4, 0]}, "grid = [4, 0]", None),
        ({"block": [64, 32]}, "a block of 2048 threads: at most 1024", None),
        ({"block": [1, 1, 65]}, "block.z is 65, and 64 is the most", None),
        ({"grid": [4, 65536]}, "grid.y is 65536, and 65535 is the most", None),
        (
            {"dynamic_smem_bytes": 166913}, "a block of sm_80 has 166912 bytes of shared memory",
            "fewer stages",
        ),
        ({"dynamic_smem_bytes": None}, "missing required field", "0 where there is no extern __sh"),
        ({"source": "k.cu", "define": {"NUM-STAGES": 1}}, "define has 'NUM-STAGES'", "a macro's"),
        ({"dynamic_smem_bytes": -1}, "dynamic_smem_bytes = -1", None),
        ({"cluster": [3]}, "grid.x 4 is no multiple of the cluster's 3", None),
        ({"arguments": argument(name="C")}, "C is the name of 2 arguments", None),
        ({"arguments": argument(name="A b")}, "an argument's name is 'A b'", None),
        ({"arguments": argument(shape=None)}, "argument A: it has no shape, value or", "a tensor"),
        ({"arguments": argument(value=1)}, "argument A: it has shape and value", "a tensor has"),
        ({"arguments": argument(shape=[])}, "argument A: it has an empty shape", None),
        ({"arguments": argument(dtype="float31")}, "unknown dtype float31", "did you mean float3"),
        ({"arguments": argument(dtype="float")}, "unknown dtype float", "did you mean float32?"),
        ({"arguments": argument(dtype="double")}, "unknown dtype double", "mean float64?"),
        ({"arguments": argument(dtype="__half")}, "unknown dtype __half", "mean float16?"),
        ({"arguments": argument(dtype="__nv_bfloat16")}, "__nv_bfloat16", "mean bfloat16?"),
        (
            {"arguments": argument(shape=None, role=None, dtype="long long", value=1)},
            "no scalar of dtype long long", "did you mean int64?",
        ),
        ({"arguments": argument(role="out")}, "Invalid enum value 'out'", "input, output or inout"),
        ({"arguments": argument(shape=[512, -1])}, "the shape [512, -1]", "of one launch"),
        ({"arguments": argument(shape=[1 << 38, 2])}, "2199023255552 bytes", "1 TiB"),
        (
            {"arguments": argument(shape=[2, 2], strides=[1 << 40, 1])},
            "argument A: it has 4398046511112 bytes", "1 TiB",
        ),
        (
            {"arguments": [argument()[0], {**argument()[1], "role": "input"}, argument()[2]]},
            "every tensor is an input", "which is the output",
        ),
        ({"arguments": argument(dtype=None)}, "argument A: it has no dtype", "one of"),
        ({"arguments": argument(role=None)}, "argument A: it has no role", "input, output or"),
        ({"arguments": argument(strides=[1, 1])}, "it has 2 strides, 1 dimensions", None),
        (
            {"arguments": argument(shape=None, role=None, dtype="int8", value=200)},
            "200 does not fit into int8", None,
        ),
        (
            {"arguments": argument(shape=None, role=None, dtype="int32", value=0.5)},
            "0.5 is no int32", None,
        ),
        (
            {"arguments": argument(shape=None, role=None, dtype="float16", value=0.5)},
            "no scalar of dtype float16", None,
        ),
        (
            {"arguments": [{"name": "D", "descriptor": {**DESCRIPTOR, "tensor": "B"}}]},
            "its descriptor is over B, which is no tensor", "put it into tensors",
        ),
        (
            {"arguments": [*argument(), {"name": "D", "descriptor": {**DESCRIPTOR, "box": [1]}}]},
            "its descriptor has 1 box, 2 in global_shape", None,
        ),
        (
            {"tensors": [{"name": "T", "dtype": "int8", "shape": [4], "role": "input"}]},
            "tensor T: no argument's descriptor is over it", None,
        ),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, changes, message, hint):
    """The message names the thing, the hint the next step."""
    error = refused(written(tmp_path, **changes))
    assert message in error.message
    assert hint is None or hint in (error.hint or "")


def test_what_is_no_plan_at_all(tmp_path):
    """A missing file, damaged text, and an array are told apart."""
    error = refused(tmp_path / "no.toml")
    assert "no.toml: No such file" in error.message
    assert "stagebench new plan" in error.hint
    (tmp_path / "bad.json").write_text("{")
    assert "bad.json is no JSON" in refused(tmp_path / "bad.json").message
    (tmp_path / "bad.toml").write_text("kernel = \n")
    assert "bad.toml is no TOML" in refused(tmp_path / "bad.toml").message
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    assert "bytes.json is no JSON" in refused(tmp_path / "bytes.json").message
    (tmp_path / "list.json").write_text("[]")
    assert "Expected `object`" in refused(tmp_path / "list.json").message


def test_plans_are_told_from_runs(tmp_path):
    """By suffix; a folder, a bundle's index and a run's are no plans."""
    (tmp_path / "run.toml").mkdir()
    assert is_plan("plan.json")
    assert is_plan("a/plan.toml")
    names = ("dumps", "dumps[arch=sm_80]", str(tmp_path / "run.toml"), "b/bundle.json", "run.json")
    assert not any(map(is_plan, names))


def test_the_dtypes_are_those_that_can_be_launched():
    """One table in two layers: a dtype that the GPU side learns, plans learn too."""
    assert plan_records.ELEMENT_BITS == dtypes._BITS
