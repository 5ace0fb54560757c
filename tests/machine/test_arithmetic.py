"""FLOPs, bytes and floors."""

import pytest

from stagebench.machine.arithmetic import (
    MmaKind,
    Traffic,
    UnknownMmaError,
    arithmetic,
    mma_kind,
)

_WGMMA = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        (_WGMMA, MmaKind(64, 128, 16, "f16", "f32")),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
            MmaKind(16, 8, 16, "bf16", "f32"),
        ),
        (
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32",
            MmaKind(16, 8, 32, "u8", "s32"),
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2",
            MmaKind(64, 8, 32, "e4m3xe5m2", "f32"),
        ),
        ("tcgen05.mma.m128n128k16.f16.f32", MmaKind(128, 128, 16, "f16", "f32")),
    ],
)
def test_shape_and_types_of_an_instruction(instruction, kind):
    """The accumulator is named first; a layout or a modifier is no type."""
    assert mma_kind(instruction) == kind


@pytest.mark.parametrize(
    "instruction",
    [
        "tcgen05.mma.cta_group::1.kind::f16",
        "mma.sync.aligned.m16n8k16.row.col",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    ],
)
def test_an_instruction_that_cannot_be_read_is_refused(instruction):
    """A shape in a descriptor, missing types, sparse operands: an error that names it."""
    with pytest.raises(UnknownMmaError, match=instruction.split(".", 1)[0]):
        mma_kind(instruction)


def test_the_work_of_a_gemm():
    """4096³ in f16: 1024 CTAs of 2 warp-groups and 64 tiles of 4 products; 2 · 4096³ FLOPs."""
    size = 4096
    found = arithmetic(
        "sm_90a",
        {_WGMMA: 2 * 64 * 4},
        {_WGMMA: 1024 * 2 * 64 * 4},
        Traffic(moved_bytes=1024 * 2129920, tensor_bytes=[2 * size * size] * 3),
    )
    (shape,) = found.mma
    assert (shape.m, shape.n, shape.k, shape.executed) == (64, 128, 16, 512)
    assert found.flops == 2 * size**3
    assert found.compulsory_bytes == 100663296
    assert found.moved_bytes == 1024 * 2129920
    assert found.intensity == pytest.approx(1365.33, abs=0.01)
    first, second = found.floors
    assert (first.device, second.device) == ("H100 SXM", "H200 SXM")
    assert first.compute_us == pytest.approx(138.91, abs=0.01)
    assert first.memory_us == pytest.approx(30.05, abs=0.01)
    assert (first.floor_us, first.bound_by) == (first.compute_us, "compute")
    assert second.memory_us == pytest.approx(20.97, abs=0.01)


def test_no_matrix_instruction_is_zero_and_unknown_is_none():
    """Looked and found none: 0 FLOPs, a floor by memory; never looked: no FLOPs, no time."""
    traffic = Traffic(moved_bytes=None, tensor_bytes=[2039 * 10**6])
    none = arithmetic("sm_80", {}, {}, traffic)
    assert (none.flops, none.floors[0].compute_us, none.floors[0].bound_by) == (0, 0.0, "memory")
    assert none.floors[0].floor_us == pytest.approx(1000.0)
    unknown = arithmetic("sm_80", None, None, traffic)
    assert (none.mma, unknown.mma) == ((), None)
    assert (unknown.flops, unknown.intensity, unknown.floors[0].compute_us) == (None, None, None)
    assert unknown.moved_bytes is None


def test_a_symbolic_grid_has_no_total():
    """Executions of a CTA are known, those of the grid are not."""
    found = arithmetic("sm_90a", {_WGMMA: 8}, None, Traffic(moved_bytes=None, tensor_bytes=[64]))
    assert (found.mma[0].flops, found.flops, found.moved_bytes) == (8 * 262144, None, None)
    assert found.floors[0].compute_us is None


def test_blocks_that_differ_are_not_block_0_times_the_grid():
    """Block 0 executes 8 products, four blocks together 20: the FLOPs are those of 20."""
    found = arithmetic(
        "sm_90a", {_WGMMA: 8}, {_WGMMA: 20}, Traffic(moved_bytes=0, tensor_bytes=[64])
    )
    assert (found.mma[0].executed, found.flops) == (8, 20 * 262144)
    assert found.floors[0].compute_us == pytest.approx(20 * 262144 / 989e6, rel=0.01)


def test_a_rate_that_is_not_known_gives_no_compute_floor():
    """fp8 on an A100: no rate, no time; memory still bounds it."""
    name = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
    found = arithmetic("sm_80", {name: 1}, {name: 1}, Traffic(moved_bytes=0, tensor_bytes=[64]))
    assert found.floors[0].compute_us is None
    assert found.floors[0].floor_us == found.floors[0].memory_us


def test_no_tensor_sizes_no_floor():
    """Without compulsory bytes there is nothing to stand against."""
    found = arithmetic("sm_80", {}, {}, Traffic(moved_bytes=0, tensor_bytes=None))
    assert (found.floors, found.intensity, found.compulsory_bytes) == ((), None, None)
