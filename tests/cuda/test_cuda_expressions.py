"""Is an expression evaluated as C does, and written without changing its meaning?"""

from __future__ import annotations

import pytest

from stagebench.facts.cuda_expressions import value_of
from stagebench.facts.cuda_syntax import parse_cuda


def value(expression):
    tree = parse_cuda(f"int x = {expression};")
    node = tree.root.named_children[0].child_by_field_name("declarator")
    return value_of(node.child_by_field_name("value"), tree.text)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0x10u", 16),
        ("010", 8),
        ("0b101", 5),
        ("1'000LL", 1000),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("(1 << 4) | 3", 19),
        ("~0", -1),
        ("!3", 0),
        ("3 < 4 && 2 >= 2", 1),
        ("(int)(3)", 3),
        ("1 ? 2 : K", 2),
        ("true", 1),
        ("1 / 0", "1 / 0"),
        ("1 << 99", "1 << 99"),
        ("1.5", "1.5"),
        ("'a'", "'a'"),
    ],
)
def test_constants(expression, expected):
    """Integer literals are computed as C computes them; nothing else is guessed."""
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(((K) + (31)) >> 5)", "(K + 31) >> 5"),
        ("(a - (b - c))", "a - (b - c)"),
        ("((a - b) - c)", "a - b - c"),
        ("(a + (b + c))", "a + b + c"),
        ("((a + b) * c)", "(a + b) * c"),
        ("(a * (b + c))", "a * (b + c)"),
        ("(a / (b / c))", "a / (b / c)"),
        ("((a & 1) ^ 1)", "(a & 1) ^ 1"),
        ("(!(a < b))", "!(a < b)"),
        ("(-(a))", "-a"),
        ("(a - -3)", "a - -3"),
        ("(*(p + 1))", "*(p + 1)"),
        ("((a < b) && ((c == d) || e))", "a < b && (c == d || e)"),
        ("(((int)threadIdx.x) & 31)", "threadIdx.x & 31"),
        ("((float)x)", "(float)x"),
        ("((int64_t)blockIdx.x * (long long)4)", "blockIdx.x * 4"),
        ("(&(bar[((k & 1) + 2)]))", "&bar[(k & 1) + 2]"),
        ("min(((a)), (2 + 3))", "min(a, 2 + 3)"),
        ("(a ? (b) : (c + 1))", "a ? b : c + 1"),
        ("((a ? b : c) + 1)", "(a ? b : c) + 1"),
        ("tl::f<3>(\n  a)", "tl::f<3>(a)"),
    ],
)
def test_short_text(expression, expected):
    """Parentheses and integer casts go where nothing changes, and stay where something would."""
    assert value(expression) == expected
