"""Does damage to real lines ever crash the reader, or make it drop an instruction?"""

import re
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from stagebench.errors import UsageError
from stagebench.ptx.executed import walk
from stagebench.ptx.read import read_module
from stagebench.ptx.syntax_error import PtxSyntaxError
from stagebench.ptx.thread_class import Placement
from tests.ptx.building import real, text_of

TEXTS = {name: real(name) for name in ("gemm.sm_80", "gemm.sm_90a")}
LINES = sorted(
    {
        line
        for text in TEXTS.values()
        for line in text.split("\n")
        if re.match(r"\s*(@|[a-z]|\$|\{|\}|//|\.loc|\.reg)", line) and len(line) < 200
    }
)
ALPHABET = "%r1{}[]();:,@!|+-<>=./*\"\\'# \tabpx0_$\n\u00e9\x00"


def count_of_statements(text):
    """Semicolons outside comments and strings, less those of declarations: by characters alone."""
    bare = re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"', " ", text, flags=re.DOTALL)
    bare = re.sub(r"\.loc\b[^\n]*", " ", bare)
    pieces = [re.sub(r"[{}\s]+|[\w$%]+:(?!:)", " ", piece) for piece in bare.split(";")[:-1]]
    return sum(bool(re.match(r"\s*(@|[a-z])", piece)) for piece in pieces)


@st.composite
def damaged(draw):
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))
    text = "\n".join(lines) + "\n"
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 4))
        text = text[:at] + draw(st.text(ALPHABET, max_size=3)) + text[at + cut :]
    return text


def read_or_line(text):
    """The module, or the line of the error."""
    try:
        return read_module(text), 1
    except PtxSyntaxError as error:
        return None, error.line


@settings(max_examples=400, deadline=None)
@given(damaged())
def test_damaged_lines(body):
    """Either a syntax error, or every instruction is there; nothing else is ever raised."""
    text = text_of(body)
    module, line = read_or_line(text)
    assert 1 <= line <= text.count("\n") + 1
    if module is None:
        return
    found = sum(len(one.instructions) for one in module.functions)
    assert found == count_of_statements(text[text.index("{") :])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_a_damaged_kernel(name, data):
    """A real kernel with one place changed: a syntax error, or a walk that ends."""
    text = TEXTS[name]
    at = data.draw(st.integers(0, len(text) - 1))
    cut = data.draw(st.integers(0, 8))
    text = text[:at] + data.draw(st.text(ALPHABET, max_size=3)) + text[at + cut :]
    module, _ = read_or_line(text)
    for kernel in module.entries if module else ():
        with suppress(UsageError):  # a branch to a label that is no longer there
            found = walk(module, kernel, Placement((128, 1, 1), (2, 2, 1)), max_steps=2000)
            assert sum(len(group.threads) for group in found.groups) == 128
