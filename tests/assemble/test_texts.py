"""Do lines of PTX and of compiler logs lead to the right lines of ``kernel.cu``?"""

import struct

import pytest

from stagebench.assemble.cubin_sections import code_bytes
from stagebench.assemble.cuda_log import first_error
from stagebench.assemble.cuda_step import nvrtc_options
from stagebench.assemble.cuda_text import (
    leading_directives,
    uses_tilelang_templates,
    without_line_directives,
)
from stagebench.assemble.ptx_step import find_entry
from stagebench.assemble.ptx_text import cuda_line_at, with_portable_names
from stagebench.assemble.toolchain import find_toolchain


def test_line_directives_are_emptied_in_place():
    """``#line`` goes, in each spelling; every other line keeps its number."""
    text = 'a\n#line 7 "/x/k.py"\nb\n  # 9 "k.py"\n#lineage\nc // #line 3\n'
    assert without_line_directives(text) == "a\n\nb\n\n#lineage\nc // #line 3\n"


def test_leading_directives_end_at_code():
    """A header holds what comes before the first code; comments and blanks don't end it."""
    text = "// note\n#include <a.h>\n\n#define X \\\n  1\n/* b */\n#include <b.h>\nint x;\n#if 1\n"
    assert leading_directives(text) == "#include <a.h>\n#define X \\\n  1\n#include <b.h>"


def test_tilelangs_templates():
    """Only an include of them counts, not a comment or a name like theirs."""
    assert uses_tilelang_templates("#include <tl_templates/cuda/copy.h>\n")
    assert not uses_tilelang_templates("// #include <tl_templates/cuda/copy.h>\n")
    assert not uses_tilelang_templates("#include <my_tl_templates/copy.h>\n")


def test_file_names_are_portable():
    """Headers are named from their include folder, the innermost one; sizes and times go."""
    ptx = (
        '\t.file\t1 "/tmp/abc/kernel.cu", 1700000000, 12\n'
        '\t.file\t2 "/v/tilelang/src/tl_templates/cuda/../common.h"\n'
        '\t.file\t3 "/v/tilelang/src2/x.h"\n'
    )
    assert with_portable_names(ptx, ["/v/tilelang", "/v/tilelang/src/"]) == (
        '\t.file\t1 "kernel.cu"\n\t.file\t2 "tl_templates/common.h"\n\t.file\t3 "src2/x.h"\n'
    )


def test_inlining_is_followed_outwards():
    """Two levels of inlining end in the kernel; a header that leads nowhere is not guessed."""
    ptx = (
        '.file 1 "a.h"\n.file 2 "kernel.cu"\n.file 3 "kernel.cuh"\n'
        ".loc 1 5 1, function_name $x, inlined_at 2 30 4\n"
        ".loc 3 9 2, function_name $x, inlined_at 1 5 1\n"
        "add;\n"
        ".loc 3 1 1\n"
        "sub;\n"
        ".loc 3 2 2, function_name $x, inlined_at 3 2 2\n"
        "mul;\n"
    )
    assert [cuda_line_at(ptx, line) for line in (3, 4, 6, 8, 10)] == [None, 30, 30, None, None]


NVRTC_ERROR_IN_HEADER = """\
tl_templates/cuda/instruction/wgmma.h(95): error: static assertion failed with "unsupported"
      static_assert(always_false_v<M>,
      ^
          detected during:
            instantiation of "void tl::Impl<M>::execute()" at line 463
            instantiation of "void tl::wgmma_ss<M>()" at line 41 of kernel.cu

1 error detected in the compilation of "kernel.cu".
"""


def test_an_ambiguous_position_is_not_guessed():
    """A header's line that was inlined in two lines of the kernel leads to neither of them."""
    chain = '.file 1 "a.h"\n.file 2 "kernel.cu"\n.loc 1 5 1, function_name $x, inlined_at 2 {} 4\n'
    inner = ".loc 1 9 2, function_name $x, inlined_at 1 5 1\n"
    once = chain.format(30) + inner
    twice = once + chain.format(44) + inner
    assert cuda_line_at(once, 4) == 30
    assert cuda_line_at(twice, 4) == 30
    assert cuda_line_at(twice, 7) == 44
    assert cuda_line_at(twice, 8) is None


