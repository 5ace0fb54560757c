"""What must no rule hide?  Changes of one word, and what is nearly, but not, noise."""

import random

import pytest

from stagebench.diff.text_compare import ALL_RULES, compare_texts
from stagebench.diff.text_tokens import lex
from tests.diffing.text.conftest import counts, renamed, shown

NEAR_MISSES = {
    "bound": ("k < 15", "k < 14"),
    "wait depth": ("cp_async_wait<2>", "cp_async_wait<1>"),
    "offset": ("+ 8192", "+ 4096"),
    "predicate": ("< 64", "< 32"),
    "comparison": ("(int)threadIdx.x) < 64", "(int)threadIdx.x) > 64"),
    "swapped variables": ("combine(first, second)", "combine(second, first)"),
    "other variable": ("(half_t)(first + second)", "(half_t)(first + first)"),
    "template argument": ("cp_async_gs<16>", "cp_async_gs<8>"),
    "literal suffix": ("1.5f", "1.5"),
    "hex float": ("0x0p+0f", "0x1p+0f"),
    "other intrinsic": ("cp_async_commit", "cp_async_wait_all"),
    "other function": ("combine(", "mix("),
    "member": ("threadIdx.x)] =", "threadIdx.y)] ="),
    "type": ("float second", "double second"),
    "qualifier": ("extern __shared__ __align__(1024)", "extern __shared__ __align__(16)"),
    "pragma": ("#pragma unroll", "#pragma nounroll"),
    "include": ("cuda/copy.h", "cuda/ldsm.h"),
    "joined operators": ("first - (second", "first -- (second"),
    "version count": ("(k & 1)", "(k % 3)"),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
@pytest.mark.parametrize("rules", [ALL_RULES, ()], ids=["rules", "raw"])
def test_a_changed_word_is_one_changed_line(kernel, name, rules):
    """With all rules and with none, and nothing else is shown."""
    old, new = NEAR_MISSES[name]
    assert kernel.count(old) == 1
    diff = compare_texts(kernel, kernel.replace(old, new), "cuda", rules)
    line = kernel[: kernel.index(old)].count("\n") + 1
    assert shown(diff) == [("changed", line, line)]
    (row,) = (row for row in diff.rows if row.kind == "changed")
    assert 0 < sum(end - start for start, end in row.left_spans) <= len(old)
    assert not diff.equal


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_it_is_one_changed_line_in_a_renamed_kernel_too(kernel, name):
    """The renaming is put aside, the change is not."""
    names = {"i": "i_7", "k": "ko", "first": "acc", "second": "x_1", "buf_dyn_shmem": "arena"}
    old, new = NEAR_MISSES[name]
    other = renamed(kernel.replace(old, new), names)
    diff = compare_texts(kernel, other, "cuda")
    line = kernel[: kernel.index(old)].count("\n") + 1
    assert shown(diff) == [("changed", line, line)]
    assert counts(diff)["renames"] > 5


@pytest.mark.parametrize("nth", [0, 1])
@pytest.mark.parametrize("rules", [ALL_RULES, ()], ids=["rules", "raw"])
def test_a_removed_barrier_is_one_removed_line(kernel, nth, rules):
    """Of two ``__syncthreads();`` either one."""
    lines = kernel.splitlines(keepends=True)
    where = [number for number, line in enumerate(lines) if "__syncthreads" in line][nth]
    diff = compare_texts(kernel, "".join(lines[:where] + lines[where + 1 :]), "cuda", rules)
    assert shown(diff) == [("removed", where + 1, None)]


def test_swapped_parameters_are_shown(kernel):
    """Uses swapped under an unchanged signature: A is not B, parameters are bound by name."""
    head, brace, body = kernel.partition(" {\n")
    swapped = head + brace + renamed(body, {"A": "B", "B": "A"})
    assert [kind for kind, _, _ in shown(compare_texts(kernel, swapped, "cuda"))] == ["changed"] * 2


def test_a_rename_that_captures_is_shown(kernel):
    """``first`` renamed to ``combine``, which the kernel calls, is another program."""
    diff = compare_texts(kernel, renamed(kernel, {"first": "combine"}), "cuda")
    assert not diff.equal


def test_two_names_made_one_are_shown(kernel):
    """Not one to one."""
    diff = compare_texts(kernel, renamed(kernel, {"second": "first"}), "cuda")
    assert not diff.equal


def test_a_swapped_kernel_name_is_shown():
    """Two kernels that trade names are launched for one another."""
    one = (
        "__global__ void a(int* x) {\n  x[0] = 1;\n}\n__global__ void b(int* x) {\n  x[0] = 2;\n}\n"
    )
    other = renamed(one, {"a": "b", "b": "a"})
    assert not compare_texts(one, other, "cuda").equal


def test_swapped_fields_are_shown():
    """The names of fields are no locals: their order is a layout."""
    one = "struct S {\n  int a;\n  int b;\n};\nvoid f(S* s) {\n  s->a = s->b;\n}\n"
    other = one.replace("int a;\n  int b;", "int b;\n  int a;")
    assert not compare_texts(one, other, "cuda").equal


def test_a_parameter_of_another_type_is_no_reordering(kernel):
    """The same names in another order, but one of them changed."""
    other = kernel.replace(
        "(const half_t* __restrict__ A, half_t* __restrict__ B, int n)",
        "(half_t* __restrict__ B, half_t* __restrict__ A, int n)",
    )
    assert [kind for kind, _, _ in shown(compare_texts(kernel, other, "cuda"))] == ["changed"] * 2


def test_the_order_counts_where_the_text_calls_the_kernel():
    """A launch binds by position."""
    one = "__global__ void f(int* a, int* b) {\n  a[0] = b[0];\n}\n"
    one += "void g() {\n  f<<<1, 1>>>(p, q);\n}\n"
    other = one.replace("int* a, int* b", "int* b, int* a")
    assert shown(compare_texts(one, other, "cuda")) == [("changed", 1, 1)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('printf("a b")', 'printf("a  b")'),
        ('printf("//x")', 'printf("//y")'),
        ('printf("/* a */")', 'printf("/* b */")'),
        ('printf("/home/a/k.py:12")', 'printf("/home/a/k.py:14")'),
        ('printf("/home/a/k.py:12")', 'printf("/home/a/j.py:12")'),
        ('printf("/home/a/k.txt")', 'printf("/home/b/k.txt")'),
        ("a b;", "ab;"),
        ("x = a + +b;", "x = a ++b;"),
        ('asm(R"(mov a, b; // c)");', 'asm(R"(mov a, b; // d)");'),
    ],
)
def test_strings_and_joined_words_are_compared(old, new):
    """What looks like a comment, a blank or a path may be something else."""
    one, other = (f"void f() {{\n  {line}\n}}\n" for line in (old, new))
    assert shown(compare_texts(one, other, "cuda")) == [("changed", 2, 2)]


