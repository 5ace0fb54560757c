"""The work of a grid is that of its blocks, which may differ."""

import pytest

from stagebench.machine import grid_work as grid_work_module
from stagebench.machine.grid_work import GridWork, grid_work
from stagebench.ptx.executed import walk
from stagebench.ptx.thread_class import Placement
from tests.ptx.building import kernel_of

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
PRODUCT = (
    f"\t{MMA} {{%f1,%f2,%f3,%f4}}, {{%r20,%r21,%r22,%r23}}, {{%r24,%r25}}, {{%f1,%f2,%f3,%f4}};\n"
)
TRIPS_OF_THE_BLOCK = (
    "\tmov.u32 %r1, %ctaid.AXIS;\n\tadd.u32 %r1, %r1, 1;\n$L__TOP:\n"
    + PRODUCT
    + "\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra $L__TOP;\n"
)
LOAD = "\tld.global.u32 %r3, [%rd1];\n"


def work_of(body, grid, cluster=(1, 1, 1)):
    module, kernel = kernel_of(body)
    walked = walk(module, kernel, Placement((64, 1, 1), grid, cluster))
    return grid_work(walked, grid, {})


def test_equal_blocks_are_the_grid_times_one():
    """Two warps of each of 8 blocks multiply once, 64 threads of each load 4 bytes."""
    assert work_of(PRODUCT + LOAD, (4, 2, 1)) == GridWork({MMA: 16}, 8 * 64 * 4)


@pytest.mark.parametrize(("axis", "products"), [("x", 2 * (1 + 2 + 3) * 600), ("y", None)])
def test_blocks_that_differ_along_one_axis_are_each_walked(axis, products):
    """1, 2 and 3 trips along x, 600 blocks along y each; 600 different blocks are not known."""
    found = work_of(TRIPS_OF_THE_BLOCK.replace("AXIS", axis), (3, 600, 1))
    assert found.executed == (None if products is None else {MMA: products})


PERSISTENT = (
    "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %nctaid.x;\n$L__TOP:\n"
    + PRODUCT
    + "\tadd.u32 %r1, %r1, %r2;\n\tsetp.lt.u32 %p1, %r1, TILES;\n\t@%p1 bra $L__TOP;\n"
)


@pytest.mark.parametrize("tiles", [132, 133, 1000])
def test_a_persistent_kernel_computes_each_tile_once(tiles):
    """132 CTAs go over the tiles in strides of the grid: some have one tile more than others."""
    found = work_of(PERSISTENT.replace("TILES", str(tiles)), (132, 1, 1))
    assert found.executed == {MMA: 2 * tiles}


def test_long_walks_of_many_blocks_are_not_known():
    """17 blocks of 5000 trips are over the bound on steps; 16 are walked to their end."""
    body = TRIPS_OF_THE_BLOCK.replace("AXIS", "x").replace(
        "add.u32 %r1, %r1, 1", "add.u32 %r1, %r1, 5000"
    )
    assert work_of(body, (17, 1, 1)).executed is None
    assert work_of(body, (16, 1, 1)).executed == {MMA: 2 * (16 * 5000 + sum(range(16)))}


def test_a_guard_of_the_block_hides_bytes_and_not_products():
    """A load behind the block's index is summed where few blocks are, not known where many are."""
    body = f"{PRODUCT}\tmov.u32 %r1, %ctaid.x;\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 {LOAD.strip()}\n"
    assert work_of(body, (4, 1, 1)) == GridWork({MMA: 8}, 64 * 4)
    assert work_of(body, (1000, 1, 1)) == GridWork({MMA: 2000}, None)


def test_data_decides():
    """A branch on what was loaded: neither is known, of one block or of many."""
    body = f"{LOAD}\tsetp.eq.u32 %p1, %r3, 0;\n\t@%p1 bra $L__END;\n{PRODUCT}$L__END:\n"
    assert work_of(body, (1, 1, 1)) == GridWork(None, None)
    assert work_of(body, (2, 1, 1)) == GridWork(None, None)


def test_the_rank_in_a_cluster_is_not_taken_for_block_0():
    """Only the first of each cluster of two multiplies: half of the blocks do."""
    body = (
        "\tmov.u32 %r1, %cluster_ctarank;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra $L__END;\n"
        f"{PRODUCT}$L__END:\n"
    )
    assert work_of(body, (8, 1, 1), (2, 1, 1)).executed == {MMA: 8}


def test_a_symbolic_grid_has_no_work(monkeypatch):
    """Nothing is walked for it."""
    monkeypatch.setattr(grid_work_module, "walk_program", None)
    module, kernel = kernel_of(PRODUCT)
    walked = walk(module, kernel, Placement((64, 1, 1), (1, 1, 1)))
    assert grid_work(walked, None, {}) == GridWork(None, None)
