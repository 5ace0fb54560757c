"""Is PTX of other compilers read without an unknown, and counted the same way?"""

import shutil
import subprocess

import pytest

from stagebench.ptx.executed import walk
from stagebench.ptx.read import read_module
from stagebench.ptx.sites import sync_sites
from stagebench.ptx.thread_class import Placement
from tests.ptx.building import DATA, real


def test_the_dialect_of_triton():
    """Spaces in addresses, labels behind comments, sections of one line, a bare scope in asm."""
    module = read_module(real("triton"))
    kernel = module.entries[0]
    assert module.unknown_opcodes == ()
    assert kernel.directives == {".reqntid": (128,)}
    found = walk(module, kernel, Placement((128, 1, 1), (1, 1, 1)))
    (group,) = found.groups
    assert {site.op: group.counts[site.index] for site in found.program.sites} == {
        "cp_async_copy": 1,
        "cp_async_commit": 1,
        "mbarrier_init": 1,
        "syncthreads": 1,
        "cp_async_wait": 6,
        "mbarrier_wait": 6,
        "wgmma": 6,
    }


def test_the_dialect_of_cutlass():
    """Multicast, remote arrivals, polls with a result, reductions in bulk, cluster barriers."""
    module = read_module(real("cutlass"))
    assert module.unknown_opcodes == ()
    kernel = module.entries[0]
    assert kernel.directives[".reqnctapercluster"] == (2, 1, 1)
    assert [(one.op, one.args.get("mode")) for one in sync_sites(kernel)] == [
        ("tma_load", "multicast"),
        ("mbarrier_arrive", None),
        ("wgmma", None),
        ("mbarrier_try_wait", None),
        ("cluster_sync", None),
        ("tma_store", "reduce"),
        ("tma_store_commit", None),
        ("tma_store_wait", None),
    ]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc on this machine")
    folder = tmp_path_factory.mktemp("elsewhere")
    source, out = DATA / "plain.cu", folder / "plain.ptx"
    command = ["nvcc", "-w", "-ptx", "-lineinfo", "-arch", "sm_90", source, "-o", out]
    subprocess.run(command, cwd=folder, check=True)
    return out.read_text()


def test_what_nvcc_makes_of_plain_cuda(compiled):
    """Shuffles, atomics, half2, a switch, calls, printf, doubles: nothing is unknown."""
    module = read_module(compiled)
    assert module.unknown_opcodes == ()
    assert {one.name for one in module.entries} == {"reduce", "choose"}
    heads = {one.head for function in module.functions for one in function.instructions}
    assert heads >= {"shfl", "atom", "call", "fma", "vote", "cvt", "sqrt"}
    for function in module.entries:
        for site in sync_sites(function):
            assert not site.op.startswith("unknown:")
            assert site.cuda_line is not None


def test_a_walk_of_plain_cuda(compiled):
    """The reduction's loop runs as often as its scalar says; thread 0 alone fences."""
    module = read_module(compiled)
    kernel = next(one for one in module.entries if one.name == "reduce")
    params = {kernel.params[2].name: 1000}
    found = walk(module, kernel, Placement((64, 1, 1), (2, 1, 1)), params)
    assert found.complete
    fences = {group.threads: group for group in found.groups}
    sites = {site.op: site.index for site in found.program.sites}
    assert {one: g.counts[sites["threadfence"]] for one, g in fences.items() if 0 in one} == {
        (0,): 1
    }
    assert all(group.counts[sites["syncthreads"]] == 1 for group in found.groups)
    loads = [i for i, name in found.program.families.items() if name == "ld_global"]
    total = sum(
        len(group.threads) * sum(group.counts[index] for index in loads) for group in found.groups
    )
    assert total == 64 * 8  # of 1000 elements in steps of 128, eight for each thread of CTA 0
