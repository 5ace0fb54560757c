"""Does a comparison fit the width, and is nothing that differs left out?"""

import io

import pytest
from rich.console import Console

from stagebench.diff.text_compare import compare_texts
from stagebench.report.diff_view import choose_layout, hunk_lines
from stagebench.report.diff_words import put_aside, verdict
from tests.diffing.text.conftest import renamed


def console(width=100, **options):
    return Console(file=io.StringIO(), width=width, **options)


def plain(diff, layout="unified", width=100, context=1):
    lines = hunk_lines(console(width), diff, layout=layout, context=context)
    return [line.plain.rstrip() for line in lines]


@pytest.mark.parametrize("layout", ["unified", "side-by-side"])
@pytest.mark.parametrize("width", [60, 100, 200])
def test_lines_fit_the_width(kernel, layout, width):
    """Long lines that differ are wrapped whole, others are cut."""
    long = "  x = " + " + ".join(f"term_{number}" for number in range(80)) + ";\n"
    other = long.replace("term_77", "term_99")
    texts = [kernel.replace("  float first", line + "  float first") for line in (long, other)]
    lines = plain(compare_texts(*texts, "cuda"), layout, width)
    assert max(map(len, lines)) <= width
    assert sum("^" in line for line in lines) == (2 if layout == "unified" else 1)


def test_the_signs_of_a_unified_diff(kernel):
    """Changed, removed, added, renamed and equal lines, each with its numbers."""
    other = renamed(kernel, {"k": "ko"}).replace("wait<2>", "wait<1>")
    other = other.replace("    __syncthreads();\n    first", "    first").replace(
        "  B[", "  f();\n  B["
    )
    lines = plain(compare_texts(kernel, other, "cuda"))
    assert "12 12 ~   for (int ko = 0; ko < 15; ++ko) {" in lines
    assert "13    -     tl::cp_async_wait<2>();" in lines
    assert "   13 +     tl::cp_async_wait<1>();" in lines
    assert "14    -     __syncthreads();" in lines
    assert "   20 +   f();" in lines


def test_carets_stand_under_the_changed_word():
    """Also behind a tab."""
    texts = ["void f() {\n\tint a = 1;\n}\n", "void f() {\n\tint a = 2;\n}\n"]
    lines = plain(compare_texts(*texts, "cuda"))
    at = next(number for number, line in enumerate(lines) if "= 1" in line)
    assert lines[at + 1].index("^") == lines[at].index("1;")


def test_a_moved_block_says_from_where():
    """On both sides."""
    block = "  alpha(p, 1);\n  beta(p, 2);\n  gamma(p, 3);\n"
    rest = "".join(f"  step_{number}(p);\n" for number in range(6))
    diff = compare_texts(
        f"void f() {{\n{block}{rest}}}\n", f"void f() {{\n{rest}{block}}}\n", "cuda"
    )
    lines = plain(diff)
    assert sum("(moved to line" in line for line in lines) == 3
    assert sum("(moved from line" in line for line in lines) == 3
    assert verdict(diff) == "different: 6 moved"


def test_a_wide_terminal_shows_both_sides():
    """A pipe and a narrow terminal don't; a flag decides otherwise."""
    wide, narrow = console(160, force_terminal=True), console(100, force_terminal=True)
    default = {"unified": False, "side_by_side": False}
    assert choose_layout(wide, **default) == "side-by-side"
    assert choose_layout(narrow, **default) == "unified"
    assert choose_layout(console(160), **default) == "unified"
    assert choose_layout(wide, unified=True, side_by_side=False) == "unified"
    assert choose_layout(narrow, unified=False, side_by_side=True) == "side-by-side"


def test_highlighting_keeps_the_text(kernel):
    """In colour the same characters are printed as without, carets apart."""
    diff = compare_texts(kernel, kernel.replace("wait<2>", "wait<1>"), "cuda")
    colour = console(force_terminal=True, color_system="truecolor", no_color=False)
    coloured = [
        line.plain.rstrip() for line in hunk_lines(colour, diff, layout="unified", context=3)
    ]
    assert coloured == [line for line in plain(diff, context=3) if line.strip(" ^")]


def test_the_words_count(kernel):
    """How many of how many."""
    diff = compare_texts(kernel, renamed(kernel, {"k": "ko"}).replace("wait<2>", "wait<1>"), "cuda")
    assert verdict(diff) == "different: 1 changed"
    assert put_aside(diff)[0].startswith("2 of 3 lines that differ are renames: ")
    assert (
        verdict(compare_texts("a\n", "a", "cuda")) == "equal, apart from the line feed at the end"
    )
