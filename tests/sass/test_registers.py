"""Registers that the code names, in all and by role."""

from stagebench.sass.control_flow import control_flow
from stagebench.sass.histogram import opcode_histogram
from stagebench.sass.program import Instruction
from stagebench.sass.registers import registers_used, role_registers
from tests.sass.reading import read


def _instruction(opcode, *operands):
    return Instruction(0, 0, None, opcode, operands, None, (), 1)


def test_the_highest_register_counts():
    """One more than its number; uniform registers, RZ and special registers are others."""
    assert registers_used([_instruction("IADD3", "R4", "R17.reuse", "UR60", "RZ")]) == 18
    assert registers_used([_instruction("S2R", "R0", "SR_CTAID.X"), _instruction("EXIT")]) == 1
    assert registers_used([_instruction("EXIT")]) == 0


def test_wide_operands_count_whole():
    """An address of 64 bits, and the accumulators of a warp-group."""
    assert registers_used([_instruction("STG.E", "desc[UR4][R8.64+0x10]", "R2")]) == 10
    wide = _instruction("HGMMA.64x128x16.F32", "R24", "gdesc[UR4]", "R24")
    assert registers_used([wide]) == 88
    half = _instruction("HGMMA.64x128x16.F16", "R24", "gdesc[UR4]", "R24")
    assert registers_used([half]) == 56
    assert registers_used([_instruction("LDTM.x64", "R4", "tmem[UR4]")]) == 68


def test_roles_of_a_warp_specialised_kernel():
    """Budget from setmaxnreg, use from the code behind it."""
    flow = control_flow(read("gemm_depth2_sm_90a", "gemm_kernel_kernel"))
    assert [(r.role, r.budget, r.used) for r in role_registers(flow)] == [
        ("consumer", 240, 56),
        ("producer", 24, 4),
    ]


def test_a_kernel_without_roles_has_none():
    """Ampere code has one use, 2 less than ptxas reports (78)."""
    function = read("manual_ring_sm_80", "kernel_kernel")
    assert role_registers(control_flow(function)) == ()
    assert registers_used(function.instructions) == 76


def test_histogram():
    """Static counts by opcode head."""
    counts = opcode_histogram(read("manual_ring_sm_80", "kernel_kernel"))
    assert (counts["HMMA"], counts["LDGSTS"], counts["LDGDEPBAR"]) == (16, 12, 7)
    assert sum(counts.values()) == 240
    assert list(counts) == sorted(counts)
