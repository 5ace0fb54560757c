"""Is a PTX text read as it stands, and is what is not understood named by its line?"""

import pytest

from stagebench.ptx.read import read_module
from stagebench.ptx.records import (
    Address,
    Arguments,
    Guard,
    Integer,
    Location,
    Name,
    Negated,
    Offset,
    Pair,
    Real,
    Vector,
)
from stagebench.ptx.syntax_error import PtxSyntaxError
from tests.ptx.building import FIRST_LINE, HEAD, WAIT, kernel_of, real, text_of


def only(body):
    _, kernel = kernel_of(body)
    return kernel.instructions[0]


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("mov.u32 %r1, -8;", (Name("%r1"), Integer(-8))),
        ("mov.u32 %r1, 0x1FU;", (Name("%r1"), Integer(31))),
        ("mov.u32 %r1, 010;", (Name("%r1"), Integer(8))),
        ("mov.u32 %r1, smem+16;", (Name("%r1"), Offset(Name("smem"), 16))),
        ("mov.f32 %f1, 0f3F800000;", (Name("%f1"), Real("0f3F800000"))),
        ("ld.global.u32 %r1, [%rd1+-8];", (Name("%r1"), Address(Offset(Name("%rd1"), -8)))),
        ("st.shared.v2.u32 [smem], {%r1, %r2};",
         (Address(Name("smem")), Vector((Name("%r1"), Name("%r2"))))),
        ("setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;",
         (Pair(Name("%p1"), Name("%p2")), Name("%r1"), Integer(0), Negated(Name("%p3")))),
        ("mbarrier.arrive.shared::cta.b64 _, [%r1];", (Name("_"), Address(Name("%r1")))),
        ("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes "
         "[%r1], [%rd1, {%r2, %r3}], [%r4];",
         (Address(Name("%r1")), Address(Name("%rd1"), (Vector((Name("%r2"), Name("%r3"))),)),
          Address(Name("%r4")))),
        ("call.uni (retval0), vprintf, (param0, param1);",
         (Arguments((Name("retval0"),)), Name("vprintf"),
          Arguments((Name("param0"), Name("param1"))))),
        ("bar.sync 0;", (Integer(0),)),
        ("membar.gl;", ()),
    ],
)  # fmt: skip
def test_operands(text, operands):
    """Each form of an operand is read to its value."""
    found = only(f"\t{text}\n")
    assert found.operands == operands
    assert found.opcode == text.split()[0].rstrip(";")


def test_guards_and_places():
    """A guard is read with its negation; lines and columns are those of the text, from 1."""
    _, kernel = kernel_of("\t@!%p3 add.s32 %r1,\n\t\t%r2, 1;\n\t@%p1 bra  DONE;\nDONE:\n")
    add, bra, _ = kernel.instructions
    assert add.guard == Guard("%p3", negated=True)
    assert bra.guard == Guard("%p1", negated=False)
    span = add.span
    assert (span.line, span.column) == (FIRST_LINE, 2)
    assert (span.last_line, span.last_column) == (FIRST_LINE + 1, 9)
    assert [label.name for label in kernel.labels] == ["DONE"]
    assert kernel.labels[0].index == 2


def test_comments_are_no_code():
    """An instruction or a label in a comment is not there; one behind a comment is."""
    _, kernel = kernel_of("\t// bar.sync 0;\n\t/* ret; L: */ bar.sync 1, 64; // bar.sync 2;\n")
    assert [one.opcode for one in kernel.instructions] == ["bar.sync", "ret"]
    assert kernel.instructions[0].operands == (Integer(1), Integer(64))
    assert kernel.labels == ()


def test_a_label_may_look_like_an_opcode():
    """``bar:`` is a label, and ``bra bar;`` goes to it."""
    _, kernel = kernel_of("bar:\n\tbra bar;\n")
    assert kernel.find_label("bar", 0) == 0
    assert kernel.instructions[0].opcode == "bra"


def test_the_same_label_in_two_blocks():
    """Labels and registers of an inline-asm block are its own: the same names can recur."""
    _, kernel = kernel_of(WAIT + WAIT)
    assert [(one.line, one.last_line) for one in kernel.asm_blocks] == [
        (FIRST_LINE, FIRST_LINE + 9),
        (FIRST_LINE + 10, FIRST_LINE + 19),
    ]
    first, second = (kernel.instructions[one.first] for one in kernel.asm_blocks)
    assert first.operands == second.operands
    assert kernel.find_register("P1", first.scope) != kernel.find_register("P1", second.scope)
    assert kernel.find_register("P1", 0) is None
    assert kernel.find_label("LAB_WAIT", first.scope) == 0
    assert kernel.find_label("LAB_WAIT", second.scope) == 3


def test_registers_of_a_family():
    """``%r<60>`` declares ``%r0`` to ``%r59`` and no other."""
    _, kernel = kernel_of("")
    assert kernel.find_register("%r59", 0) == (0, "%r59")
    assert kernel.find_register("%r60", 0) is None
    assert kernel.find_register("%rx", 0) is None


def test_chains_of_locations():
    """A ``.loc`` is in force for what follows; its caller is the one directly before it."""
    _, kernel = kernel_of(
        "\t.loc\t1 5 3\n\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 5 3\n"
        "\tbar.sync 0;\n\t.loc 2 7 1, function_name $L__info_string0+4, inlined_at 1 5 3\n"
        "\tbar.sync 1;\n"
    )
    first, second, _ = kernel.instructions
    caller = Location(1, 5, 3)
    assert first.location == Location(2, 9, 1, "$L__info_string0", (1, 5, 3), caller)
    assert second.location == Location(2, 7, 1, "$L__info_string0", (1, 5, 3))


