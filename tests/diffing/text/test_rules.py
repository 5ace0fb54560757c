"""What do the rules put aside, and do they say so?"""

import pytest

from stagebench.diff.text_compare import ALL_RULES, compare_texts
from stagebench.diff.text_rules import RULES
from tests.diffing.text.conftest import counts, renamed


def test_every_rule_is_named_and_listed():
    """The words of ``--help`` are those of the rules."""
    assert tuple(rule.name for rule in RULES) == ALL_RULES


def test_an_unknown_rule_is_an_error():
    """A misspelt rule must not silently be no rule."""
    with pytest.raises(ValueError, match="no rule is named rename"):
        compare_texts("", "", "cuda", ["rename"])


HIDDEN = {
    "line-directives": ("  tl::cp_async_commit", '#line 7 "/a/k.py"\n  tl::cp_async_commit', 1),
    "comments": ("/*0.000000e+00*/", "/*0*/", 1),
    "whitespace": ("k < 15; ++k", "k<15;  ++k", 1),
    "kernel-name": ("void kernel(", "void kernel_1(", None),
    "renames": ("float first", "float first", 0),
}


@pytest.mark.parametrize("rule", ["line-directives", "comments", "whitespace"])
def test_a_rule_hides_and_is_counted(kernel, rule):
    """Equal with the rule, different without."""
    old, new, lines = HIDDEN[rule]
    other = kernel.replace(old, new, 1)
    diff = compare_texts(kernel, other, "cuda")
    assert diff.equal
    assert counts(diff) == {rule: lines}
    assert not compare_texts(kernel, other, "cuda", set(ALL_RULES) - {rule}).equal


def test_renamed_locals_are_equal(kernel):
    """All of them at once, swapped ones too."""
    names = {"i": "k", "k": "i", "first": "second", "second": "first"}
    diff = compare_texts(kernel, renamed(kernel, names), "cuda")
    assert diff.equal
    assert list(counts(diff)) == ["renames"]
    assert {(each.left, each.right) for each in diff.renames} == set(names.items())
    assert not compare_texts(kernel, renamed(kernel, names), "cuda", ["whitespace"]).equal


def test_a_renamed_tensor_moves_its_parameter(kernel):
    """TileLang sorts device parameters by name."""
    other = renamed(kernel, {"A": "Z"}).replace(
        "(const half_t* __restrict__ Z, half_t* __restrict__ B, int n)",
        "(half_t* __restrict__ B, const half_t* __restrict__ Z, int n)",
    )
    diff = compare_texts(kernel, other, "cuda")
    assert diff.equal
    assert counts(diff) == {"renames": 3, "parameter-order": 2}
    assert [(each.left, each.right) for each in diff.renames] == [("A", "Z")]


def test_a_renamed_kernel_is_equal(kernel):
    """Its prototype and its definition."""
    diff = compare_texts(kernel, renamed(kernel, {"kernel": "other_kernel"}), "cuda")
    assert diff.equal
    assert counts(diff) == {"kernel-name": 2}


def test_everything_at_once_is_equal(kernel):
    """Moved down two lines, other file, other tensor, other kernel, CRLF, no final line feed."""
    other = renamed(kernel, {"A": "Z", "kernel": "k2", "k": "ko"}).replace("/*0.000000e+00*/", "")
    other = '\n\n#line 3 "/elsewhere/renamed.py"\n' + other.replace("\n", "\r\n").rstrip()
    diff = compare_texts(kernel, other, "cuda")
    assert diff.equal
    assert set(counts(diff)) == {
        "line-directives", "comments", "whitespace", "kernel-name", "renames",
    }  # fmt: skip
    assert diff.hidden == diff.differing == other.count("\n")


def test_a_folder_in_a_message_is_put_aside():
    """The same kernel lowered from another folder."""
    one = 'void f() {\n  check(x, "failed at /home/a/k.py:12");\n}\n'
    diff = compare_texts(one, one.replace("/home/a", "/srv/b/c"), "cuda")
    assert diff.equal
    assert counts(diff) == {"file-paths": 1}


def test_two_functions_are_renamed_apart():
    """One mapping per function: ``i`` may become ``j`` in one and stay in the other."""
    one = "".join(f"void {name}(int i) {{\n  use(i, {name});\n}}\n" for name in "fg")
    other = one.replace("void g(int i) {\n  use(i", "void g(int j) {\n  use(j")
    assert compare_texts(one, other, "cuda").equal


def test_identical_texts_are_identical(kernel):
    """Nothing differs, no rule counts."""
    diff = compare_texts(kernel, kernel, "cuda")
    assert (diff.identical, diff.equal, diff.differing, counts(diff)) == (True, True, 0, {})
    assert diff.hunks() == ()


@pytest.mark.parametrize("other", ["", "\n", "not C { at ) all \" '", 'R"(', "/*", "\f\x0b é"])
def test_any_two_texts_can_be_compared(kernel, other):
    """Empty, cut off, unbalanced: every line of both is in the rows once and in order."""
    for left, right in ((kernel, other), (other, kernel), (other, other)):
        for rules in (ALL_RULES, ()):
            diff = compare_texts(left, right, "cuda", rules)
            for text, numbers in (
                (left, [row.left for row in diff.rows if row.left]),
                (right, [row.right for row in diff.rows if row.right]),
            ):
                lines = text.count("\n") + (not text.endswith("\n") and text != "")
                assert numbers == list(range(1, lines + 1))
            assert diff.equal == (left == right or not (left.strip() or right.strip()))


def test_renumbered_loops_of_the_next_depth_are_renames(recorded):
    """sm_80 depth 2 against 3: what is shown is the pipeline, not the numbers of loop variables."""
    diff = compare_texts(recorded("gemm.sm_80.2"), recorded("gemm.sm_80.3"), "cuda")
    names = {each.left: each.right for each in diff.renames}
    assert names["i_3"] == "i_5"
    assert counts(diff)["renames"] > 10
    changed = [
        (row.left_text.strip(), row.right_text.strip())
        for row in diff.rows
        if row.kind == "changed"
    ]
    assert ("tl::cp_async_wait<1>();", "tl::cp_async_wait<2>();") in changed


def test_version_indices_are_marked_and_shown(recorded):
    """``& 1`` to ``% 3`` alone is marked; with the prefetch distance it is not."""
    diff = compare_texts(recorded("gemm.sm_80.2"), recorded("gemm.sm_80.3"), "cuda")
    marked = [row for row in diff.rows if "version-index" in row.marks]
    assert marked
    assert all(row.kind == "changed" and "ldmatrix" in row.left_text for row in marked)
    assert all({row.left_text[a:b] for a, b in row.left_spans} == {"& 1"} for row in marked)


def test_an_offset_alone_is_not_marked(kernel):
    """Nothing says that 8192 is a version of anything."""
    (row,) = (
        row
        for row in compare_texts(kernel, kernel.replace("+ 8192", "+ 4096"), "cuda").rows
        if row.kind == "changed"
    )
    assert row.marks == ()


def test_the_plain_diff_sees_the_last_line_feed(kernel):
    """As diff's "no newline at end of file"; under the rules it is whitespace."""
    diff = compare_texts(kernel, kernel.rstrip(), "cuda", ())
    assert [row.marks for row in diff.rows if row.kind == "changed"] == [("line-feed",)]
    assert compare_texts(kernel, kernel.rstrip(), "cuda").equal
