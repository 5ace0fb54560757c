"""A small kernel whose Python does what ``mode`` says while it is built."""

import os
import signal
import subprocess
import time

import tilelang
import tilelang.language as T


def misbehave(mode):
    if mode == "abort":
        print("terminate called after an instance of 'std::logic_error'", file=__import__("sys").stderr)
        os.abort()
    if mode == "hang":
        while True:
            time.sleep(60)
    if mode == "hang_with_child":
        subprocess.run(["sleep", "600"], check=True)
    if mode == "raise":
        raise ValueError("tile of 0 rows\nsecond line")
    if mode == "exit":
        os._exit(7)
    if mode == "system_exit":
        raise SystemExit("the kernel's own exit")
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "memory":
        hoard = []
        while True:
            hoard.append(bytearray(64 << 20))
    if mode == "exit_0":
        os._exit(0)
    if mode == "fork":
        os.fork()  # both go on
    if mode == "escape":
        subprocess.Popen(["sleep", "54321"], start_new_session=True)
    if mode == "unspeakable":
        raise ValueError("\udcff " + "z" * 100_000)
    if mode == "print":
        os.write(1, b"not a message {\n")
        os.write(2, b"[12:34:56] /somewhere/file.cc:12: Warning: a warning from C++\n")


@tilelang.jit
def small_gemm(mode: str, num_stages: int):
    misbehave(mode)

    @T.prim_func
    def kernel(A: T.Tensor((128, 128), "float16"), B: T.Tensor((128, 128), "float16"),
               C: T.Tensor((128, 128), "float32")):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            lhs = T.alloc_shared((64, 32), "float16")
            rhs = T.alloc_shared((64, 32), "float16")
            acc = T.alloc_fragment((64, 64), "float32")
            T.clear(acc)
            for k in T.Pipelined(4, num_stages=num_stages):
                T.copy(A[by * 64, k * 32], lhs)
                T.copy(B[bx * 64, k * 32], rhs)
                T.gemm(lhs, rhs, acc, transpose_B=True)
            T.copy(acc, C[by * 64, bx * 64])

    return kernel