def test_functions_and_their_headers():
    """Entries, device functions and declarations are told apart; directives keep their numbers."""
    module = read_module(
        HEAD + ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);\n"
        ".weak .func helper(.param .b64 x)\n{\n\tret;\n}\n"
        ".visible .entry one(.param .u64 .ptr .global .align 16 p,\n.param .align 128 .b8 q[128])\n"
        ".maxntid 256, 1, 1\n.minnctapersm 1\n.noreturn\n{\n\tret;\n}\n"
        ".entry two()\n{\nret;\n}\n"
    )
    assert [(one.name, one.kind, one.body_line is None) for one in module.functions] == [
        ("vprintf", "func", True),
        ("helper", "func", False),
        ("one", "entry", False),
        ("two", "entry", False),
    ]
    one, two = module.entries
    assert one.directives == {".maxntid": (256, 1, 1), ".minnctapersm": (1,), ".noreturn": ()}
    assert [(p.name, p.shape, p.bits) for p in one.params] == [("p", (), 64), ("q", (128,), 8)]
    assert (one.line, one.body_line, one.body_last_line) == (10, 15, 17)
    assert two.params == ()


def test_module_level():
    """Version, target, files, variables with initialisers, and debug sections."""
    module = read_module(
        '.version 9.0\n.target sm_90a, debug\n.address_size 64\n.file 1 "a.cu"\n'
        '.file 2 "b.h", 1700000000, 1234\n'
        ".global .align 8 .u64 table[2] = {generic(x), 4};\n.shared .align 8 .b64 bar[3];\n"
        ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n.b32 .debug_str+8\n\t}\n"
    )
    assert (module.version, module.targets, module.address_size) == ("9.0", ("sm_90a", "debug"), 64)
    assert module.files == {1: "a.cu", 2: "b.h"}
    assert [(one.name, one.shape) for one in module.variables] == [("table", (2,)), ("bar", (3,))]


def test_unknown_opcodes_are_kept_by_name():
    """An opcode of a later ISA is no error: it is an instruction, and listed."""
    module, kernel = kernel_of("\tfrobnicate.sync.b32 %r1, %r2;\n\tadd.s32 %r1, %r1, 1;\n")
    assert module.unknown_opcodes == ("frobnicate.sync.b32",)
    assert len(kernel.instructions) == 3


@pytest.mark.parametrize(
    ("body", "offset"),
    [
        ("\tadd.s32 %r1, %r2, 1\n\tadd.s32 %r1, %r2, 1;\n", 0),  # a missing semicolon
        ("\tbar.sync 0;\n\tadd.s32 %r1 %r2;\n", 1),
        ("\tbar.sync 0;\n\tmov.u32 %r1, [;\n", 1),
        ("\tbar.sync 0;\n\tmov.u32 %r1, ?;\n", 1),
        ("\t@ bra X;\n", 0),
        ("\t.loc 1 2\n", 0),
        ("\t.reg .b32;\n", 0),
        ("L:\nL:\n", 1),
        ("\t.branchtargets A, B;\n", 0),
        ("\t// begin inline asm\n\t// begin inline asm\n", 1),
        ("\tbar.sync 0;\n\t0x12 %r1;\n", 1),
        ("\tmov.u32 %r1, 0f3F8;\n", 0),
    ],
)
def test_what_is_not_understood(body, offset):
    """Broken syntax is refused with its line and text, never skipped."""
    with pytest.raises(PtxSyntaxError) as caught:
        kernel_of(body)
    assert caught.value.line == FIRST_LINE + offset
    assert caught.value.text == text_of(body).split("\n")[caught.value.line - 1]


@pytest.mark.parametrize(
    "text",
    ["ret;", ".entry k() {", ".entry k()\n{\n\t{ ret;\n}\n", "}", ".version nine\n", '.file "a"\n',
     ".section .debug_str { $L: ret; }", "/* open", ".loc 1 1 1\n", ".global .u32 x"],
)  # fmt: skip
def test_a_module_that_is_cut_or_wrong(text):
    """Statements without their end, and statements at the wrong level, are refused."""
    with pytest.raises(PtxSyntaxError):
        read_module(text)


@pytest.mark.parametrize("name", ["gemm.sm_80", "gemm.sm_90a"])
def test_real_texts_are_read_whole(name):
    """Every statement of a real kernel is there: as many instructions as semicolons say."""
    text = real(name)
    module = read_module(text)
    kernel = module.entries[0]
    assert module.unknown_opcodes == ()
    assert module.lines == tuple(text.split("\n"))
    body = "\n".join(module.lines[kernel.body_line : kernel.body_last_line])
    code = [line.partition("//")[0] for line in body.split("\n")]
    declared = sum(line.strip().startswith(".") and ";" in line for line in code)
    assert len(kernel.instructions) == sum(line.count(";") for line in code) - declared
    for one in kernel.instructions:
        first = module.lines[one.span.line - 1][one.span.column - 1 :]
        assert first.startswith("@" if one.guard else one.opcode)
        assert module.lines[one.span.last_line - 1][one.span.last_column - 1] == ";"


@pytest.mark.parametrize("literal", ["096", "08U", "0009"])
def test_an_octal_literal_of_other_digits_is_refused(literal):
    """``096`` is no integer of PTX (PTX ISA, "Integer Constants"): its line is told, no crash."""
    with pytest.raises(PtxSyntaxError):
        read_module(text_of(f"\tadd.s32 %r1, %r2, {literal};\n"))
    read_module(text_of("\tadd.s32 %r1, %r2, 077;\n\tadd.s32 %r1, %r2, 0;\n"))
