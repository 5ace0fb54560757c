"""What built-ins should compute, by hand on small inputs."""

import numpy as np
import pytest

from stagebench.gpu.builtin_reference import builtin_reference
from stagebench.model import Compiler, Variant


def variant(kernel, compiler="tilelang", **params):
    return Variant(
        kernel=kernel, params={"num_stages": 2, **params}, arch="sm_90a",
        compiler=Compiler(name=compiler, version="0.1.15"), pass_configs={},
        stage_param="num_stages",
    )  # fmt: skip


def flat(rows):
    return np.array(rows, dtype=np.float64).reshape(-1)


A, B = [[1, 2], [3, 4]], [[5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("gemm", [17, 23, 39, 53]),
        ("gemm_nn", [19, 22, 43, 50]),
        ("gemm_tn", [26, 30, 38, 44]),
    ],
)
def test_the_three_layouts(kernel, expected):
    """A·Bᵀ, A·B and Aᵀ·B of the same four numbers are three different products."""
    found = builtin_reference(variant(kernel, M=2, N=2, K=2), {"A": flat(A), "B": flat(B)})
    assert found["C"].tolist() == expected


def test_packed_weights():
    """A byte holds two weights plus 8, the first in its low half: 0x9A is 2 and 1."""
    inputs = {"A": flat([[1, 10]]), "W": flat([[0x9A]])}
    found = builtin_reference(variant("dequant_gemm", M=1, N=1, K=2), inputs)
    assert found["C"].tolist() == [2 + 10]


@pytest.mark.parametrize(("causal", "second"), [(False, [5.0]), (True, [5.0])])
def test_attention_over_equal_keys_is_a_mean(causal, second):
    """Equal scores: every visible value counts alike; causal, the first row sees one."""
    inputs = {"Q": flat([0, 0]), "K": flat([1, 1]), "V": flat([4, 6])}
    sizes = {"batch": 1, "heads": 1, "seq_len": 2, "dim": 1, "causal": causal}
    found = builtin_reference(variant("flash_attention", **sizes), inputs)["O"].tolist()
    assert found == [4.0 if causal else 5.0, *second]


def test_what_is_no_built_in_has_no_reference():
    """A user's kernel of the same name, or another compiler's, is not assumed to be ours."""
    assert builtin_reference(variant("k.py:gemm"), {}) is None
    assert builtin_reference(variant("gemm_nn", "tvm", M=2, N=2, K=2), {}) is None


@pytest.mark.parametrize("kernel", ["gemm", "gemm_tirx"])
@pytest.mark.parametrize("suffix", ["", "_ptr"])
def test_tvm_built_ins_are_nt_too(kernel, suffix):
    """Some releases call tensors after their handles: the outputs are called as the inputs are."""
    inputs = {f"A{suffix}": flat(A), f"B{suffix}": flat(B)}
    found = builtin_reference(variant(kernel, "tvm", M=2, N=2, K=2), inputs)
    assert {name: value.tolist() for name, value in found.items()} == {
        f"C{suffix}": [17, 23, 39, 53]
    }
