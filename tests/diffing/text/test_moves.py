"""Is a block that moved shown as moved, and still as a difference?"""

from stagebench.diff.text_compare import compare_texts

HEAD = "void f(float* p) {\n"
BLOCK = "  alpha(p, 1);\n  beta(p, 2);\n  gamma(p, 3);\n"
REST = "".join(f"  step_{number}(p);\n" for number in range(6))


def test_a_block_of_three_lines_is_moved():
    """Shown on both sides with the other side's line, and not as changed."""
    diff = compare_texts(HEAD + BLOCK + REST + "}\n", HEAD + REST + BLOCK + "}\n", "cuda")
    assert not diff.equal
    moved = [(row.left, row.right, row.moved) for row in diff.rows if row.kind == "moved"]
    assert moved == [
        (2, None, 8),
        (3, None, 9),
        (4, None, 10),
        (None, 8, 2),
        (None, 9, 3),
        (None, 10, 4),
    ]
    assert {row.kind for row in diff.rows} == {"equal", "moved"}


def test_two_lines_are_removed_and_added():
    """They are equal by chance too often."""
    block = "".join(BLOCK.splitlines(keepends=True)[:2])
    diff = compare_texts(HEAD + block + REST + "}\n", HEAD + REST + block + "}\n", "cuda")
    assert [row.kind for row in diff.rows if row.kind != "equal"] == ["removed"] * 2 + ["added"] * 2


def test_brackets_are_no_block():
    """Three lines of which only one says something."""
    block = "  {\n  alpha(p);\n  }\n"
    diff = compare_texts(HEAD + block + REST + "}\n", HEAD + REST + block + "}\n", "cuda")
    assert "moved" not in {row.kind for row in diff.rows}


def test_a_block_with_a_change_in_it_is_not_moved():
    """A moved line is equal to the line that it was."""
    other = BLOCK.replace("2", "3")
    diff = compare_texts(HEAD + BLOCK + REST + "}\n", HEAD + REST + other + "}\n", "cuda")
    assert "moved" not in {row.kind for row in diff.rows}


def test_a_renamed_block_is_moved():
    """Loop variables are renumbered when a loop moves."""
    loop = "  for (int {0} = 0; {0} < 4; ++{0}) {{\n    alpha({0});\n    beta({0});\n  }}\n"
    one = HEAD + loop.format("i") + REST + "}\n"
    other = HEAD + REST + loop.format("i_9") + "}\n"
    kinds = {row.kind for row in compare_texts(one, other, "cuda").rows}
    assert kinds == {"equal", "moved"}


def test_the_head_of_a_loop_has_not_moved_without_its_body():
    """Three equal lines, but what they open is another loop."""
    head = "  __syncthreads();\n  #pragma unroll\n  for (int i = 0; i < 4; ++i) {\n"
    one = HEAD + head + "    alpha(i);\n  }\n" + REST + "}\n"
    other = HEAD + REST + head + "    beta(i, p, 2);\n    gamma(p);\n  }\n}\n"
    assert "moved" not in {row.kind for row in compare_texts(one, other, "cuda").rows}
    whole = HEAD + REST + head + "    alpha(i);\n  }\n}\n"
    assert "moved" in {row.kind for row in compare_texts(one, whole, "cuda").rows}


def test_only_lines_that_the_plain_diff_shows_are_counted():
    """A barrier that moves past a comment; of three braces the first goes away."""
    one = HEAD + "  {\n    step(p);\n    __syncthreads();\n  }\n  // note\n  step(p);\n}\n"
    other = one.replace("    __syncthreads();\n", "").replace("  // note", "  sync(p);\n  // note")
    diff = compare_texts(one, other, "cuda")
    assert (diff.differing, diff.hidden) == (2, 0)
    nested = HEAD + "  for (;;) {\n    {\n      {\n        step(p);\n      }\n    }\n  }\n}\n"
    fewer = nested.replace("    {\n", "", 1).replace("    }\n", "", 1)
    diff = compare_texts(nested, fewer, "cuda")
    assert (diff.differing, diff.hidden) == (2, 0)
