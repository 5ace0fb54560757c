"""Is ``--until`` answered as Python would, and can none run for long or leave its names?"""

import time

import pytest

from stagebench.errors import UsageError
from stagebench.experiment.bisecting_expression import Expression
from tests.gate.building import accepted

RESULT = accepted("sm_90a", 3)
CUDA = "int a;\n" * 20_000


def answer(text):
    return Expression(text).answer(RESULT, CUDA)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("shared_memory.dynamic_bytes == 2 * 49152 and not outcome == 'failed'", True),
        ("bool(shared_memory.dynamic_bytes // 1024 - 96)", False),
        ("1 < loops[0].num_stages <= 3 is not None", True),
        ("v.totals['wgmma'].static > 0 or 1 // 0 == 0", True),
        ("any(b.num_versions == 3 and b.name[0] in ('A', 'B') for b in buffers)", True),
        ("sorted({b.name for b in buffers})[-1] == 'B_shared'", True),
        ("[n for n, m in [(1, 2), (3, 4)] if m > 2] == [3]", True),
        ("kernel_cu.count('int') == 20000 if arch.startswith('sm_9') else False", True),
        ("'int a' in kernel_cu and 'float' not in kernel_cu", True),
        ("sum(b.num_versions for b in buffers) == 6", True),
        ("buffers.names() == ['A_shared', 'B_shared']", True),
        ("failure is None", True),
        ("-1 < -loops[0].num_stages", False),
    ],
)
def test_what_it_says(text, value):
    """Comparisons, arithmetic, comprehensions, functions and methods are Python's."""
    assert answer(text) == (value, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9**9**9", "** is not allowed here"),
        ("1 << 10**9", "is not allowed here"),
        ("(lambda: 1)()", "is not allowed here"),
        ("__import__('os').system('true')", "is not allowed here"),
        ("v.__class__", "__class__ is no name of a variant"),
        ("().__class__.__mro__", "is no name of a variant"),
        ("f'{outcome}'", "an f-string is not allowed here"),
        ("(x := 1)", ":= is not allowed here"),
        ("kernel_cu.ljust(10)", "kernel_cu.ljust(…) is not allowed here"),
        ("max(*buffers)", "* is not allowed"),
        ("sorted(buffers, key=len)", "sorted(…) is not allowed here"),
        ("shared_memory.fits =", "is no Python expression"),
        ("", "is no Python expression"),
        ("(" * 900, "is no Python expression"),
        ("1 +" * 800 + "1", "longer than 2000 characters"),
    ],
)
def test_what_is_refused_before_anything_is_lowered(text, said):
    """Powers above all: the message names what is not allowed."""
    with pytest.raises(UsageError) as caught:
        Expression(text)
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("'a' * 9999999999", "* / // and % take two numbers"),
        ("[1] * 9999999999 == []", "* / // and % take two numbers"),
        ("'%999999999d' % 1", "* / // and % take two numbers"),
        ("*".join(["999999999999"] * 40), "a number of more than 256 bits"),
        ("[1 for a in kernel_cu for b in kernel_cu for c in kernel_cu]", "more than 1,000,000"),
        ("[kernel_cu + kernel_cu for a in kernel_cu]", "more than 1,000,000"),
        ("[kernel_cu.count(a) for a in kernel_cu]", "more than 1,000,000"),
        ("[a in kernel_cu for a in kernel_cu]", "more than 1,000,000"),
        ("nothing > 1", "nothing is no name of a variant"),
        ("buffers['no'].num_versions", "LookupError: buffers has no 'no' (there are: A_shared"),
        ("shared_memory.no", "AttributeError: shared_memory has no 'no'"),
        ("at(num_stages=1)", "is not allowed here"),
        ("len", "it is the function len, neither true nor false"),
        ("kernel_cu.strip", "it is the function strip, neither true nor false"),
        ("v", "it is a VariantView, neither true nor false"),
        ("shared_memory.dynamic_bytes", "it is 98304, neither true nor false"),
        ("kernel_cu", "it is a str, neither true nor false"),
        ("failure", "it is None, neither true nor false"),
        ("not " * 450 + "1", None),
    ],
)
def test_what_has_no_answer(text, said):
    """Whatever would be large or long ends with a reason: it takes no minutes and no gigabytes."""
    start = time.process_time()
    try:
        value, note = answer(text)
    except UsageError as exc:
        value, note = None, exc.message
    assert time.process_time() - start < 30, "it would take hours"
    if said is None:
        assert value is True or "nested too deeply" in note
    else:
        assert value is None
        assert said in note


def test_what_is_about_machine_code():
    """By the name alone, wherever it stands."""
    assert Expression("machine.registers > 128").reads_machine
    assert Expression("len(buffers) and v.machine.spill_bytes").reads_machine
    assert not Expression("outcome == 'machine'").reads_machine


def test_a_name_that_is_none_is_answered_by_those_that_are():
    """Before anything is lowered; a comprehension's own names are its own."""
    with pytest.raises(UsageError) as caught:
        Expression("zzz > 1")
    assert caught.value.hint.startswith("there are: v, case, kernel, arch, num_stages, params,")
    assert "shared_memory" in caught.value.hint
    Expression("[one for one in buffers if v.outcome == 'lowered'] == []")