def test_a_statement_that_left_its_loop_is_shown():
    """In TVMScript the indentation is the nesting."""
    one = "def f(n: T.int32):\n    for k in range(4):\n        A[k] = 1\n        B[0] = 2\n"
    other = one.replace("        B", "    B")
    diff = compare_texts(one, other, "tvmscript")
    assert shown(diff) == [("changed", 4, 4)]
    assert diff.rows[3].marks == ("nesting",)


def test_a_loop_around_everything_is_one_line():
    """Lines in it are nested deeper and nothing else."""
    one = "def f(n: T.int32):\n    for k in range(4):\n        A[k] = 1\n    B[0] = 2\n"
    lines = one.splitlines(keepends=True)
    other = lines[0] + "    with T.attr(x):\n" + "".join("    " + line for line in lines[1:])
    assert shown(compare_texts(one, other, "tvmscript")) == [("added", None, 2)]


def test_any_changed_word_of_a_recorded_kernel_is_shown(recorded):
    """Sampled: each number, operator and name of the GEMM, changed alone, is one changed line."""
    text = recorded("gemm.sm_80.2")
    lines = lex(text, "cuda")
    places = [
        (line.number - 1, index)
        for line in lines
        for index, kind in enumerate(line.kinds)
        if kind in ("number", "operator", "name") and line.words[index] not in "(){}[]"
    ]
    for line, index in random.Random(5).sample(places, 60):  # noqa: S311 - repeatable
        words = list(lines[line].words)
        words[index] = {"name": "acc_other", "number": "77"}.get(lines[line].kinds[index], "|")
        other = text.split("\n")
        other[line] = "".join(words)
        diff = compare_texts(text, "\n".join(other), "cuda")
        assert ("changed", line + 1, line + 1) in shown(diff), other[line]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#define F(x) \\\n  foo(x)", "#define F(x) \\\n\n  foo(x)"),
        ("#define F(x) x", "#define F (x) x"),
        ("#define F(x) x", "#define F/**/(x) x"),
        ("#include <x.h>", "#include < x.h>"),
        ("#define F a\\\nb", "#define F a\\\n b"),
        ('char* s = R"(\n#line 3\n)";', 'char* s = R"(\n#line 4\n)";'),
    ],
)
def test_blanks_of_a_directive_are_compared(old, new):
    """They decide what a macro is; and a directive inside a string is text."""
    assert not compare_texts(f"{old}\nint a;\n", f"{new}\nint a;\n", "cuda").equal


