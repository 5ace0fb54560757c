"""Which kernels come with stagebench?  Names only: nothing here imports a compiler."""

from __future__ import annotations

BUILTINS: dict[str, str] = {
    "gemm": "stagebench.kernels.gemm:gemm",
    "gemm_nn": "stagebench.kernels.gemm:gemm_nn",
    "gemm_tn": "stagebench.kernels.gemm:gemm_tn",
    "flash_attention": "stagebench.kernels.flash_attention:flash_attention",
    "dequant_gemm": "stagebench.kernels.dequant_gemm:dequant_gemm",
}
"""Name → ``module:function``.  The modules import TileLang: only a worker may import them."""

DESCRIPTIONS: dict[str, str] = {
    "gemm": "C = A @ B^T, both operands row-major along K (the layout of a linear layer)",
    "gemm_nn": "C = A @ B, B stored (K, N)",
    "gemm_tn": "C = A^T @ B, A stored (K, M) and B stored (K, N)",
    "flash_attention": "softmax(Q K^T) V with an online softmax: two GEMMs in each trip",
    "dequant_gemm": "C = A @ dequantise(B)^T with packed 4-bit weights, widened in shared memory",
}
"""One line for each built-in."""
