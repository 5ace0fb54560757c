"""nvdisasm's text becomes instructions, or is refused with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagebench.sass.line_grammar import operands
from stagebench.sass.program import SourceLine
from stagebench.sass.read import SassSyntaxError, read_sass
from tests.sass.reading import read, text

_HEAD = '\t.target\tsm_90a\n\n\t.section\t.text.k,"ax",@progbits\n'
_SIZE = "        .size           k,(.L_x_1 - k)\n"


def _kernel(*lines):
    return _HEAD + _SIZE + "k:\n.text.k:\n" + "".join(f"{line}\n" for line in lines) + ".L_x_1:\n"


def test_an_instruction_has_its_parts():
    """Address, predicate, opcode, operands and both kinds of line are read."""
    function = read("manual_ring_sm_80", "kernel_kernel")
    assert (function.arch, len(function.instructions), function.code_bytes) == ("sm_80", 240, 3840)
    assert function.unknown_opcodes == ()
    instruction = function.instructions[30]
    assert (instruction.pc, instruction.predicate) == (0x1E0, None)
    assert instruction.opcode == "LOP3.LUT"
    assert instruction.operands == ("R4", "R5", "0xffff", "RZ", "0xc0", "!PT")
    assert (instruction.ptx_line, instruction.cuda_line) == (1182, 44)


def test_the_two_kinds_of_line_stay_independently():
    """A new PTX line leaves the CUDA line in force, and the other way round."""
    function = read_sass(
        _kernel(
            '\t//## File "h.h", line 3 inlined at "kernel.cu", line 9',
            '\t//## File "kernel.cu", line 9',
            '\t//## File ".nv_debug_ptx_txt", line 24',
            "        /*0000*/                   LDC R1, c[0x0][0x28] ;",
            '\t//## File ".nv_debug_ptx_txt", line 25',
            "        /*0010*/              @!P0 BRA `(.L_x_1) ;",
            '\t//## File "kernel.cu", line 10',
            "        /*0020*/                   EXIT ;",
        ),
        "k",
    )
    first, second, third = function.instructions
    assert first.inline_chain == (SourceLine("h.h", 3), SourceLine("kernel.cu", 9))
    assert (first.ptx_line, first.cuda_line) == (24, 9)
    assert (second.ptx_line, second.cuda_line, second.predicate) == (25, 9, "!P0")
    assert (third.ptx_line, third.cuda_line) == (25, 10)
    assert function.labels[".L_x_1"] == 3


def test_an_unknown_opcode_is_kept_and_named():
    """An instruction of another generation is in the program and in the list."""
    function = read_sass(_kernel("        /*0000*/                   WIBBLE.X R1, R2 ;"), "k")
    assert [i.opcode for i in function.instructions] == ["WIBBLE.X"]
    assert function.unknown_opcodes == ("WIBBLE",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["        /*0010*/                   EXIT ;"], "address 0x0000 is missing"),
        (["        /*0000*/                   EXIT"], "not a shape"),
        (["        /*0000*/                   { EXIT ; }"], "not a shape"),
        (["        /*0000*/                   MOV R1, [R2 ;"], "operand of unknown shape"),
        (["        /*0000*/                   BRA `(.L_x_9) ;"], r"goes to \.L_x_9"),
        (["        /*0000*/                   EXIT ;", "        .wibble 3"], "not a shape"),
        (["        /*0000*/                   EXIT ;", ".L_x_1:"], "a label that stands twice"),
    ],
)
def test_what_is_not_understood_is_refused(lines, message):
    """A gap, a cut line, an operand, a branch or a directive that we don't know raises."""
    with pytest.raises(SassSyntaxError, match=message):
        read_sass(_kernel(*lines), "k")


def test_a_section_that_is_cut_off_is_refused():
    """The label that ends the function must be there."""
    whole = text("gemm_depth2_sm_90a")
    with pytest.raises(SassSyntaxError, match="the section ends before"):
        read_sass(whole[: whole.rindex("        /*")], "gemm_kernel_kernel")


def test_another_function_is_named():
    """Asked for a function that isn't there, the message says which are."""
    with pytest.raises(SassSyntaxError, match=r"no section \.text\.other .*\.text\.k"):
        read_sass(text("wgmma_sm_90a"), "other")


_LINES = text("both_groups_sm_90a").split("\n")
_PLACES = [at for at, line in enumerate(_LINES) if line.startswith("        /*")]
_COUNT = len(_PLACES)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(_PLACES),
    st.integers(0, 70),
    st.sampled_from(["", ";", "`", "[", "(", "R", " ", "@", "0", "/", "\t", "\n", "X", "."]),
    st.integers(0, 3),
)
def test_a_mutated_line_never_loses_an_instruction(place, column, inserted, removed):
    """Whatever is done to a line, it is refused or every instruction is still there."""
    line = _LINES[place]
    column = min(column, len(line))
    mutated = line[:column] + inserted + line[column + removed :]
    changed = "\n".join([*_LINES[:place], mutated, *_LINES[place + 1 :]])
    try:
        function = read_sass(changed, "k")
    except SassSyntaxError:
        return
    assert len(function.instructions) == _COUNT


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(_PLACES[:-1]))  # nothing but a label follows the last one
def test_a_removed_line_is_noticed(place):
    """The address behind it no longer follows."""
    changed = "\n".join([*_LINES[:place], *_LINES[place + 1 :]])
    with pytest.raises(SassSyntaxError, match="is missing before"):
        read_sass(changed, "k")


@pytest.mark.parametrize("text", ["|R4|", "-|R4|.reuse", "|c[0x0][0x1d0]|", "-|c[0x0][0x1d0]|"])
def test_an_absolute_value(text):
    """Of a register or of a constant; one that is not closed is no operand."""
    assert operands(f"R0, {text}, !P0") == ("R0", text, "!P0")
    assert operands(f"R0, {text.replace('|', '', 1)}, !P0") is None