@pytest.mark.parametrize("macro", ["v_##x", "#x", "T(x)\n#define T(y) y##_1", "x \\\n  + v_##x"])
def test_a_name_that_a_macro_spells_is_no_local(macro):
    """``S(a)`` makes ``v_a`` of ``a``: it can't be called ``c``; without ``#`` it can."""
    body = "void f(int* p) {\n  int a = 1;\n  p[0] = S(a);\n}\n"
    one = f"#define S(x) {macro}\n{body}"
    other = f"#define S(x) {macro}\n{renamed(body, {'a': 'c'})}"
    assert not compare_texts(one, other, "cuda").equal
    assert compare_texts(one.replace("#", " "), other.replace("#", " "), "cuda").equal


def test_renamed_and_reordered_parameters_of_one_type_are_shown():
    """``A - B`` and ``Y - X`` of ``(X, Y)``: whoever passes by position gets the negative."""
    one = (
        "__global__ void f(const float* A, const float* B, float* C) {\n  C[0] = A[0] - B[0];\n}\n"
    )
    other = renamed(one, {"A": "X", "B": "Y"})
    assert compare_texts(one, other, "cuda").equal
    other = other.replace("X[0] - Y[0]", "Y[0] - X[0]")
    assert not compare_texts(one, other, "cuda").equal


def test_one_renamed_parameter_may_move():
    """The other keeps its name and is bound by it."""
    one = "__global__ void f(const float* A, const float* B) {\n  C[0] = A[0] - B[0];\n}\n"
    other = "__global__ void f(const float* B, const float* Z) {\n  C[0] = Z[0] - B[0];\n}\n"
    assert compare_texts(one, other, "cuda").equal


def test_a_default_argument_keeps_its_place():
    """What may be left out depends on the order."""
    one = "__global__ void f(int* P, int n, int w = 2) {\n  P[n] = w;\n}\n"
    other = one.replace("int n, int w = 2", "int w = 2, int n")
    assert shown(compare_texts(one, other, "cuda")) == [("changed", 1, 1)]


def test_a_byte_order_mark_counts_at_the_start_only():
    """There it is a blank, and the plain diff shows it."""
    assert compare_texts("\ufeff#define A\n", "#define A\n", "cuda").equal
    assert not compare_texts("\ufeffint a;\n", "int a;\n", "cuda", ()).equal
    assert not compare_texts("int a;\n\ufeffint b;\n", "int a;\nint b;\n", "cuda").equal
