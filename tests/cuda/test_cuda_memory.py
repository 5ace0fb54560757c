"""Are shared arrays and the buffers in the arena read as declared?"""

from __future__ import annotations


def test_arena_and_aliases(read_body):
    """An extern array is the arena; constant pointers into it are buffers, others are not."""
    kernel = read_body(
        "extern __shared__ __align__(1024) uchar buf_dyn_shmem[];\n"
        "void* lhs = ((void*)((char*)buf_dyn_shmem + 0));\n"
        "void* rhs = ((void*)((char*)buf_dyn_shmem + (3 * 4096)));\n"
        "void* use = ((void*)((char*)buf_dyn_shmem + (K * 4)));\n"
        "void* other = ((void*)((char*)A + 16));\n"
    )
    (arena,) = kernel.shared_arrays
    assert (arena.name, arena.element_type, arena.elements) == ("buf_dyn_shmem", "uchar", None)
    assert (arena.dynamic, arena.alignment_bytes, arena.line) == (True, 1024, 5)
    assert [(alias.name, alias.offset_bytes, alias.line) for alias in kernel.arena_aliases] == [
        ("lhs", 0, 6),
        ("rhs", 12288, 7),
    ]


def test_static_arrays(read_body):
    """Dimensions multiply; a size that isn't a number is unknown, not zero."""
    kernel = read_body(
        "__shared__ __align__(16) uint64_t mbarrier_mem[4];\n"
        "__shared__ float tile[3][4], one;\n"
        "__shared__ alignas(64) half sized[N];\n"
        "float local[8];\n"
    )
    found = [
        (array.name, array.elements, array.dynamic, array.alignment_bytes)
        for array in kernel.shared_arrays
    ]
    assert found == [
        ("mbarrier_mem", 4, False, 16),
        ("tile", 12, False, None),
        ("one", 1, False, None),
        ("sized", None, False, 64),
    ]


def test_arrays_of_an_inner_block_belong_to_the_kernel(read_body):
    """TileLang declares in the block that uses the buffer."""
    kernel = read_body("if (K) { for (;;) { __shared__ int inner[2]; } }")
    assert [array.name for array in kernel.shared_arrays] == ["inner"]
