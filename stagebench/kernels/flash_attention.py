"""What becomes of a pipelined loop with two GEMMs?  Attention with an online softmax.

Each trip loads a block of K and one of V, multiplies with K, rescales what it has so far by the new
row maximum, and multiplies with V.  Layout: (batch, heads, seq_len, dim).
"""

# The DSL's own spelling: tensors are upper case, annotations are values.
# ruff: noqa: ANN201, ANN202, N803, N806, N812, PLR0913, PLR0917
# mypy: ignore-errors

import math

import tilelang
import tilelang.language as T


@tilelang.jit
def flash_attention(
    batch: int = 1,
    heads: int = 8,
    seq_len: int = 1024,
    dim: int = 64,
    block_M: int = 128,
    block_N: int = 128,
    threads: int = 128,
    causal: bool = False,
    dtype: str = "float16",
    num_stages: int = 2,
):
    """``O = softmax(Q @ K.T / sqrt(dim)) @ V`` for each head."""
    shape = (batch, heads, seq_len, dim)
    accum = "float32"
    # exp2 is one instruction: fold log2(e) into the scale.
    scale = math.log2(math.e) / math.sqrt(dim)

    @T.prim_func
    def flash_attention_kernel(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        O: T.Tensor(shape, dtype),  # noqa: E741  (its name in every paper)
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared((block_M, dim), dtype)
            K_shared = T.alloc_shared((block_N, dim), dtype)
            V_shared = T.alloc_shared((block_N, dim), dtype)
            scores = T.alloc_fragment((block_M, block_N), accum)
            weights = T.alloc_fragment((block_M, block_N), dtype)
            output = T.alloc_fragment((block_M, dim), accum)
            row_max = T.alloc_fragment((block_M,), accum)
            previous_max = T.alloc_fragment((block_M,), accum)
            correction = T.alloc_fragment((block_M,), accum)
            row_sum = T.alloc_fragment((block_M,), accum)
            total = T.alloc_fragment((block_M,), accum)

            T.copy(Q[bz, by, bx * block_M, 0], Q_shared)
            T.clear(output)
            T.clear(total)
            T.fill(row_max, -T.infinity(accum))
            trips = T.ceildiv((bx + 1) * block_M if causal else seq_len, block_N)
            for k in T.Pipelined(trips, num_stages=num_stages):
                T.copy(K[bz, by, k * block_N, 0], K_shared)
                if causal:
                    for i, j in T.Parallel(block_M, block_N):
                        visible = bx * block_M + i >= k * block_N + j
                        scores[i, j] = T.if_then_else(visible, 0, -T.infinity(accum))
                else:
                    T.clear(scores)
                T.gemm(
                    Q_shared, K_shared, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow
                )
                T.copy(row_max, previous_max)
                T.reduce_max(scores, row_max, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    correction[i] = T.exp2((previous_max[i] - row_max[i]) * scale)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2((scores[i, j] - row_max[i]) * scale)
                T.reduce_sum(scores, row_sum, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * correction[i] + row_sum[i]
                for i, j in T.Parallel(block_M, dim):
                    output[i, j] *= correction[i]
                T.copy(scores, weights)
                T.copy(V[bz, by, k * block_N, 0], V_shared)
                T.gemm(weights, V_shared, output, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= total[i]
            T.copy(output, O[bz, by, bx * block_M, 0])

    return flash_attention_kernel
