"""Are lines aligned well, whatever they are, and fast?"""

import random
import sys
import time
from difflib import SequenceMatcher
from itertools import pairwise

import pytest

from stagebench.diff.text_alignment import align
from stagebench.diff.text_compare import compare_texts
from stagebench.diff.text_windows import WINDOW, aligned_in_windows

LINES = 20_000
SECONDS = 5.0


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


def big(mode, random_, body):
    if mode == "repeated":
        return [body[number % len(body)] for number in range(LINES)]
    return [random_.choice(["__syncthreads();", "a = b + c;"]) for _ in range(LINES)]


@pytest.mark.parametrize("mode", ["repeated", "two lines"])
def test_twenty_thousand_lines_take_seconds(recorded, mode):
    """Many edits, lines that repeat: no input is quadratic, and most edits are found as such."""
    random_ = random.Random(1)  # noqa: S311 - repeatable edits
    text = recorded("gemm.sm_80.3").split("\n")
    start = next(number for number, line in enumerate(text) if "acc" in line or "C_local" in line)
    body = [line for line in text[start:-2] if line.strip() not in ("{", "}")]
    left = big(mode, random_, body)
    right = []
    for line in left:
        chance = random_.random()
        if chance < 0.03:
            continue
        if chance < 0.06:
            right.append(random_.choice(body))
        right.append(line.replace("1", "2", 1) if chance < 0.12 else line)
    head = "\n".join(text[:start])
    texts = ["\n".join([head, *lines, "}", ""]) for lines in (left, right)]
    began = time.process_time()
    diff = compare_texts(*texts, "cuda")
    assert time.process_time() - began < SECONDS
    assert 0 < diff.differing < LINES / 5


def test_many_kernels_take_steps_in_proportion():
    """Four times the kernels, at most six times the calls of Python functions (16 if quadratic)."""
    kernel = (
        "__global__ void f{0}(float* A, float* B) {{\n  int i_{0} = 1;\n  A[i_{0}] = B[{0}];\n}}\n"
    )

    def steps(count):
        one = "".join(kernel.format(number) for number in range(count))
        other = one.replace("= 1;", "= 2;").replace("i_", "j_")
        seen = 0

        def count_calls(_frame, event, _arg):
            nonlocal seen
            seen += event in ("call", "c_call")

        sys.setprofile(count_calls)
        try:
            compare_texts(one, other, "cuda")
        finally:
            sys.setprofile(None)
        return seen

    assert steps(160) < 6 * steps(40)
