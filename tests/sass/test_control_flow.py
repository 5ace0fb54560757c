"""Blocks and loops of machine code."""

from stagebench.sass.control_flow import control_flow
from stagebench.sass.read import read_sass
from stagebench.sass.sites import spin_loops
from tests.sass.reading import read

_TEXT = """\t.target\tsm_90a
\t.section\t.text.k,"ax",@progbits
        .size           k,(.L_x_9 - k)
k:
        /*0000*/                   MOV R1, 0x1 ;
.L_x_1:
        /*0010*/                   IADD3 R1, R1, 0x1, RZ ;
.L_x_2:
        /*0020*/                   ISETP.NE.AND P0, PT, R1, 0x9, PT ;
        /*0030*/               @P0 BRA `(.L_x_2) ;
        /*0040*/              BRA.U UP0, `(.L_x_1) ;
        /*0050*/                   EXIT ;
.L_x_3:
        /*0060*/                   BRA `(.L_x_3);
.L_x_9:
"""


def test_nested_loops_and_the_padding():
    """Two loops, one in the other; the branch to itself behind EXIT is reached by nothing."""
    flow = control_flow(read_sass(_TEXT, "k"))
    assert flow.starts == (0, 1, 2, 4, 5, 6)
    assert [(flow.starts[loop.header], len(loop.blocks)) for loop in flow.loops] == [(1, 3), (2, 1)]
    assert [len(loop.blocks) for loop in flow.loops_around(3)] == [3, 1]
    assert flow.loops_around(0) == ()
    assert (flow.irreducible, flow.indirect) == (0, 0)


def test_a_branch_that_always_goes_does_not_fall_through():
    """``BRA`` alone leaves; with a predicate, as an operand or in front, it may not."""
    flow = control_flow(read_sass(_TEXT, "k"))
    assert flow.successors[2] == (2, 3)
    assert flow.successors[3] == (1, 4)
    assert flow.successors[4] == ()


def test_a_loop_with_two_entries_is_counted_apart():
    """Control that jumps into the middle makes no natural loop."""
    text = _TEXT.replace("MOV R1, 0x1 ;", "BRA.U UP1, `(.L_x_2) ;")
    flow = control_flow(read_sass(text, "k"))
    assert flow.irreducible == 1


def test_spins_are_no_pipeline():
    """The unrolled GEMM: 8 spins, and the loop that asks for registers until it gets them."""
    flow = control_flow(read("gemm_depth2_sm_90a", "gemm_kernel_kernel"))
    assert (len(flow.loops), len(spin_loops(flow))) == (9, 8)
