"""Do a walk's facts name roles, bytes and the lines that could not be decided?"""

import pytest

from stagebench.errors import UsageError
from stagebench.model.facts import LaunchParam
from stagebench.ptx.executed import walk
from stagebench.ptx.read import read_module
from stagebench.ptx.thread_class import Placement
from stagebench.ptx.walk_facts import parameter_values, walk_facts
from tests.ptx.building import kernel_of, real

WARPS = Placement(block=(64, 1, 1), grid=(2, 1, 1))


def facts_of(name, threads):
    module = read_module(real(name))
    return walk_facts(walk(module, module.entries[0], Placement((threads, 1, 1), (8, 4, 1))))


def test_roles_of_a_specialised_kernel():
    """Warps that issue TMA are the producer with the lanes that only wait; wgmma the consumer."""
    facts = facts_of("gemm.sm_90a", 256)
    assert [(one.role, one.first_thread, one.threads, one.warps) for one in facts.paths] == [
        ("producer", 0, 1, (0,)),
        ("producer", 1, 127, (0, 1, 2, 3)),
        ("consumer", 128, 128, (4, 5, 6, 7)),
    ]
    assert facts.paths[0].counts["tma_load"] == 16
    assert "tma_load" not in facts.paths[1].counts
    assert facts.paths[2].counts["wgmma"] == 16


def test_a_kernel_without_roles():
    """Every thread copies and multiplies: one path, of all."""
    (path,) = facts_of("gemm.sm_80", 128).paths
    assert (path.role, path.threads) == ("all", 128)
    assert path.counts["cp_async_copy"] == 24


@pytest.mark.parametrize(("name", "threads"), [("gemm.sm_80", 128), ("gemm.sm_90a", 256)])
def test_bytes_of_a_tile_pair(name, threads):
    """Eight tiles of A (64 × 32) and B (32 × 32) of fp16 come in, one of C (64 × 32) goes out."""
    facts = facts_of(name, threads)
    assert facts.bytes_loaded == 8 * (64 * 32 + 32 * 32) * 2
    assert facts.bytes_stored == 64 * 32 * 2


def test_a_copy_that_reads_less():
    """``cp.async`` reads as many bytes as its source size says, thread by thread."""
    module, kernel = kernel_of(
        "\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 10;\n\tselp.b32 %r2, 16, 0, %p1;\n"
        "\tcp.async.cg.shared.global [%r3], [%rd1], 16, %r2;\n"
    )
    assert walk_facts(walk(module, kernel, WARPS)).bytes_loaded == 10 * 16


def test_a_store_through_a_descriptor():
    """A TMA store's bytes are its box, which the caller knows; without it they are not known."""
    module, kernel = kernel_of(
        "\tmov.b64 %rd1, kernel_param_0;\n\tcvta.param.u64 %rd2, %rd1;\n"
        "\tmov.u32 %r1, %tid.x;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n"
        "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r3}], [%r4];\nEND:\n"
    )
    found = walk(module, kernel, WARPS)
    assert walk_facts(found, {"kernel_param_0": 4096}).bytes_stored == 4096
    assert walk_facts(found).bytes_stored is None


def test_a_walk_that_stopped_keeps_no_counts():
    """The CUDA line of the branch is named, and nothing else is claimed."""
    module, kernel = kernel_of(
        "\t.loc 1 3 0\n\tld.global.u32 %r1, [%rd1];\n\tsetp.eq.s32 %p1, %r1, 0;\n\t.loc 1 12 3\n"
        "\t@%p1 bra OVER;\n\tbar.sync 0;\nOVER:\n"
    )
    facts = walk_facts(walk(module, kernel, WARPS))
    assert facts.unknown_branches == (12,)
    assert (facts.complete, facts.paths, facts.bytes_loaded) == (False, (), None)


def test_parameters_by_position():
    """Tensors get distinct addresses, scalars their values; a wrong number of them is refused."""
    _, kernel = kernel_of("")
    tensor = LaunchParam(name="A", kind="tensor", dtype="float16")
    scalar = LaunchParam(name="K", kind="scalar", dtype="int32")
    values = parameter_values(kernel, (tensor, scalar), {"K": 256})
    assert values["kernel_param_1"] == 256
    assert values["kernel_param_0"] > 0
    assert parameter_values(kernel, (tensor, scalar), {})["kernel_param_1"] is None
    with pytest.raises(UsageError, match="2 parameters in its PTX, 1 in its launch plan"):
        parameter_values(kernel, (tensor,), {})
