"""What should a built-in kernel compute?  The same inputs in float64, on the host.

Only for the built-ins, whose meaning is known: an error that all depths share is then visible.
A user's kernel gets the same through ``--expected`` (`stagebench.bundle.parts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from stagebench.model import ParamValue, Variant

Doubles = npt.NDArray[np.float64]
_Inputs = Mapping[str, Doubles]
_Params = Mapping[str, ParamValue]
_POINTER = "_ptr"
"""Apache TVM names a tensor after its handle: TIRx's does, and from 0.26 on S-TIR's."""


def builtin_reference(variant: Variant, inputs: _Inputs) -> dict[str, Doubles] | None:
    """Outputs by name, compact and flat; ``None`` for a kernel that is no built-in of ours.

    ``inputs`` are the inputs as float64, flat, by name (integers as they are).
    """
    function = _REFERENCES.get(variant.compiler.name, {}).get(variant.kernel)
    if function is None:
        return None
    suffix = _POINTER if all(name.endswith(_POINTER) for name in inputs) else ""
    named = {name.removesuffix(suffix): value for name, value in inputs.items()}
    outputs = function(named, variant.params)
    return {name + suffix: value.reshape(-1) for name, value in outputs.items()}


def _size(params: _Params, name: str) -> int:
    value = params[name]
    if not isinstance(value, int):
        raise TypeError(f"{name} is no integer: {value!r}")
    return value


def _gemm(inputs: _Inputs, params: _Params) -> dict[str, Doubles]:
    """``C = A @ B.T``: A is (M, K), B is (N, K)."""
    m, n, k = (_size(params, name) for name in ("M", "N", "K"))
    return {"C": inputs["A"].reshape(m, k) @ inputs["B"].reshape(n, k).T}


def _gemm_nn(inputs: _Inputs, params: _Params) -> dict[str, Doubles]:
    """``C = A @ B``: A is (M, K), B is (K, N)."""
    m, n, k = (_size(params, name) for name in ("M", "N", "K"))
    return {"C": inputs["A"].reshape(m, k) @ inputs["B"].reshape(k, n)}


def _gemm_tn(inputs: _Inputs, params: _Params) -> dict[str, Doubles]:
    """``C = A.T @ B``: A is (K, M), B is (K, N)."""
    m, n, k = (_size(params, name) for name in ("M", "N", "K"))
    return {"C": inputs["A"].reshape(k, m).T @ inputs["B"].reshape(k, n)}


def _dequant_gemm(inputs: _Inputs, params: _Params) -> dict[str, Doubles]:
    """``C = A @ W.T``; a byte of W holds two values plus 8, the first in its low half."""
    m, n, k = (_size(params, name) for name in ("M", "N", "K"))
    packed = inputs["W"].reshape(n, k // 2).astype(np.uint8)
    weights = np.empty((n, k))
    weights[:, 0::2] = packed & 15
    weights[:, 1::2] = packed >> 4
    return {"C": inputs["A"].reshape(m, k) @ (weights - 8).T}


def _flash_attention(inputs: _Inputs, params: _Params) -> dict[str, Doubles]:
    """``softmax(Q @ K.T / sqrt(dim)) @ V`` for each head."""
    shape = tuple(_size(params, name) for name in ("batch", "heads", "seq_len", "dim"))
    queries, keys, values = (inputs[name].reshape(shape) for name in ("Q", "K", "V"))
    found = np.empty(shape)
    visible = np.tri(shape[2], dtype=bool) if params["causal"] else None
    for batch in range(shape[0]):
        for head in range(shape[1]):
            scores = queries[batch, head] @ keys[batch, head].T / np.sqrt(shape[3])
            if visible is not None:
                scores[~visible] = -np.inf
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=1, keepdims=True)
            found[batch, head] = scores @ values[batch, head]
    return {"O": found}


_REFERENCES: Mapping[str, Mapping[str, Callable[[_Inputs, _Params], dict[str, Doubles]]]] = {
    "tilelang": {
        "gemm": _gemm,
        "gemm_nn": _gemm_nn,
        "gemm_tn": _gemm_tn,
        "dequant_gemm": _dequant_gemm,
        "flash_attention": _flash_attention,
    },
    "tvm": {
        "gemm": _gemm,
        "gemm_tensor_core": _gemm,
        "gemm_tirx": _gemm,
        "gemm_tirx_tma": _gemm,
        "gemm_tirx_profiled": _gemm,
        "gemm_tirx_tma_profiled": _gemm,
    },
}
"""By compiler and built-in."""
