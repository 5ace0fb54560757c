"""A kernel of a release whose loops are a statement that stagebench has never seen.

The worker that builds it forgets the word: everything else about the release stays as it is.
"""

from tvm.script import tirx as T

from stagebench.worker.tir import nodes

nodes.STATEMENTS = nodes.STATEMENTS - {"For"}


def looping(num_stages: int = 1):
    """One loop that copies."""

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (1024,), "float32", align=16)
        B = T.match_buffer(B_ptr, (1024,), "float32", align=16)
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([32])
        for i in T.serial(32 // num_stages):
            B[i * 32 + thread] = A[i * 32 + thread]

    return kernel
