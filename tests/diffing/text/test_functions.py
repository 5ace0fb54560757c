"""Are locals found, and nothing else?  Checked against tree-sitter's tree where it can parse."""

import pytest

from stagebench.diff.text_functions import find_functions
from stagebench.diff.text_tokens import lex
from stagebench.facts.cuda_syntax import parse_cuda

KERNELS = ["gemm.sm_80.2", "gemm.sm_90a.2", "persistent.sm_90a.2", "tcgen05_ring.sm_100a.2"]


def functions(text, language="cuda"):
    lines = lex(text, language)
    words = [
        tuple(
            word
            for word, kind in zip(line.words, line.kinds, strict=True)
            if kind not in ("blank", "comment")
        )
        for line in lines
    ]
    if language == "tvmscript":
        words = [
            (" " * (len(line.text) - len(line.text.lstrip())), *each)
            for line, each in zip(lines, words, strict=True)
        ]
    return find_functions(words, [line.directive for line in lines], language)


def declared_by_tree(node, source):
    """Names of the declarators in a tree-sitter function."""
    found = set()
    if node.type in ("init_declarator", "declaration", "parameter_declaration"):
        for inner in node.children_by_field_name("declarator"):
            name = inner
            while name is not None and name.type != "identifier":
                name = name.child_by_field_name("declarator") or next(
                    (each for each in name.named_children if each.type == "identifier"), None
                )
            if name is not None:
                found.add(source.text(name))
    for child in node.children:
        found |= declared_by_tree(child, source)
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_locals_are_those_of_the_tree(recorded, name):
    """Two readers that share nothing."""
    text = recorded(name)
    tree = parse_cuda(text)
    definitions = []
    todo = [tree.root]
    while todo:
        node = todo.pop(0)
        if node.type == "function_definition":
            definitions.append(declared_by_tree(node, tree))
        else:
            todo += node.children
    found = [function for function in functions(text) if function.last - function.first > 1]
    assert [function.local for function in found] == definitions


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("int a = 1, *b, c[4] = {x, y};", {"a", "b", "c"}),
        ("tl::Barrier<2, N> *bar = get(p);", {"bar"}),
        ("std::array<std::array<int, 2>> t;", {"t"}),
        ("for (auto x : xs) { use(x); }", {"x"}),
        ("const unsigned long long v(3);", {"v"}),
        ("half2 __align__(4) w[2];", {"w"}),
        ("struct { int field; } s;", set()),
        ("struct P { int field; }; P q;", {"q"}),
        ("return value;", set()),
        ("goto out; out: x = y;", set()),
        ("a * 3; f(b); c = d; delete e; throw g;", set()),
        ("x < y; if (m > n) ++m;", set()),
        ('asm volatile("mov %0;" : "=r"(r));', set()),
        ("case 1: using T = int;", set()),
    ],
)
def test_declarations_of_a_body(body, names):
    """What looks nearly like one is none."""
    (function,) = functions(f"void f(int n) {{\n {body}\n}}\n")
    assert function.local == {"n"} | names


def test_names_that_a_directive_mentions_are_not_local():
    """A macro may use them."""
    (function,) = functions("#define USE x\nvoid f(int x, int y) {\n  USE;\n}\n")
    assert function.local == {"y"}


def test_functions_in_namespaces_and_structs():
    """Methods are not read; their lines belong to nobody."""
    text = (
        'namespace a {\nextern "C" {\nvoid f(int n) {\n}\n}\n}\n'
        "struct S {\n  void m(int n) { int k; }\n};\nvoid g();\nint x = h(3);\n"
    )
    assert [each.name for each in functions(text)] == ["f", "g"]


def test_an_unclosed_body_ends_with_the_text():
    """A text that is cut off."""
    (function,) = functions("void f(int n) {\n  int k = 1;\n")
    assert (function.first, function.last, function.local) == (0, 2, {"n", "k"})


def test_names_of_tvmscript():
    """Parameters, loop variables, assigned and annotated names; no keyword arguments."""
    text = (
        "@T.prim_func\ndef main(A: T.handle, n: T.int32):\n"
        '    buf = T.alloc_buffer((4,), scope="shared")\n'
        "    for i, j in T.grid(4, 4):\n"
        '        with T.block("b") as vi:\n            x: T.int32 = 3\n'
        "            buf[i] = f(A, other=j)\nouter = 3\n"
    )
    (function,) = functions(text, "tvmscript")
    assert function.local == {"A", "n", "buf", "i", "j", "vi", "x"}
    assert (function.first, function.last) == (1, 7)
