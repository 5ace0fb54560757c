"""Is a header that can't be made or read only lost time, never a lost kernel?"""

import os
import tempfile

import pytest

from stagebench.assemble import nvrtc_library
from stagebench.assemble.nvrtc_library import Nvrtc
from stagebench.assemble.nvrtc_protocol import Compile, Compiled, Rejected

TEXT = '#include "tile.h"\nextern "C" __global__ void k(int* x) { x[0] = WIDTH; }\n'


def request(text=TEXT, width=7):
    options = ("-default-device", "--gpu-architecture=compute_80")
    header = f"#define WIDTH {width}\n"
    return Compile(source=text, options=options, headers={"tile.h": header})


def test_the_header_is_used_from_the_second_on():
    """The first kernel makes it, the second uses it; both give the PTX of a plain compilation."""
    warm = Nvrtc()
    first = warm.compile_and_keep_header(request())
    second = warm.compile(request())
    plain = Nvrtc().compile(request())
    assert [result.precompiled for result in (first, second, plain)] == [False, True, False]
    assert first.ptx == second.ptx == plain.ptx


def test_an_error_in_the_first_kernel():
    """It is an answer without a word of the header; the next kernel compiles, and has a header."""
    warm = Nvrtc()
    wrong = warm.compile_and_keep_header(request(TEXT + "bogus;\n"))
    assert isinstance(wrong, Rejected)
    assert wrong.log.startswith("kernel.cu(3): error: ")
    assert "precompiled" not in wrong.log
    if not warm.warm:
        warm.compile_and_keep_header(request())
    assert warm.compile(request()).precompiled
    assert isinstance(warm.compile(request(TEXT + "bogus;\n")), Rejected)


@pytest.mark.parametrize("where", ["no folder", "no file"])
def test_no_place_for_a_header(monkeypatch, tmp_path, where):
    """Kernels compile without one, the first too."""
    if where == "no folder":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    else:
        monkeypatch.setattr(nvrtc_library, "_HEADER_NAME", "nowhere/kernel.pch")
    warm = Nvrtc()
    assert isinstance(warm.compile_and_keep_header(request()), Compiled)
    assert warm.warm
    second = warm.compile(request())
    assert (type(second), second.precompiled) == (Compiled, False)


def test_a_header_that_cannot_be_read(monkeypatch):
    """A kernel compiles without it."""
    opened = []
    real = os.open

    def watched(path, *args, **kwargs):
        handle = real(path, *args, **kwargs)
        if str(path).endswith("kernel.pch"):
            opened.append(handle)
        return handle

    monkeypatch.setattr(nvrtc_library.os, "open", watched)
    warm = Nvrtc()
    warm.compile_and_keep_header(request())
    os.close(opened[0])
    second = warm.compile(request())
    assert (type(second), second.precompiled) == (Compiled, False)


def test_nothing_stays_in_the_temporary_folder(monkeypatch, tmp_path):
    """The header is unlinked as soon as it is open: a killed process leaves none."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warm = Nvrtc()
    warm.compile_and_keep_header(request())
    assert list(tmp_path.iterdir()) == []
    assert warm.compile(request()).precompiled


def test_leftovers_of_killed_processes_are_removed(monkeypatch, tmp_path):
    """A folder goes when its process is gone; one of a running process and others' stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = (
        "stagebench-pch-4194999-a",
        f"stagebench-pch-{os.getpid()}-b",
        "pch-4194999-c",
        "stagebench-pch-x",
    )
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.pch").write_bytes(b"")
    Nvrtc().compile_and_keep_header(request())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
