"""One kernel in the ways in which files spell a kernel."""

# Written as users write kernels, not as we write Python.
# ruff: noqa: N803, N806, N812

import functools

import tilelang
import tilelang.language as T
from tilelang.autotuner import autotune
from tiny import build

PASS = tilelang.PassConfigKey.TL_ENABLE_FAST_MATH


@tilelang.jit
def lazy(N: int, block: int = 64, num_stages: int = 2):
    return build(N, block, num_stages)


@tilelang.jit(out_idx=[1], target="cuda", pass_configs={PASS: True, "tl.disable_tma_lower": False})
def configured(N: int, block: int = 64, num_stages: int = 2):
    return build(N, block, num_stages)


@tilelang.jit(target={"kind": "cuda", "arch": "sm_80"})
def targeted(N: int, num_stages: int = 2):
    return build(N, 64, num_stages)


def plain(N, block=64, num_stages=2):
    return build(N, block, num_stages)


@T.prim_func
def ready(A: T.Tensor((256,), "float16"), B: T.Tensor((256,), "float16")):
    with T.Kernel(1, threads=64) as _:
        tile = T.alloc_shared((64,), "float16")
        for k in T.Pipelined(4, num_stages=3):
            T.copy(A[k * 64], tile)
            T.copy(tile, B[k * 64])


@tilelang.jit
def eager(A, B, block: int = 64, num_stages: int = 2, dtype: T.dtype = T.float16):
    M, N = T.const("M N")
    A: T.Tensor[[M, N], dtype]
    B: T.Tensor[[M, N], dtype]
    T.annotate_pass_configs({PASS: True})
    with T.Kernel(M, threads=64) as row:
        tile = T.alloc_shared((block,), dtype)
        for k in T.Pipelined(N // block, num_stages=num_stages):
            T.copy(A[row, k * block], tile)
            T.copy(tile, B[row, k * block])


def factory(N: int, block: int = 64):
    @tilelang.jit
    def inner(num_stages: int = 2, dtype="float16"):
        return build(N, block, num_stages, dtype)

    return inner


def compiling(N: int, num_stages: int = 2):
    return tilelang.compile(build(N, 64, num_stages), out_idx=[1], pass_configs={PASS: True})


def calling(N: int, num_stages: int = 2):
    return lazy(N, num_stages=num_stages)


compiled = tilelang.compile(build(512, 64, 4), target="cuda")
made = factory(1024, block=32)
bound = functools.partial(plain, block=32)


def traced(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


@traced
def wrapped(N: int, block: int = 64, num_stages: int = 2):
    return build(N, block, num_stages)


def forwarding(**options):
    return build(options["N"], options.get("block", 64), options["num_stages"])


def positional(N, /, *blocks, num_stages=2):
    return build(N, blocks[0], num_stages)


class Family:
    """Kernels as members of a class."""

    def __init__(self, N: int):
        self.size = N

    @staticmethod
    def fixed(N: int, num_stages: int = 2):
        return build(N, 64, num_stages)

    def method(self, block: int = 64, num_stages: int = 2):
        return build(self.size, block, num_stages)


def pair(N: int, num_stages: int = 2):
    forward = build(N, 64, num_stages)
    backward = build(2 * N, 64, num_stages)
    return {"forward": forward, "backward": backward}


def benchmark(N: int):
    @tilelang.jit
    def local(num_stages: int = 2):
        return build(N, 64, num_stages)

    local(num_stages=2)(None)


def reference(a, b):
    return a + b


def nothing(N: int, num_stages: int = 2):
    build(N, 64, num_stages)


@autotune(configs=[{"block": 32, "num_stages": 3}, {"block": 64, "num_stages": 1}])
@tilelang.jit
def tuned(N: int, block: int = 128, num_stages: int = 0):
    return build(N, block, num_stages)


@autotune(configs=lambda N, **_: [{"block": N // 4, "num_stages": 1, "pass_configs": {PASS: True}}])
@tilelang.jit
def tuned_by_size(N: int, block: int = 128, num_stages: int = 0):
    return build(N, block, num_stages)


@autotune(configs=lambda size: [{"block": size // 8}])
@tilelang.jit
def tuned_by_position(N: int, block: int = 128, num_stages: int = 2):
    return build(N, block, num_stages)


@autotune(configs=[{"block": 16, "num_stages": 2}])
@tilelang.jit
def tuned_eager(A, B, block: int = 64, num_stages: int = 0):
    N = T.const("N")
    A: T.Tensor[[N], T.float16]
    B: T.Tensor[[N], T.float16]
    with T.Kernel(1, threads=64) as _:
        tile = T.alloc_shared((block,), "float16")
        for k in T.Pipelined(N // block, num_stages=num_stages):
            T.copy(A[k * block], tile)
            T.copy(tile, B[k * block])


def best_of(N: int):
    def candidate(block=None, num_stages=None):
        return build(N, block, num_stages)

    configs = [{"block": 32, "num_stages": 1}, {"block": 64, "num_stages": 2}]
    tuner = tilelang.autotuner.AutoTuner.from_kernel(kernel=candidate, configs=configs)
    return tuner.set_compile_args(out_idx=[1]).run(warmup=1, rep=1)


def calling_tuned(N: int):
    return tuned(N)


if __name__ == "__main__":
    raise RuntimeError("a kernel's file is imported, not run")
