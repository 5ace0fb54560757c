"""The built-in kernels load with their defaults, and listing them imports no compiler."""

import subprocess
import sys

import pytest

from stagebench.kernels import BUILTINS, DESCRIPTIONS

pytestmark = pytest.mark.tilelang

SIZES = {"M": 1024, "N": 1024, "K": 1024}
TILE = {"block_M": 128, "block_N": 128, "block_K": 64, "threads": 128}
DTYPES = {"dtype": "float16", "accum_dtype": "float32"}


@pytest.mark.parametrize(
    ("name", "a_shape", "b_shape"),
    [
        ("gemm", ["1024", "512"], ["256", "512"]),
        ("gemm_nn", ["1024", "512"], ["512", "256"]),
        ("gemm_tn", ["512", "1024"], ["512", "256"]),
        ("dequant_gemm", ["1024", "512"], ["256", "256"]),
    ],
)
def test_gemms(load, name, a_shape, b_shape):
    """Each GEMM has its layout's shapes, and the defaults that its name promises."""
    answer = load(None, name, num_stages=3, N=256, K=512)

    assert answer["shapes"] == [a_shape, b_shape, ["1024", "256"]]
    assert answer["depths"] == [3]
    assert answer["params"] == {**SIZES, **TILE, **DTYPES, "N": 256, "K": 512, "num_stages": 3}


def test_packed_weights(load):
    """The dequantising GEMM reads bytes."""
    assert load(None, "dequant_gemm")["dtypes"] == ["float16", "uint8", "float16"]


@pytest.mark.parametrize("causal", [False, True])
def test_attention(load, causal):
    """Attention has one pipelined loop over four tensors of one shape."""
    answer = load(None, "flash_attention", num_stages=1, causal=causal, heads=2)

    assert answer["depths"] == [1]
    assert answer["shapes"] == [["1", "2", "1024", "64"]] * 4
    assert answer["params"]["causal"] is causal


def test_unknown_builtin(load):
    """An unknown name is answered with the nearest and the whole list."""
    answer = load(None, "gem")

    assert answer["message"] == "there is no built-in kernel `gem`"
    assert answer["hint"].startswith("did you mean `gemm`? built-ins: gemm, gemm_nn")


def test_names():
    """Every built-in has a description, and only built-ins have one."""
    assert list(DESCRIPTIONS) == list(BUILTINS)


def test_listing_imports_no_compiler():
    """The CLI may list the built-ins: that imports neither TileLang nor torch."""
    code = "import sys, stagebench.kernels; print(*{'tilelang', 'torch', 'tvm'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert run.stdout.strip() == ""
