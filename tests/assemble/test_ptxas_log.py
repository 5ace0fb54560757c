"""Is everything that ptxas prints read, and nothing that only looks like it?"""

from pathlib import Path

import pytest

from stagebench.assemble.ptxas_log import first_error, messages, resources

DATA = Path(__file__).with_name("data")
PTX = """.version 9.0
.target sm_90a
.file 1 "kernel.cu"
.file 2 "tl_templates/cuda/copy.h"
.entry gemm()
{
\t.loc 1 40 3
\tadd.s32 %r1, %r2, %r3;
\t.loc 2 7 5, function_name $L__info_string0, inlined_at 1 41 9
\tmul.lo.s32 %r1, %r2, %r3;
}
"""


def log(name):
    return (DATA / f"{name}.txt").read_text()


def values(taken):
    return (
        taken.registers,
        taken.spill_store_bytes,
        taken.spill_load_bytes,
        taken.stack_bytes,
        taken.static_smem_bytes,
        taken.barriers,
    )


def test_each_entry_has_its_own_resources():
    """Of two kernels the one asked for is read; a device function between them is neither."""
    assert values(resources(log("two_entries"), "first", 512)) == (10, 0, 0, 0, 128, 1)
    assert values(resources(log("two_entries"), "second", 512)) == (27, 0, 0, 80, 0, 0)
    assert resources(log("two_entries"), "_Z6helperf", None) is None
    assert resources(log("two_entries"), "firs", None) is None


def test_spills():
    """Spilled bytes and the stack are read, and the warning is a message with a name."""
    taken = resources(log("spills"), "spill", None)
    assert values(taken) == (32, 1988, 2044, 1760, 0, 1)
    assert taken.code_bytes is None
    (warning,) = messages(log("spills"), "")
    assert (warning.severity, warning.code, warning.name) == ("warning", None, "registers-spilled")


@pytest.mark.parametrize(
    ("recorded", "code", "name"),
    [
        ("setmaxnreg_ignored", "C7504", "setmaxnreg-ignored"),
        ("setmaxnreg_unknown", "C7508", "setmaxnreg-ignored"),
        ("wgmma_serialized", "C7511", "wgmma-serialized"),
    ],
)
def test_what_defeats_the_author(recorded, code, name):
    """A code keeps its number and text, and has a name by what it means."""
    found = [message for message in messages(log(recorded), "") if message.code]
    assert [(message.code, message.name, message.severity) for message in found] == [
        (code, name, "info")
    ]
    assert found[0].text.startswith("Potential Performance Loss: ")


def test_an_unknown_code_is_kept():
    """A remark that we have no name for is reported with its code and its whole text."""
    (found,) = messages("ptxas info    : (C9999) something new about 'setmaxnreg'", "")
    assert (found.code, found.name, found.text) == (
        "C9999",
        "unknown",
        "something new about 'setmaxnreg'",
    )


def test_an_unknown_line_of_ptxas_is_kept():
    """Only what ``-v`` always prints is left out: a new uncoded remark is not lost."""
    (found,) = messages("ptxas info    : Used heuristics to guess\n", "")
    assert (found.name, found.text) == ("unknown", "Used heuristics to guess")


def test_lines_that_only_look_like_ptxas():
    """Another program's line, and a code in the middle of a text, are no coded remarks."""
    near = (
        "nvlink info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n"
        "note: ptxas info    : (C7508) 'setmaxnreg' ignored\n"
    )
    assert messages(near, "") == ()
    (inner,) = messages("ptxas info    : see (C7508) in the manual\n", "")
    assert inner.code is None


def test_a_line_in_a_message_is_mapped():
    """``around line N`` names a PTX line; it leads to the kernel's line through the inlining."""
    text = "ptxas info    : (C7519) warpgroup.arrive is injected in around line {} by compiler"
    (outer,) = messages(text.format(8), PTX)
    assert (outer.name, outer.ptx_line, outer.cuda_line) == ("warpgroup-arrive-injected", 8, 40)
    (inner,) = messages(text.format(10), PTX)
    assert (inner.ptx_line, inner.cuda_line) == (10, 41)
    (before,) = messages(text.format(6), PTX)
    assert (before.ptx_line, before.cuda_line) == (6, None)


def test_a_repeated_remark_is_one():
    """The same line twice is one message."""
    assert len(messages(log("wgmma_serialized") * 2, "")) == 2  # the remark and the spills


def test_errors():
    """The first error is the assembler's own, with its line; a fatal line counts if alone."""
    assert first_error(log("unknown_symbol")) == (
        "Arguments mismatch for instruction 'mov'",
        900,
    )
    assert first_error(log("wrong_target")) == (
        "SM version specified by .target is higher than default SM version assumed",
        None,
    )
    message, line = first_error(log("insufficient_registers"))
    assert message.startswith("Insufficient registers (64)")
    assert line == 2483
    assert first_error(log("spills")) == ("", None)


def test_resources_that_are_cut_short():
    """A log that ends before the registers tells nothing: not zero registers."""
    whole = log("two_entries")
    cut = whole[: whole.index("ptxas info    : Used 10")]
    assert resources(cut, "first", None) is None
    assert resources(cut, "second", None) is not None
