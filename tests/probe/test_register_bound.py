"""Is a probed build kept to the registers that leave the kernel its occupancy?"""

import pytest

from stagebench.assemble.records import EntryResources, MachineText
from stagebench.probe.audit_resources import registers_for
from stagebench.probe.register_bound import with_register_bound
from tests.probe.texts import kernel, launch

PTX = kernel("\tbar.sync 0;\n\tret;")


def built(registers, smem=0):
    return MachineText(
        ptx="", cubin=b"", sass="",
        resources=EntryResources(
            registers=registers, spill_store_bytes=0, spill_load_bytes=0, stack_bytes=0,
            static_smem_bytes=smem, barriers=1, code_bytes=16,
        ),
        messages=(), ptxas_seconds=0.0, disassembly_seconds=0.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("base", "probed", "most"),
    [
        (51, 65, 64),  # four CTAs of 256 threads: 64 of 65536 registers for each thread
        (51, 64, None),  # four CTAs still
        (64, 66, 64),
        (65, 80, None),  # three CTAs both
        (65, 81, 80),
    ],
)
def test_the_most_registers_that_keep_the_occupancy(base, probed, most):
    """Of 256 threads, on Hopper; registers are given by eights."""
    found = registers_for(built(probed), built(base), launch((256, 1, 1)), "sm_90")
    assert found == most


def test_no_bound_where_shared_memory_decides():
    """One CTA an SM by its shared memory: more registers lower nothing."""
    big = 120 * 1024
    assert registers_for(built(90, big), built(40, big), launch((256, 1, 1)), "sm_90") is None


def test_the_bound_stands_before_the_body_and_moves_no_line():
    """On the line of the brace."""
    bound = with_register_bound(PTX, "k", 64)
    before, after = PTX.split("\n"), bound.split("\n")
    (at,) = [index for index in range(len(before)) if before[index] != after[index]]
    assert after[at] == before[at].replace("{", ".maxnreg 64 {")
    assert len(before) == len(after)


@pytest.mark.parametrize("own", [".maxnreg 40", ".minnctapersm 2"])
def test_a_bound_of_its_own_is_kept(own):
    """Who wrote the kernel meant it."""
    assert with_register_bound(PTX.replace("\n{", f"\n.maxntid 64\n{own}\n{{", 1), "k", 64) is None
