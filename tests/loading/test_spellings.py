"""Each way in which a file spells a kernel is loaded, with its parameters by name."""

import pytest

pytestmark = pytest.mark.tilelang

FILE = "spellings.py"


@pytest.mark.parametrize(
    ("function", "given", "params"),
    [
        ("lazy", {"N": 256}, {"N": 256, "block": 64}),
        ("plain", {"N": 256, "block": 32}, {"N": 256, "block": 32}),
        ("eager", {"M": 2, "N": 256}, {"M": 2, "N": 256, "block": 64, "dtype": "float16"}),
        ("factory", {"N": 256}, {"N": 256, "block": 64, "dtype": "float16"}),
        ("made", {}, {"dtype": "float16"}),
        ("bound", {"N": 256}, {"N": 256, "block": 32}),
        ("wrapped", {"N": 256}, {"N": 256, "block": 64}),
        ("forwarding", {"N": 256, "block": 32}, {"N": 256, "block": 32}),
        ("positional", {"N": 256, "blocks": (32, 1)}, {"N": 256, "blocks": [32, 1]}),
        ("Family.fixed", {"N": 256}, {"N": 256}),
        ("Family.method", {"N": 256}, {"N": 256, "block": 64}),
        ("pair.forward", {"N": 256}, {"N": 256}),
        ("benchmark.local", {"N": 256}, {"N": 256}),
        ("compiling", {"N": 256}, {"N": 256}),
        ("calling", {"N": 256}, {"N": 256}),
    ],
)
def test_spelling(load, function, given, params):
    """The PrimFunc has the requested depth, and every parameter is recorded with its value."""
    answer = load(FILE, function, num_stages=3, **given)

    assert answer["depths"] == [3]
    assert answer["params"] == {**params, "num_stages": 3}
    assert answer["stage_param"] == "num_stages"
    assert answer["restored"]


def test_module_level_prim_func(load):
    """A ``@T.prim_func`` is taken as it stands; it has no parameters and no depth to set."""
    answer = load(FILE, "ready")

    assert (answer["name"], answer["depths"], answer["params"]) == ("ready", [3], {})
    assert answer["stage_param"] is None


def test_kernel_compiled_at_import(load):
    """A kernel that the file compiles itself gives its PrimFunc, and a note names the line."""
    answer = load(FILE, "compiled")

    assert (answer["shapes"], answer["depths"]) == ([["512"], ["512"]], [4])
    assert answer["codes"] == ["compile-intercepted"]
    assert answer["messages"][0].startswith("spellings.py:")


def test_kernel_compiled_while_building(load):
    """``tilelang.compile`` inside the builder compiles nothing, and its pass configs are kept."""
    answer = load(FILE, "compiling", N=256)

    assert answer["pass_configs"] == {"tl.enable_fast_math": True}
    assert answer["codes"] == ["compile-intercepted"]


def test_pass_configs_of_the_decorator(load):
    """Pass configs of ``@tilelang.jit`` are returned by their string keys."""
    answer = load(FILE, "configured", N=256)

    assert answer["pass_configs"] == {"tl.enable_fast_math": True, "tl.disable_tma_lower": False}


def test_pass_configs_inside_the_kernel(load):
    """``T.annotate_pass_configs`` counts as well."""
    answer = load(FILE, "eager", M=1, N=64)

    assert answer["pass_configs"] == {"tl.enable_fast_math": True}


def test_sizes_of_an_eager_kernel(load):
    """Sizes that an eager kernel declares with ``T.const`` are given by name."""
    answer = load(FILE, "eager", M=3, N=128)

    assert answer["shapes"] == [["3", "128"], ["3", "128"]]


def test_missing_size(load):
    """Every missing ``T.const`` size is named, with a near miss among what was given."""
    answer = load(FILE, "eager", M=3, Nn=128)

    assert answer["message"] == (
        "`eager` needs the size `N` (its T.const names: M, N); "
        "`Nn` is no parameter of it (did you mean `N`?)"
    )
    assert "--set N=VALUE" in answer["hint"]


def test_unknown_size(load):
    """A name that is neither a parameter nor a size is refused although the kernel builds."""
    answer = load(FILE, "eager", M=3, N=128, bloc=64)

    assert answer["message"] == "`eager` has no parameter `bloc`"
    assert "did you mean `block`?" in answer["hint"]
    assert "sizes: M, N" in answer["hint"]


def test_tensor_as_parameter(load):
    """A tensor is not given; the hint says which sizes are."""
    answer = load(FILE, "eager", A=1, M=3, N=128)

    assert answer["message"] == "`A` is a tensor of `eager`, and no tensors are given"
    assert answer["hint"] == "give its sizes by name: M, N"


def test_two_kernels_in_one_result(load):
    """A builder of several kernels wants one of them named."""
    answer = load(FILE, "pair", N=256)

    assert answer["message"] == "`pair` returns 2 kernels: forward, backward"
    assert answer["hint"] == "name one of them: pair.forward"


def test_second_of_two_kernels(load):
    """A dotted name reaches into a builder's result."""
    assert load(FILE, "pair.backward", N=256)["shapes"] == [["512"], ["512"]]


def test_unknown_inner_name(load):
    """A dotted name that leads nowhere is an error."""
    assert "there is no `sideways` in it" in load(FILE, "pair.sideways", N=256)["message"]


def test_not_a_kernel(load):
    """A function that returns something else is refused in words."""
    assert load(FILE, "nothing", N=256)["message"] == "`nothing` returned nothing, not a kernel"


def test_target_of_the_file(load):
    """A target that the file names gives way to the chosen arch, and a note says so."""
    answer = load(FILE, "targeted", N=256)

    assert answer["codes"] == ["target-replaced"]
    assert answer["messages"] == ["the file's target sm_80 gave way to sm_90a"]


def test_missing_parameters(load):
    """Missing parameters are all named, and the signature is shown."""
    answer = load(FILE, "plain")

    assert answer["message"] == "`plain` needs `N`"
    assert answer["hint"] == "give --set N=VALUE; signature: plain(N, block=64, num_stages=2)"


def test_unknown_parameter(load):
    """An unknown parameter is named with the nearest that there is."""
    answer = load(FILE, "plain", N=256, blok=64)

    assert answer["message"] == "`plain` has no parameter `blok`"
    assert answer["hint"].startswith("did you mean `block`? signature: plain(N, block=64")


def test_unknown_parameter_over_two_levels(load):
    """The signatures of all levels are shown where a builder returns another one."""
    answer = load(FILE, "factory", N=256, dtyp="float32")

    assert "did you mean `dtype`?" in answer["hint"]
    assert "factory(N: int, block: int = 64), then inner(" in answer["hint"]


def test_missing_and_unknown(load):
    """A misspelt required parameter is both: the message connects the two."""
    answer = load(FILE, "lazy", n=256)

    assert answer["message"].startswith("`lazy` needs `N`; `n` is no parameter of it")
