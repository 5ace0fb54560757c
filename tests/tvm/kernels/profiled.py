"""Marks of regions by ``T.cuda.timer_*``, by users who get something wrong."""

# ruff: noqa: N803, N806, N812

from enum import Enum

from tvm.script import tirx as T


class Region(Enum):
    work = 0


def marked(words: int = 64, also_stores: bool = False, names: str = "good", num_stages: int = 1):
    """A kernel that marks one region."""

    @T.prim_func
    def kernel(C_ptr: T.handle, times_ptr: T.handle):
        C = T.match_buffer(C_ptr, (128,), "float32", align=16)
        times = T.match_buffer(times_ptr, (words,), "uint64")
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([128])
        tag = T.alloc_buffer([1], "uint64", scope="local", align=8)
        offset = T.alloc_buffer([1], "uint32", scope="local", align=8)
        T.cuda.timer_init(times.data, tag.data, offset.data, 2, thread // 96)
        T.cuda.timer_start(Region.work, times.data, tag.data, offset.data, 2, thread % 96 == 0)
        C[thread] = T.float32(num_stages)
        if also_stores:
            times[thread % 8] = T.uint64(7)
        T.cuda.timer_end(Region.work, times.data, tag.data, offset.data, 2, thread % 96 == 0)

    declared = {
        "good": {"events": ["work"], "groups": ["threads 0-95", "threads 96-127"]},
        "misspelt": {"event": ["work"]},
        "numbers": {"events": [1]},
        "text": "work",
        "empty": {"events": [""]},
    }
    return kernel if names == "none" else kernel.with_attr("stagebench.profiler", declared[names])
