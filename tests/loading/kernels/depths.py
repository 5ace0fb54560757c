"""The ways in which a pipelined loop gets its depth."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: ARG001, N803, N812

import tilelang
import tilelang.language as T
from tiny import build

STAGES = 3


def loop(trips, depth):
    @T.prim_func
    def looped(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            for k in T.Pipelined(trips, num_stages=depth):
                T.copy(A[k * 64], tile)
                T.copy(tile, B[k * 64])

    return looped


@tilelang.jit
def other_name(depth_of_pipe: int = 2):
    return loop(4, depth_of_pipe)


@tilelang.jit
def rebound(pipe: int = 2):
    deep = pipe
    depth = max(deep, 0)
    return loop(4, depth=depth)


def well_known(stages=2):
    return build_from({"depth": stages})


def build_from(options):
    return build(256, 64, options["depth"])


@tilelang.jit
def literal(N: int = 256):
    return loop(4, 3)


@tilelang.jit
def literal_global(N: int = 256):
    depth = STAGES
    return loop(4, depth)


@tilelang.jit
def default_depth(N: int = 256):
    return unpiped(N)


def unpiped(N, extra=0):
    @T.prim_func
    def plain(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            for k in T.Pipelined(N // 64):
                T.copy(A[k * 64], tile)
                T.copy(tile, B[k * 64])

    return plain


@tilelang.jit
def no_loop(N: int = 256):
    @T.prim_func
    def flat(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "float16")):
        with T.Kernel(1, threads=64) as _:
            for i in T.Parallel(N):
                B[i] = A[i]

    return flat


@tilelang.jit
def two_loops(first: int = 1, second: int = 2):
    @T.prim_func
    def both(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            for k in T.Pipelined(4, num_stages=first):
                T.copy(A[k * 64], tile)
                T.copy(tile, B[k * 64])
            for k in T.Pipelined(4, num_stages=second):
                T.copy(B[k * 64], tile)
                T.copy(tile, A[k * 64])

    return both


@tilelang.jit
def one_fixed(num_stages: int = 2):
    @T.prim_func
    def both(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            for k in T.Pipelined(4, num_stages=num_stages):
                T.copy(A[k * 64], tile)
                T.copy(tile, B[k * 64])
            for k in T.Pipelined(4, num_stages=1):
                T.copy(B[k * 64], tile)
                T.copy(tile, A[k * 64])

    return both


class Options:
    depth = 2


@tilelang.jit
def hidden(N: int = 256, level: int = 2):
    options = Options()
    return loop(4, options.depth)


def outer_and_own(num_stages: int = 1, outer_stages: int = 2):
    return loop(4, outer_stages + num_stages - 1)


@tilelang.jit
def in_macro(stage_num: int = 2):
    @T.macro
    def copies(source, target, tile, depth):
        for k in T.Pipelined(4, num_stages=depth):
            T.copy(source[k * 64], tile)
            T.copy(tile, target[k * 64])

    @T.prim_func
    def with_macro(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64) as _:
            tile = T.alloc_shared((64,), "float16")
            copies(A, B, tile, stage_num)

    return with_macro
