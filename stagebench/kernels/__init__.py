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

TVM_BUILTINS: dict[str, str] = {
    "gemm": "stagebench.kernels.tvm_s_tir:gemm",
    "gemm_tensor_core": "stagebench.kernels.tvm_s_tir:gemm_tensor_core",
    "gemm_tirx": "stagebench.kernels.tvm_tirx:gemm_tirx",
    "gemm_tirx_tma": "stagebench.kernels.tvm_tirx:gemm_tirx_tma",
    "gemm_tirx_profiled": "stagebench.kernels.tvm_tirx_profiled:gemm_tirx_profiled",
    "gemm_tirx_tma_profiled": "stagebench.kernels.tvm_tirx_profiled:gemm_tirx_tma_profiled",
}
"""Apache TVM's, by the same rule; ``gemm`` computes what TileLang's does."""

TVM_DESCRIPTIONS: dict[str, str] = {
    "gemm": "C = A @ B^T as an S-TIR schedule, cp.async and FMAs",
    "gemm_tensor_core": "C = A @ B^T as an S-TIR schedule, cp.async and tensor cores (WMMA)",
    "gemm_tirx": "C = A @ B^T in TIRx, its own ring of slots filled by cp.async",
    "gemm_tirx_tma": "C = A @ B^T in TIRx, warp-specialised: TMA and mbarriers",
    "gemm_tirx_profiled": "gemm_tirx with regions marked as by CudaProfiler, in groups of any size",
    "gemm_tirx_tma_profiled": "gemm_tirx_tma with regions marked by each of its warpgroups",
}
"""One line for each of them."""
