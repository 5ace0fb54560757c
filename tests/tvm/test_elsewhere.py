"""Is what real programs of others are made of read right?  Small kernels of the same shapes.

Where each was seen: ``experiments/programs_from_elsewhere.md``.
"""

from pathlib import Path

import pytest

from tests.tvm.lowering import lower, needs_tvm, request

pytestmark = needs_tvm
KERNELS = Path(__file__).with_name("kernels")
NAMES = ("private", "traced", "schedule", "unbound", "arena", "cluster", "among_gpus")


@pytest.fixture(scope="module")
def found():
    """The lowerings by name."""
    asked = [request(name, path=KERNELS / "elsewhere.py") for name in NAMES]
    return dict(zip(NAMES, lower(*asked), strict=True))


def facts(one):
    assert one.result.failure is None
    return one.result.facts


@pytest.mark.parametrize("name", ["private", "traced", "schedule"])
def test_a_private_function_is_an_entry(found, name):
    """By itself, in what holds a module as ``mod``, and in a schedule."""
    seen = facts(found[name])
    assert seen.launch.block == (32, 1, 1)
    assert [t.name for t in seen.launch.tensors] == ["A_ptr", "B_ptr"]


def test_scalars_and_vectors_of_four_halves(found):
    """A scalar buffer has no leading dimension, and the constructor ``half4`` is no site."""
    seen = facts(found["private"])
    assert "half4(" in found["private"].kernel_cu
    assert (seen.sync_totals, seen.diagnostics) == ({}, ())


def test_a_message_that_announces_the_next_line(found):
    """The compiler's first line says that errors follow: the first of them is said too."""
    message = found["unbound"].result.failure.message
    assert message.startswith("RuntimeError: Memory verification failed with the following errors:")
    assert "`B_ptr` is directly accessed by host memory" in message


def test_an_arena_with_mbarriers_as_views(found):
    """The launch says how large it is; a view's slots are its own, and none is lost."""
    seen = facts(found["arena"])
    assert seen.launch.dynamic_smem_bytes == 1024 + 3 * 8
    assert [(b.name, b.first, b.count, b.arrive_count) for b in seen.barriers] == [
        ("full", 0, 3, 1)
    ]
    assert seen.diagnostics == ()


def test_a_cluster_sync_is_one_site(found):
    """In the IR it is one call, in CUDA a function that arrives and waits."""
    assert "barrier.cluster.arrive" in found["cluster"].kernel_cu
    seen = facts(found["cluster"])
    assert {op: t.static for op, t in seen.sync_totals.items()} == {"cluster_sync": 1}
    assert seen.diagnostics == ()


def test_operations_among_gpus_are_named(found):
    """NVSHMEM is not in the taxonomy: each is unknown by the name that CUDA has for it too."""
    seen = facts(found["among_gpus"])
    assert {op: t.static for op, t in seen.sync_totals.items()} == {
        "unknown:nvshmemx_getmem_nbi_block": 1,
        "unknown:nvshmem_quiet": 1,
    }
    assert {d.code for d in seen.diagnostics} == {"unknown-op"}


def test_a_descriptor_that_a_pass_made():
    """``T.tile.copy_async`` has none: the pass that chooses TMA for it encodes one."""
    (one,) = lower(request("load", path=KERNELS / "copied_by_dispatch.py"))
    (descriptor,) = facts(one).launch.tma_descriptors
    assert (descriptor.name, descriptor.tensor) == ("A_ptr_tensormap", "A_ptr")
    assert (descriptor.rank, descriptor.box) == (3, (64, 8, 4))
    assert (descriptor.global_shape, descriptor.global_strides_bytes) == ((64, 8, 4), (2, 512, 128))
    assert descriptor.swizzle == 3
    (load,) = (op for op in facts(one).sync_ops if op.op == "tma_load")
    assert load.args["descriptor"] == "A_ptr_tensormap"
    assert [(b.name, b.first, b.count) for b in facts(one).barriers] == [("full", 0, 1)]
