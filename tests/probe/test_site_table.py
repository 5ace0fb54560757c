"""Does a site carry its Python line, role, section and what its mbarrier is for?"""

from __future__ import annotations

import pytest

from stagebench.errors import UsageError
from stagebench.model.facts import Barrier, SyncOp
from stagebench.probe.barrier_use import barrier_kind
from stagebench.probe.cta_dependence import depends_on_cta
from stagebench.probe.layout import (
    COUNT,
    EXIT,
    HARDWARE_WARP,
    HEADER_BYTES,
    RECORD_BYTES,
    SM,
    TIMER_ENTRY,
    TIMER_EXIT,
    Layout,
    Shape,
    cap_within,
    ordinal_bits,
    sample,
    shape_of,
)
from stagebench.ptx.read import read_module
from stagebench.timing.probe_buffer import HEADER, RECORD
from tests.probe.texts import kernel, launch


def _barrier(kind, first, count=3):
    return Barrier(name="mbarrier", first=first, count=count, arrive_count=1, kind=kind, guards=())


RING = [_barrier("full", 0), _barrier("empty", 3)]


def _wait(barrier, role="all", loops=("k<16",)):
    return SyncOp(
        op="mbarrier_wait", role=role, section="body", static=1, dynamic=16,
        args={"barrier": barrier}, file="gemm.py", line=47, line_kind="exact", loops=loops,
        guards=(), intrinsic="", cuda_line=46,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("barrier", "role", "kind"),
    [
        ("mbarrier[T.truncmod(k, 3)]", "all", "full"),
        ("mbarrier[T.truncmod(k, 3) + 3]", "all", "empty"),
        ("mbarrier[2]", "all", "full"),
        ("mbarrier[3]", "all", "empty"),
        ("mbarrier[k % 3 + 3]", "all", "empty"),
        ("mbarrier[T.truncmod(k, 4)]", "all", None),
        ("mbarrier[slot]", "all", None),
        ("mbarrier[slot]", "producer", "empty"),
        ("mbarrier[T.if_then_else(a, b]", "consumer", "full"),
        ("other[0]", "consumer", None),
        ("mbarrier[9]", "consumer", None),
    ],
)
def test_barrier_kind(barrier, role, kind):
    """What a wait is for follows from the bounds of its index, else from the role, else not."""
    assert barrier_kind(_wait(barrier, role), RING) == kind


def test_no_barrier():
    """A wait that names no barrier has no kind."""
    op = _wait("mbarrier[0]")
    nameless = SyncOp(**{**{name: getattr(op, name) for name in op.__struct_fields__}, "args": {}})

    assert barrier_kind(nameless, RING) is None


def test_same_layout_as_the_decoder():
    """What the builder stores where is read there: each offset is a field's, sizes agree."""
    offsets = {name: offset for name, (_, offset, *_) in HEADER.fields.items()}
    assert offsets["timer_entry"] == TIMER_ENTRY
    assert offsets["timer_exit"] == TIMER_EXIT
    assert (offsets["sm"], offsets["count"], offsets["exit"]) == (SM, COUNT, EXIT)
    assert offsets["hardware_warp"] == HARDWARE_WARP
    assert (HEADER.itemsize, RECORD.itemsize) == (HEADER_BYTES, RECORD_BYTES)


@pytest.mark.parametrize(
    ("grid", "most", "expected"),
    [
        ((8, 8, 1), 64, (64, 1)),
        ((100, 1, 1), 64, (64, 1)),
        ((32, 32, 1), 64, (64, 16)),
        ((3, 1, 1), 64, (3, 1)),
        ((10, 1, 1), 3, (3, 3)),
    ],
)
def test_sample(grid, most, expected):
    """The sample is spread over the grid and stays inside it."""
    shape = Shape(grid=grid, block=(32, 1, 1))
    sampled, step = sample(shape, most)

    assert (sampled, step) == expected
    assert (sampled - 1) * step < shape.ctas


def test_linear_cta():
    """A linear id is taken apart with x fastest."""
    shape = Shape(grid=(2, 3, 4), block=(8, 4, 3))

    assert [shape.cta(one) for one in (0, 1, 2, 6, 23)] == [
        (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3),
    ]  # fmt: skip
    assert shape.warps == 3


def test_cap_within():
    """The room for records follows from the bytes; none at all is an error with a way out."""
    assert cap_within(4 * (64 + 16 * 5) + 60, 4, 1) == 5
    with pytest.raises(UsageError, match="don't fit"):
        cap_within(4 * 64, 4, 1)


@pytest.mark.parametrize(("sites", "bits"), [(0, 31), (1, 31), (2, 30), (3, 30), (4, 29)])
def test_ordinal_bits(sites, bits):
    """The calibration's id, which is the number of sites, has room above the ordinal."""
    assert ordinal_bits(sites) == bits
    assert sites < 1 << (32 - bits)


def test_so_many_sites_that_ordinals_are_short():
    """The index must fit the tag: the room is what its bits can tell apart."""
    assert cap_within(1 << 32, 1, (1 << 22) - 1) == 1 << 10


def test_symbolic_launch():
    """A grid that is an expression has no probes yet."""
    with pytest.raises(UsageError, match="isn't known"):
        shape_of(launch(grid=("M // 128", 1, 1)))


def test_buffer_bytes():
    """The buffer is all lanes of the sampled CTAs."""
    found = Layout(shape=Shape(grid=(8, 1, 1), block=(33, 1, 1)), sampled=4, step=2, cap=3)

    assert (found.stride, found.buffer_bytes) == (112, 4 * 2 * 112)


def _depends(body):
    function = read_module(kernel("\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n" + body)).entries[0]
    waits = {at for at, one in enumerate(function.instructions) if one.head == "bar"}
    return depends_on_cta(function, frozenset(waits))


def test_cta_dependence():
    """A branch on something made from the CTA's index makes CTAs differ; its use elsewhere not."""
    compared = "\tmov.u32 %r1, %ctaid.x;\n\tadd.u32 %r2, %r1, 1;\n\tsetp.lt.u32 %p1, %r2, 4;\n"

    assert _depends(compared + "\t@%p1 bra $L;\n\tbar.sync 0;\n$L:\n\tret;\n")
    assert _depends(compared + "\t@%p1 bar.sync 0;\n\tret;\n")
    assert _depends(compared + "\t@!%p1 ret;\n\tbar.sync 0;\n\tret;\n")
    assert not _depends(compared + "\t@%p1 st.global.u32 [%r3], %r2;\n\tbar.sync 0;\n\tret;\n")
    assert not _depends(
        "\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 4;\n\t@%p1 bra $L;\n\tbar.sync 0;\n$L:\n"
        "\tret;\n"
    )


def test_cta_dependence_in_a_loop():
    """What comes round a loop into a branch is found, whatever the order of the text."""
    assert _depends(
        "$L:\n\tsetp.lt.u32 %p1, %r2, 4;\n\t@%p1 bra $E;\n\tbar.sync 0;\n\tmov.u32 %r1, %ctaid.y;\n"
        "\tmov.u32 %r2, %r1;\n\tbra $L;\n$E:\n\tret;\n"
    )
