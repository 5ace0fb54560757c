"""Are lines aligned well, whatever they are, and fast?"""

import random
import sys
from difflib import SequenceMatcher
from itertools import pairwise

import pytest

from stagebench.diff.text_alignment import align
from stagebench.diff.text_compare import compare_texts
from stagebench.diff.text_windows import WINDOW, aligned_in_windows

LINES = 500


def edited(random_, items, alphabet):
    """The items with a tenth removed and a tenth of others put in."""
    found = []
    for item in items:
        if random_.random() >= 0.1:
            found.append(item)
        if random_.random() < 0.1:
            found.append(random_.choice(alphabet))
    return found


@pytest.mark.parametrize("alphabet", [1, 2, 5, 1000])
@pytest.mark.parametrize("size", [0, 1, 7, 90, 3 * WINDOW])
@pytest.mark.parametrize("method", [align, aligned_in_windows])
def test_pairs_are_equal_and_increasing(alphabet, size, method):
    """And nearly as many as difflib finds."""
    random_ = random.Random(alphabet * 1000 + size)  # noqa: S311 - repeatable edits
    letters = range(alphabet)
    left = [random_.choice(letters) for _ in range(size)]
    right = edited(random_, left, letters)
    pairs = method(left, right)
    assert all(left[one] == right[other] for one, other in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    assert len(pairs) >= 0.9 * sum(block.size for block in blocks)


def test_unlike_sequences_end():
    """Nothing in common, one side empty, one side far longer."""
    assert align(range(5000), range(5000, 9000)) == []
    assert align([], [1, 2]) == []
    assert aligned_in_windows([0] * 2000, [1] * 3000) == []
    assert len(align([1], [1] * 4000)) == 1


def test_frequent_lines_are_not_dropped():
    """Difflib's autojunk would drop what makes up more than 1 % of 200 lines."""
    left = ["__syncthreads();"] * 300
    assert len(align(left, left[:-1])) == 299


def lines_run(left, right):
    """The comparison, and how many lines of Python it ran: what grows, on any machine alike."""
    count = 0

    def trace(_frame, event, _arg):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        diff = compare_texts(left, right, "cuda")
    finally:
        sys.settrace(before)
    return diff, count


def big(mode, random_, body, lines):
    if mode == "repeated":
        return [body[number % len(body)] for number in range(lines)]
    return [random_.choice(["__syncthreads();", "a = b + c;"]) for _ in range(lines)]


@pytest.mark.parametrize("mode", ["repeated", "two lines"])
def test_lines_that_repeat_take_steps_in_proportion(recorded, mode):
    """Many edits: four times the lines, at most six times the steps (16 if quadratic)."""
    text = recorded("gemm.sm_80.3").split("\n")
    start = next(number for number, line in enumerate(text) if "acc" in line or "C_local" in line)
    body = [line for line in text[start:-2] if line.strip() not in ("{", "}")]
    head = "\n".join(text[:start])

    def steps(lines):
        random_ = random.Random(1)  # noqa: S311 - repeatable edits
        left = big(mode, random_, body, lines)
        right = []
        for line in left:
            chance = random_.random()
            if chance < 0.03:
                continue
            if chance < 0.06:
                right.append(random_.choice(body))
            right.append(line.replace("1", "2", 1) if chance < 0.12 else line)
        texts = ["\n".join([head, *each, "}", ""]) for each in (left, right)]
        diff, count = lines_run(*texts)
        assert 0 < diff.differing < lines / 5
        return count

    assert steps(4 * LINES) < 6 * steps(LINES)


def test_many_kernels_take_steps_in_proportion():
    """Each with names of its own: no step looks at all of the text for each function."""
    kernel = (
        "__global__ void f{0}(float* A, float* B) {{\n  int i_{0} = 1;\n  A[i_{0}] = B[{0}];\n}}\n"
    )

    def steps(count):
        one = "".join(kernel.format(number) for number in range(count))
        return lines_run(one, one.replace("= 1;", "= 2;").replace("i_", "j_"))[1]

    assert steps(480) < 8 * steps(80)
