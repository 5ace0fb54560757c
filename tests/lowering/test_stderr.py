"""Is each warning of the compiler found in what a child printed, and nothing else?"""

import os

import pytest

from stagebench.worker.stderr_log import _HEADER_BYTES, compiler_warnings


@pytest.fixture
def printed(tmp_path):
    """A function: the warnings in a log that holds this text behind its header."""
    kept = os.dup(2)

    def read(text):
        log = tmp_path / "log"
        log.write_bytes(b"tl.LowerTileOp".ljust(_HEADER_BYTES) + text.encode())
        handle = os.open(log, os.O_RDWR)
        os.dup2(handle, 2)
        os.close(handle)
        try:
            return compiler_warnings()
        finally:
            os.dup2(kept, 2)

    yield read
    os.close(kept)


@pytest.mark.parametrize(
    "line",
    [
        "Warning: no fast path",
        "warning: no fast path",
        "WARNING: no fast path",
        "[12:34:56] /build/tilelang/src/op/gemm.cc:123: Warning: no fast path",
        "/build/tilelang/src/op/gemm.cc:123: Warning: no fast path",
        "[12:34:56] src/op/gemm.cc:7: Warning: no fast path",
        "  Warning: no fast path  ",
    ],
)
def test_a_warning_without_its_time_and_place(printed, line):
    """What says when and where is cut off, so that the same input gives the same text."""
    assert printed(f"hello\n{line}\nbye\n") == ("no fast path",)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no warning here",
        "this is a Warning: not at the start",
        "warnings.warn('x')",
        "Warningx: y",
        "Warning:",
        "error: no fast path",
        "/usr/lib/python3/x.py:12: DeprecationWarning: old",
        "[12:34:56] a.cc:1: Info: no fast path",
    ],
)
def test_what_is_no_warning(printed, line):
    """A line that only talks of warnings is none."""
    assert printed(line + "\n") == ()


def test_a_warning_is_told_once(printed):
    """The same warning at another time and place is the same; the order of the first is kept."""
    log = "[12:00:01] a.cc:1: Warning: one\nWarning: two\n[12:00:02] b.cc:9: Warning: one\n"
    assert printed(log) == ("one", "two")


def test_the_header_is_not_text(printed):
    """The name of the last pass stands before the text and is not read as part of it."""
    assert printed("") == ()


def test_a_log_that_is_no_text(printed):
    """Bytes that are no UTF-8 don't hide the warnings around them."""
    assert printed("Warning: grö\n".encode().decode("latin-1") + "Warning: x\n")[-1] == "x"


def test_a_warning_of_the_python_side(printed):
    """`logger.warning` of TileLang is a warning of the compiler's too."""
    line = "2026-01-02 12:34:56  [TileLang:tilelang.engine:WARNING] (lower.py:12): no fast path"
    assert printed(line + "\n") == ("no fast path",)
