"""A tile that TMA copies because a pass chose it for ``T.tile.copy_async``."""

from tvm.backend.cuda.operator.tile_primitive.tma_utils import mma_shared_layout
from tvm.script import tirx as T
from tvm.script.tirx import tile as tiles
from tvm.tirx.layout import S, TileLayout


def load(rows: int = 8, columns: int = 256):
    """One load of ``rows`` × ``columns`` halves; descriptor and swizzle are the pass's own."""
    layout = mma_shared_layout("float16", 3, (rows, columns))
    size = rows * columns * 2

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (rows, columns), "float16", layout=TileLayout(S[rows, columns]))
        B = T.match_buffer(B_ptr, (rows, columns), "float16", layout=TileLayout(S[rows, columns]))
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([32])
        pool = T.alloc_buffer([size + 8], "uint8", scope="shared.dyn", align=1024)
        tile = T.decl_buffer((rows, columns), "float16", pool.data, elem_offset=0, layout=layout)
        full = T.decl_buffer([1], "uint64", pool.data, elem_offset=size // 8)
        if thread == 0:
            T.ptx.mbarrier.init(full.ptr_to([0]), 1)
        T.ptx.fence.proxy_async("shared::cta")
        T.cuda.cta_sync()
        if thread == 0:
            tiles.copy_async(
                tile[0:rows, 0:columns],
                A[0:rows, 0:columns],
                dispatch="tma",
                cta_group=1,
                mbar=full.ptr_to([0]),
            )
            T.ptx.mbarrier.arrive.expect_tx(full.ptr_to([0]), size)
        T.ptx.mbarrier.try_wait(full.ptr_to([0]), 0)
        T.cuda.cta_sync()
        tiles.cta.copy(B[0:rows, 0:columns], tile[0:rows, 0:columns])

    return kernel
