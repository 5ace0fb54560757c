# ruff: noqa: S106 - names of compiler passes
"""Does ``stagebench diff`` say why a side failed, and that nothing was compared where both did?"""

import msgspec
import pytest

from stagebench.dump.files import dump_files
from stagebench.model import Compiler, Diagnostic, Failure, Run, VariantResult
from tests.report import conftest as report

GONE = Failure(
    kind="compile_error",
    message="InternalError: no buffer [A]\nmore of it",
    pass_name="tir.X",
    diagnostics=(Diagnostic(severity="error", code="at", message="line 3", evidence=()),),
)


@pytest.fixture
def dump(tmp_path):
    """Write a variant that failed so, by this compiler, and return its folder."""
    run = msgspec.json.decode((report.DATA / "gemm_sm80.json").read_bytes(), type=Run)
    variant = next(one.variant for one in run.variants if one.variant.num_stages == 2)

    def write(name, failure, version="1"):
        by = msgspec.structs.replace(variant, compiler=Compiler(name="tvm", version=version))
        failed = VariantResult(variant=by, outcome="failed", failure=failure, facts=None)
        folder = tmp_path / name
        folder.mkdir()
        for file, content in dump_files(failed, None, None).items():
            (folder / file).write_bytes(content)
        return folder

    return write


def test_two_that_fail_alike_are_not_equal(diff, dump):
    """Nothing was compared: exit code 2, and the one message is said of each side.

    What a release printed beside it, and its name of the dialect, are no other failure.
    """
    later = msgspec.structs.replace(GONE, pass_name="tirx.X", diagnostics=())
    ran = diff(dump("a", GONE), dump("b", later, version="2"))
    assert ran.code == 2
    said = "compile error in {}: InternalError: no buffer [A]"
    assert [line.strip() for line in ran.out.splitlines()[1::2]] == [
        said.format("tir.X"),
        said.format("tirx.X"),
    ]
    assert ran.out.endswith("both fail, with the same message: no fact and no text was compared\n")
    assert "no fact changed" not in ran.out


@pytest.mark.parametrize(
    "other", [{"message": "ValueError: b"}, {"kind": "crash"}, {"pass_name": "tir.Y"}]
)
def test_two_that_fail_otherwise_are_told_apart(diff, dump, other):
    """Another message, kind or pass."""
    ran = diff(dump("a", GONE), dump("b", msgspec.structs.replace(GONE, **other)))
    assert ran.code == 2
    assert "both fail, each for a reason of its own: no fact and no text was compared" in ran.out


def test_json_and_markdown_say_so_too(diff, dump):
    """``equal`` is neither true nor false; both failures are there, whole."""
    sides = dump("a", GONE), dump("b", msgspec.structs.replace(GONE, message="ValueError: b"))
    ran = diff("--json", *sides)
    assert ran.code == 2
    assert (ran.json["equal"], ran.json["facts"], ran.json["text"]) == (None, None, None)
    assert [ran.json[side]["failure"]["message"] for side in ("left", "right")] == [
        GONE.message,
        "ValueError: b",
    ]
    ran = diff("--markdown", *sides)
    assert ran.code == 2
    assert "compile error in tir.X: InternalError: no buffer \\[A\\]\n" in ran.out
    assert "compile error in tir.X: ValueError: b\n" in ran.out
    assert "no fact and no text was compared" in ran.out


def test_one_that_fails_says_why(diff, dump, tmp_path):
    """The outcome changed: exit code 1, with the compiler's first line."""
    run = msgspec.json.decode((report.DATA / "gemm_sm80.json").read_bytes(), type=Run)
    folder = tmp_path / "lowered"
    folder.mkdir()
    for name, content in dump_files(run.variants[0], "kernel\n", None).items():
        (folder / name).write_bytes(content)
    ran = diff(folder, dump("b", GONE))
    assert ran.code == 1
    assert "outcome lowered → failed (compile error in tir.X)" in ran.out
    assert ran.out.count("InternalError: no buffer [A]") == 1
    found = diff("--json", folder, tmp_path / "b").json
    assert (found["equal"], found["left"]["failure"]) == (False, None)
    assert found["right"]["failure"]["message"] == GONE.message
