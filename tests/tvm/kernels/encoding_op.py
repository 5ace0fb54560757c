"""A tile that is loaded by TMA, its descriptor encoded by the op that Apache TVM 0.27 brought."""

from tvm.script import tirx as T

from stagebench.kernels import tvm_ptx as ptx


def tile(num_stages: int = 1):
    """One load of 64 × 32 halves, for each of ``num_stages`` slots."""
    shape = [128, 256, 256, 32, 64, 1, 1]

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (256, 128), "float16", align=16)
        B = T.match_buffer(B_ptr, (64, 32), "float16", align=16)
        A_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
        T.evaluate(
            T.tensormap_encode_tiled(
                A_map, A.data, *shape, descriptor_dtype="float16", rank=2, swizzle=2
            )
        )
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([128])
        S = T.alloc_shared((num_stages, 64, 32), "float16", align=128)
        full = T.alloc_shared((1,), "uint64", align=8)
        if thread == 0:
            ptx.mbarrier_init(full.ptr_to([0]), 1)
            ptx.mbarrier_arrive_expect_tx(full.ptr_to([0]), num_stages * 4096)
            for slot in T.unroll(num_stages):
                ptx.tma_load(
                    S.ptr_to([slot, 0, 0]), full.ptr_to([0]), T.address_of(A_map), 0, slot * 64
                )
        T.cuda.cta_sync()
        ptx.mbarrier_wait(full.ptr_to([0]), 0)
        B[thread // 32, thread % 32] = S[0, thread // 32, thread % 32]

    return kernel
