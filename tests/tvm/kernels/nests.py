"""Loops whose trip counts depend on the loops around them, one op each."""

# ruff: noqa: N803, N806, N812

from tvm.script import tirx as T


def nests():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle, n: T.int32):
        A = T.match_buffer(A_ptr, (1024,), "int32", align=16)
        B = T.match_buffer(B_ptr, (1024,), "int32", align=16)
        T.device_entry()
        block = T.cta_id([8])
        thread = T.thread_id([128])
        s = T.alloc_shared((128,), "int32", align=128)
        count = T.alloc_local((1,), "int32")
        count[0] = 0
        s[thread] = A[thread]
        for i in T.serial(8):
            for k in T.serial(n):
                for j in T.serial(T.min(i + 1, 5)):
                    s[j] = A[j + k]
                    T.cuda.cta_sync()
        for i in T.serial(2, 6):
            for j in T.serial(i * i):
                for k in T.serial(j // 2):
                    s[k] = A[j]
                    T.cuda.warp_sync()
        for i in T.serial(A[0]):
            for j in T.serial(i + 1):
                s[j] = A[i]
                T.ptx.cp_async.commit_group()
        for i in T.serial(8):
            count[0] = count[0] + A[i]
            for j in T.serial(count[0]):
                s[j] = A[i]
                T.ptx.cp_async.wait_group(0)
        for i in T.serial(8):
            if i < 3:
                T.ptx.fence.proxy_async("shared::cta")
        B[block * 128 + thread] = s[127 - thread] + count[0]

    return kernel
