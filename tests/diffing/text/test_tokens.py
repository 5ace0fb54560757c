"""Is every character in one token, and are tokens what the language says?"""

import pytest

from stagebench.diff.text_tokens import lex
from stagebench.facts.cuda_syntax import parse_cuda


def words(text, language="cuda"):
    return [
        word
        for line in lex(text, language)
        for word, kind in zip(line.words, line.kinds, strict=True)
        if kind not in ("blank", "comment")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a\n",
        "\n\n",
        "/* x\n\n y */ b\nc",
        '"a\\\nb" c',
        'R"x(a\n)"\n)x" + 1\n',
        "a\r\nb",
        "'",
    ],
)
@pytest.mark.parametrize("language", ["cuda", "tvmscript"])
def test_lines_joined_are_the_text(text, language):
    """Nothing is lost, nothing is added."""
    lines = lex(text, language)
    assert "\n".join(line.text for line in lines) == text.removesuffix("\n")
    assert all("".join(line.words) == line.text for line in lines)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_tokens_of_cuda():
    """Longest match, numbers with signs and separators, comments that look like division."""
    text = "a<<<1>>>(b->c, d::e) // f\nx /= 0x1p-3f/*g*/ + 1'000u * '\\'' + L\"q\\\"\" ...;"
    assert words(text) == [
        "a", "<<<", "1", ">>>", "(", "b", "->", "c", ",", "d", "::", "e", ")",
        "x", "/=", "0x1p-3f", "+", "1'000u", "*", "'\\''", "+", 'L"q\\""', "...", ";",
    ]  # fmt: skip


def test_tokens_of_tvmscript():
    """``//`` divides, ``#`` comments."""
    assert words('x = a // 2 ** b  # c\ny = "#" + f"""q\nr""" -> z', "tvmscript") == [
        "x", "=", "a", "//", "2", "**", "b", "y", "=", '"#"', "+", 'f"""q', 'r"""', "->", "z",
    ]  # fmt: skip


def test_directives_continue():
    """A backslash at the end carries a directive on."""
    lines = lex("#define A \\\n  b \\\n  c\nd\n", "cuda")
    assert [line.directive for line in lines] == [True, True, True, False]


@pytest.mark.parametrize("name", ["gemm.sm_80.3", "gemm.sm_90a.2", "tvm_stir_gemm.sm_80.3"])
def test_tokens_are_the_leaves_of_the_tree(recorded, name):
    """tree-sitter reads the same words (it cuts strings and directives otherwise)."""
    text = recorded(name)
    tree = parse_cuda(text)
    leaves, todo = [], [tree.root]
    while todo:
        node = todo.pop()
        if node.type == "identifier":
            leaves.append((node.start_byte, tree.text(node)))
        todo += node.children
    ours, at = {}, 0
    for line in lex(text, "cuda"):
        for word in line.words:
            ours[at] = word
            at += len(word)
        at += 1
    assert text.isascii()
    assert [(start, ours.get(start)) for start, _ in leaves] == leaves