def test_cuda_errors():
    """An error in the kernel has its line; one in a header the kernel's line that led there."""
    assert first_error(
        'kernel.cu(12): warning #1: x\nkernel.cu(41): error: "f" is undefined\n'
    ) == (
        '"f" is undefined',
        41,
    )
    assert first_error(NVRTC_ERROR_IN_HEADER) == (
        'wgmma.h(95): static assertion failed with "unsupported"',
        41,
    )
    assert first_error('kernel.cu(3): catastrophic error: cannot open source file "x.h"') == (
        'cannot open source file "x.h"',
        3,
    )


def test_cuda_errors_that_are_none():
    """A number of errors, or an error of the next instantiation chain, is no line of ours."""
    assert first_error('2 errors detected in the compilation of "kernel.cu".') == ("", None)
    two = (
        "a.h(1): error: first\nb.h(2): error: second\n  detected during: g at line 9 of kernel.cu\n"
    )
    assert first_error(two) == ("a.h(1): first", None)
    assert first_error("other_kernel.cu(5): error: x") == ("other_kernel.cu(5): x", None)


def test_a_kernel_is_found_by_its_own_name():
    """Mangled names are matched whole: a kernel whose name only contains it is not it."""
    ptx = ".visible .entry _Z4gemmPf(\n.entry _Z8my_gemm2i(\n\t.weak .entry plain(\n"
    assert find_entry(ptx, "gemm") == "_Z4gemmPf"
    assert find_entry(ptx, "plain") == "plain"
    assert find_entry(ptx, "my_gemm") is None
    assert find_entry(ptx, None) is None
    assert find_entry(".entry only(", None) == "only"


def _elf(names):
    """A small ELF64 file with sections of the sizes 1, 2, …."""
    table = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    offset = 64 + len(table)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02", 2, 190, 1, 0, 0, offset, 0, 64, 0, 0, 64,
        len(names) + 1, 0,
    )  # fmt: skip
    sections = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(table), 0, 0, 0, 0)
    for number, name in enumerate(names, 1):
        at = table.index(name.encode() + b"\0")
        sections += struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, 0, number, 0, 0, 0, 0)
    return header + table + sections


def test_code_size():
    """The section of exactly this kernel; damaged or other files tell nothing."""
    elf = _elf([".text.gemm_2", ".text.gemm", ".nv.info.gemm"])
    assert code_bytes(elf, "gemm") == 2
    assert code_bytes(elf, "gem") is None
    assert code_bytes(elf[:100], "gemm") is None
    assert code_bytes(b"", "gemm") is None
    assert code_bytes(b"\x7fELF\x01" + elf[5:], "gemm") is None


def test_headers_that_come_first():
    """Each only where the text needs it, and never as a line of the text."""
    toolchain = find_toolchain()

    def first(text):
        options = nvrtc_options(text, "sm_90a", ("-DX",), toolchain)
        assert options[1] == "--gpu-architecture=compute_90a"
        assert options[-1] == "-DX"
        return [option.partition("=")[2] for option in options if "--pre-include" in option]

    assert first("__global__ void k(int* x) {}") == []
    tilelang = "#include <tl_templates/cuda/copy.h>\n"
    assert first(tilelang + "void k(CUtensorMap m);") == ["tl_templates/cuda/nvrtc_std.h"]
    assert first(tilelang + "{ cudaGridDependencySynchronize(); }") == [
        "cuda_device_runtime_api.h",
        "tl_templates/cuda/nvrtc_std.h",
    ]
    assert first("void k(CUtensorMap m);") == ["stagebench_tensor_map.h"]
    assert first("void k(MyCUtensorMaps m);") == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("void f(__uint128_t a);", True),
        ("__int128 a;", True),
        ("void f(uint4 a);", False),
        ("int my__int128;", False),
    ],
)
def test_integers_of_128_bits_are_asked_for(text, asked):
    """NVRTC refuses them unless it is told; nvcc on Linux takes them."""
    options = nvrtc_options(text, "sm_100a", (), find_toolchain())
    assert ("-device-int128" in options) == asked
