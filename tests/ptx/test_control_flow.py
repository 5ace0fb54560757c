"""Are blocks, dominators and loops those of the program?"""

import pytest

from stagebench.errors import UsageError
from stagebench.ptx.control_flow import control_flow, dominators, targets_of
from tests.ptx.building import WAIT, kernel_of

NEST = """\
OUTER:
	add.s32 %r1, %r1, 1;
INNER:
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, 4;
	@%p1 bra INNER;
	setp.lt.s32 %p2, %r1, 8;
	@!%p2 bra AFTER;
	bra.uni OUTER;
AFTER:
"""


def test_nested_loops():
    """Two loops, one in the other; an instruction of the inner one is in both."""
    _, kernel = kernel_of(NEST)
    flow = control_flow(kernel)
    assert [(one.first, one.end, one.successors) for one in flow.blocks] == [
        (0, 1, (1,)),
        (1, 4, (1, 2)),
        (4, 6, (4, 3)),
        (6, 7, (0,)),
        (7, 8, ()),
    ]
    assert [(loop.header, sorted(loop.blocks)) for loop in flow.loops] == [
        (0, [0, 1, 2, 3]),
        (1, [1]),
    ]
    assert [len(flow.loops_of(index)) for index in range(8)] == [1, 2, 2, 2, 1, 1, 1, 0]
    assert flow.idom == (None, 0, 1, 2, 2)
    assert flow.post_idom == (1, 2, 4, 0, None)


def test_a_spin_in_inline_asm_is_one_unit():
    """Branches inside an inline-asm block make no blocks and no loop, unless they are asked for."""
    _, kernel = kernel_of(WAIT)
    assert len(control_flow(kernel).blocks) == 1
    assert control_flow(kernel).loops == ()
    inside = control_flow(kernel, units=False)
    assert len(inside.blocks) == 4 - 1
    assert [loop.header for loop in inside.loops] == [0]


def test_a_table_of_targets():
    """``brx.idx`` goes to each of its targets and does not fall through."""
    _, kernel = kernel_of(
        "ts: .branchtargets A, B;\n\tbrx.idx %r1, ts;\nA:\n\tbar.sync 0;\nB:\n\tbar.sync 1;\n"
    )
    flow = control_flow(kernel)
    assert targets_of(kernel, 0) == (1, 2)
    assert flow.blocks[0].successors == (1, 2)
    assert kernel.find_label("ts", 0) is None


def test_a_guarded_way_out():
    """``@%p1 ret`` leaves or goes on; nothing post-dominates it but the way out."""
    _, kernel = kernel_of("\t@%p1 ret;\n\tbar.sync 0;\n")
    flow = control_flow(kernel)
    assert (flow.blocks[0].successors, flow.blocks[0].leaves) == ((1,), True)
    assert flow.post_idom == (None, None)


def test_what_is_never_reached_is_no_loop():
    """A block without a way to it has no dominator, and its jump back to itself is no loop."""
    _, kernel = kernel_of("\tbra END;\nDEAD:\n\tbra DEAD;\nEND:\n")
    flow = control_flow(kernel)
    assert flow.idom[1] is None
    assert flow.loops == ()


def test_a_label_that_is_not_in_scope():
    """A branch into another scope's label is an error of the text that is named, not ignored."""
    _, kernel = kernel_of("\t{\n\tHIDDEN:\n\tbar.sync 0;\n\t}\n\tbra HIDDEN;\n")
    with pytest.raises(UsageError, match="bra goes to a label that is not in scope: HIDDEN"):
        control_flow(kernel)


def test_dominators_of_a_diamond_with_a_cross():
    """Where two ways meet, only what is on both dominates."""
    assert dominators([(1, 2), (3,), (3, 4), (4,), ()], 0) == [None, 0, 0, 0, 0]
