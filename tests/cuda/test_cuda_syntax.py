"""Is text that was not understood completely always refused, and blanking harmless?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tree_sitter import Parser

from stagebench.facts.cuda_sites import read_cuda
from stagebench.facts.cuda_syntax import BLANKED, CudaSyntaxError, language, parse_cuda

GEMM = (Path(__file__).parent / "kernels" / "gemm.sm_90a.2.cu").read_text()
ALIGNED = "__global__ void k() {{\n  __shared__ {} uint64_t m[4];\n  tl::cp_async_commit();\n}}\n"


@pytest.mark.parametrize("attribute", ["__align__(16)", "__align__( sizeof(int4) * (2) )"])
def test_aligned_array_does_not_swallow_the_commit_after_it(attribute):
    """Its error recovery would lose the statement after ``__align__`` (tree-sitter-cuda 0.21.2)."""
    (kernel,) = read_cuda(ALIGNED.format(attribute))
    assert [(site.op, site.line) for site in kernel.sites] == [("cp_async_commit", 3)]


def test_align_still_needs_blanking():
    """The workaround can go when the grammar parses ``__align__``: then this fails."""
    raw = Parser(language()).parse(ALIGNED.format("__align__(16)").encode())
    assert raw.root_node.has_error


@pytest.mark.parametrize("rule", BLANKED, ids=lambda rule: rule.name)
def test_blanking_keeps_offsets_lines_and_evidence(rule):
    """A blanked attribute changes no byte offset, no line, and not the text that is shown."""
    source = f"{rule.name}(\n  (1 + 2)\n)\nint x;\n"
    tree = parse_cuda(source)
    (declaration,) = tree.root.named_children
    assert (declaration.start_byte, declaration.start_point[0]) == (source.index("int x"), 3)
    assert tree.source.decode() == source


@pytest.mark.parametrize(
    "prefix",
    [
        'extern "C" __global__ void __launch_bounds__(128, 2)',
        "__global__ __launch_bounds__(128, 2) void",
        "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2)",
        "__global__ void __launch_bounds__(128, 2) __maxnreg__(64)",
        "template <typename T> __global__ void __launch_bounds__(128, 2)",
    ],
)
def test_attributes_of_kernels(prefix):
    """However a kernel's attributes are ordered, its bounds and its body are read."""
    source = prefix + " k(const __grid_constant__ CUtensorMap d) { __syncthreads(); }"
    (kernel,) = read_cuda(source)
    assert (kernel.function, kernel.launch_bounds) == ("k", (128, 2))
    assert [site.op for site in kernel.sites] == ["syncthreads"]


def test_attribute_name_in_text_is_left_alone():
    """An attribute's name in a string, a comment or a macro's definition is not blanked."""
    source = (
        '// __align__(\n/* __align__( */\n#define A __align__(\nconst char* s = "__align__(";\n'
    )
    assert parse_cuda(source).alignments == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("__global__ void k() {\n  __syncthreads();\n", "line 2: '}' is missing"),
        ("__global__ void k() {\n  x = = 3;\n}\n", "line 2: can't be parsed: x = = 3;"),
        ("int a;\n\x7fELF\x02\x01\n", "line 2: can't be parsed"),
        ("int a;\n\0", "line 2: a NUL byte"),
        ("this is not CUDA", "line 1"),
        ("__global__ void k() { /* never closed", "line 1"),
        ("/* __global__ void k() { __syncthreads(); }", "line 1"),
        ("\ud800", "not CUDA source"),
        (
            'extern "C" __global__ void k(int a);\n',
            "line 1: kernel 'k' is declared but has no body",
        ),
        ("__global__ void k() {" + "{" * 180 + "}" * 180 + "}", "line 1"),
    ],
)
def test_malformed_source_is_refused_with_its_line(source, message):
    """What can't be understood raises and names the line; it is never an empty result."""
    with pytest.raises(CudaSyntaxError, match=r".") as caught:
        read_cuda(source)
    assert message in caught.value.message


@pytest.mark.parametrize(
    "source", ["", "\n\n", "// only a comment\n", "int f(int x) { return x; }"]
)
def test_source_without_a_kernel_is_empty(source):
    """No kernel is no error: there is nothing that could have been counted."""
    assert read_cuda(source) == ()


def test_every_truncation_is_refused_or_complete():
    """A file cut anywhere from its first kernel on raises, or has all its sites."""
    whole = read_cuda(GEMM)
    refused = 0
    for end in range(GEMM.index("extern"), len(GEMM), 53):
        try:
            kernels = read_cuda(GEMM[:end])
        except CudaSyntaxError:
            refused += 1
            continue
        assert kernels in ((), whole), f"cut at {end}"
    assert refused > 50


def test_deep_expressions_are_read_or_refused():
    """An expression of any depth never ends in a traceback."""
    nested = "(" * 5000 + "K" + ")" * 5000
    try:
        (kernel,) = read_cuda(f"__global__ void k(int K) {{ if ({nested}) __syncthreads(); }}")
    except CudaSyntaxError:
        return
    assert [site.guards for site in kernel.sites] == [("K",)]


DESCRIPTOR = """union Descriptor {
  uint64_t desc = 0;
  struct {
    uint16_t start : 14, : 2;  // two bits unused
    uint8_t : 1, base : 3, mode : 1, : 3;
    uint32_t format : 4,  // four bits
             sparse : 1;
  };
  HOST_DEVICE constexpr
  operator uint64_t() const noexcept { return desc; }
};
"""


def test_bit_fields_and_a_macro_before_constexpr():
    """What stands in Apache TVM's unions is blanked; the kernel after them is read, lines kept."""
    (kernel,) = read_cuda(DESCRIPTOR + "__global__ void k() { __syncthreads(); }")
    assert [(site.op, site.line) for site in kernel.sites] == [("syncthreads", 12)]


@pytest.mark.parametrize("text", ["uint16_t start : 14, : 2;", "HOST_DEVICE constexpr int f();"])
def test_they_still_need_blanking(text):
    """The workaround can go when the grammar parses both: then this fails."""
    member = text.replace("int f();", "operator int() const { return 1; }")
    raw = Parser(language()).parse(f"struct S {{ {member} }};".encode())
    assert raw.root_node.has_error


@pytest.mark.parametrize(
    "statement",
    ["int y = n ? n : 1, z = 3;", "switch (n) { case 3: n = 1, n = 2; }", "int HOST_DEVICE = n;"],
)
def test_what_only_looks_like_a_bit_field(statement):
    """A conditional, a label and a plain name keep what stands around them."""
    (kernel,) = read_cuda(f"__global__ void k(int n) {{ {statement} __syncthreads(); }}")
    assert [site.op for site in kernel.sites] == ["syncthreads"]
