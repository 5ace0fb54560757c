"""Values from the command line become what the parameters expect, or are refused."""

import pytest

pytestmark = pytest.mark.tilelang

FILE = "arguments.py"


@pytest.mark.parametrize(
    ("name", "value", "annotation"),
    [
        ("N", "abc", "int"),
        ("N", True, "int"),
        ("flag", "yes", "bool"),
        ("factor", "x", "float"),
        ("shape", 3, "tuple"),
        ("layout", "tt", "Literal['nt', 'nn']"),
        ("limit", "x", "Optional[int]"),
    ],
)
def test_mistyped(load, name, value, annotation):
    """A value that contradicts the annotation is refused with both."""
    answer = load(FILE, "typed", **{name: value})

    assert answer["message"] == (
        f"parameter `{name}` of `typed` is {annotation}, and {value!r} is not"
    )


@pytest.mark.parametrize(
    ("name", "value", "recorded"),
    [
        ("flag", 1, True),
        ("factor", 2, 2.0),
        ("mode", 3, "3"),
        ("shape", (3, 4), [3, 4]),
        ("layout", "nn", "nn"),
        ("limit", 3, 3),
        ("limit", None, None),
        ("either", "x", "x"),
        ("either", 2, 2),
    ],
)
def test_converted(load, name, value, recorded):
    """A value that fits is converted to the annotated type."""
    found = load(FILE, "typed", **{name: value})["params"][name]

    assert found == recorded
    assert type(found) is type(recorded)


def test_quoted_annotations(load):
    """String annotations count, and one that can't be evaluated disturbs no other."""
    assert load(FILE, "quoted", N="x")["message"].startswith("parameter `N` of `quoted` is int")
    assert load(FILE, "quoted", N=256)["params"] == {"N": 256, "num_stages": 2, "odd": None}


@pytest.mark.parametrize("function", ["tilelang_dtype", "bare_dtype", "torch_dtype", "text_dtype"])
@pytest.mark.parametrize("value", ["float32", "T.float32", "torch.float32"])
def test_dtype(load, function, value):
    """A dtype is given by name, whatever kind of dtype the parameter holds."""
    answer = load(FILE, function, dtype=value)

    assert answer["dtypes"] == ["float32", "float32"]
    assert answer["params"]["dtype"] == "float32"


def test_recorded_defaults(load):
    """Defaults that are no scalars are recorded without addresses."""
    answer = load(FILE, "sizes", blocks=(32, 16))

    assert answer["params"] == {
        "blocks": [32, 16],
        "names": "{'a': 1}",
        "call": "max",
        "num_stages": 2,
    }


def test_the_kernels_own_exception(load):
    """What the kernel's Python raises comes through as it is, with a note of what was built."""
    answer = load(FILE, "raising", N=3, num_stages=1)

    assert (answer["error"][0], answer["message"]) == ("ZeroDivisionError", "no kernel for 3")
    assert answer["notes"] in (
        [],
        ["while building arguments.py:raising for sm_90a with N=3, num_stages=1"],
    )
