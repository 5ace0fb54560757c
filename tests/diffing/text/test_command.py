"""Does ``stagebench diff`` read what it is given, print what it found, and exit accordingly?"""

import json
import os
import shutil
import threading
import time

import msgspec
import pytest

from stagebench.diff.text_input import MAX_BYTES
from stagebench.diff.text_rule_names import SUMMARIES
from stagebench.dump.files import SNAPSHOTS, dump_files
from stagebench.model import Run
from tests.command_line import stagebench
from tests.diffing.passes.recorded import folder as recorded_folder
from tests.diffing.text.conftest import renamed
from tests.report import conftest as report

CHANGED = ("cp_async_wait<2>", "cp_async_wait<1>")


@pytest.fixture
def files(tmp_path):
    """Write texts or bytes to files and return their names."""

    def write(*contents):
        names = []
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}.cu"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            names.append(str(path))
        return names

    return write


@pytest.fixture
def run_folder(tmp_path):
    """Two recorded variants as dumps of one run, without their IR."""
    data = report.DATA
    run = msgspec.json.decode((data / "gemm_sm80.json").read_bytes(), type=Run)
    cuda = json.loads((data / "gemm_sm80.cu.json").read_text())
    folder = tmp_path / "dumps"
    for result, text in zip(run.variants, cuda, strict=True):
        if result.variant.num_stages in (2, 3):
            cost = msgspec.structs.replace(result.facts.lowering, passes=())
            facts = msgspec.structs.replace(result.facts, lowering=cost)
            whole = msgspec.structs.replace(result, facts=facts)
            target = folder / f"d{result.variant.num_stages}"
            target.mkdir(parents=True)
            for name, content in dump_files(whole, text, None).items():
                (target / name).write_bytes(content)
    return folder


def test_the_same_file_is_equal(diff, files, kernel):
    """Exit code 0, and it says so."""
    ran = diff(*files(kernel, kernel))
    assert (ran.code, ran.err) == (0, "")
    assert "CUDA equal\n" in ran.out


def test_equal_under_the_rules_says_what_it_put_aside(diff, files, kernel):
    """Moved down two lines and renamed: exit code 0, counted by rule."""
    ran = diff(*files(kernel, "\n\n" + renamed(kernel, {"k": "ko"})))
    assert ran.code == 0
    assert "CUDA equal, apart from 4 lines put aside" in ran.out
    assert "2 of 4 lines that differ are renames" in ran.out
    assert "2 of 4 lines that differ are whitespace" in ran.out
    assert "renamed k → ko" in ran.out
    assert diff("--raw", *files(kernel, "\n\n" + kernel)).code == 1


@pytest.mark.parametrize("layout", ["--unified", "--side-by-side"])
def test_a_change_is_one_changed_line_in_both_layouts(diff, files, kernel, layout):
    """Exit code 1; the changed word has a caret."""
    ran = diff(layout, "--context", "0", *files(kernel, kernel.replace(*CHANGED)))
    assert ran.code == 1
    assert "CUDA different: 1 changed\n" in ran.out
    assert [line for line in ran.out.splitlines() if "@@" in line] == [
        "@@ left 13-13, right 13-13 @@"
    ]
    assert sum("wait<2>" in line for line in ran.out.splitlines()) == 1
    assert "^" in ran.out
    assert "\x1b" not in ran.out


def test_colour_where_it_is_asked_for(files, kernel):
    """``FORCE_COLOR`` through a pipe, ``NO_COLOR`` wins."""
    names = files(kernel, kernel.replace(*CHANGED))
    forced = stagebench("diff", *names, FORCE_COLOR="1", NO_COLOR="", TERM="xterm-256color")
    assert "\x1b[" in forced.out
    assert "^" not in forced.out
    assert "\x1b[3" not in stagebench("diff", *names, NO_COLOR="1", FORCE_COLOR="1").out


def test_escape_sequences_of_a_file_are_not_printed(diff, files, kernel):
    """A file can't write to the terminal."""
    ran = diff(*files(kernel, kernel.replace("1.5f", "1.5f\x1b[2J\x9b")))
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "\x9b" not in ran.out


def test_json_holds_the_hunks(diff, files, kernel):
    """Kinds, 1-based lines, changed characters, rules with counts; nothing else is printed."""
    ran = diff("--json", *files(kernel, "\n" + kernel.replace(*CHANGED)))
    assert ran.code == 1
    found = ran.json
    assert (found["schema_version"], found["equal"], found["facts"]) == (1, False, None)
    (hunk,) = found["text"]["hunks"]
    (row,) = (row for row in hunk["rows"] if row["kind"] == "changed")
    assert (row["left"], row["right"]) == (13, 14)
    assert [row["left_text"][a:b] for a, b in row["left_spans"]] == ["2"]
    assert {rule["name"]: rule["lines"] for rule in found["text"]["rules"]} == {
        **dict.fromkeys(SUMMARIES, 0),
        "whitespace": 1,
    }


def test_markdown_fits_a_comment(diff, files, kernel):
    """A fence longer than any in the text; a comment holds 65,536 characters."""
    other = "".join(f"```` x{number}{'y' * 300};\n" for number in range(2000))
    ran = diff("--markdown", *files(kernel, kernel + other))
    assert ran.code == 1
    assert len(ran.out) < 65_536
    assert "more lines" in ran.out
    assert diff("--markdown", *files(kernel, kernel)).code == 0
    few = diff("--markdown", *files(kernel, kernel + other[:600])).out
    assert "`````diff" in few


def test_dumps_show_facts_first(diff, run_folder):
    """Then the text; a selector names one variant."""
    ran = diff(f"{run_folder}[num_stages=2]", f"{run_folder}[num_stages=3]", "--context", "0")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.index("versions 2 → 3") < ran.out.index("CUDA different")
    assert "cp_async_wait depth 1 → 2" in ran.out


def test_a_dump_and_a_file_are_compared_as_text(diff, run_folder):
    """A user's copy of the kernel against the dump."""
    ran = diff(run_folder / "d2", run_folder / "d2" / "kernel.cu")
    assert ran.code == 0
    assert "fact" not in ran.out
    assert diff(run_folder / "d2", run_folder / "d3" / "kernel.cu").code == 1


def test_the_same_dump_elsewhere_is_equal(diff, run_folder, tmp_path):
    """A copy in another folder."""
    shutil.copytree(run_folder / "d2", tmp_path / "elsewhere")
    ran = diff(run_folder / "d2", tmp_path / "elsewhere")
    assert ran.code == 0
    assert "CUDA equal\n" in ran.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\0\0", "binary file"),
        (b"x" * (MAX_BYTES + 1), "16 MiB"),
        (b"", "is empty"),
        (b"\r\n \n", "is empty"),
    ],
    ids=["binary", "large", "no bytes", "blank"],
)
def test_a_file_that_is_no_text_is_an_error(diff, files, kernel, content, message):
    """Exit code 2, the file is named, nothing is printed."""
    names = files(kernel, content)
    ran = diff(*names)
    assert (ran.code, ran.out) == (2, "")
    assert names[1] in ran.err
    assert message in ran.err


def test_what_is_not_there_is_an_error(diff, files, kernel, run_folder):
    """No file, a folder that is no dump, several variants, a negative context."""
    (name,) = files(kernel)
    for arguments in (
        (name, "missing.cu"),
        (name, f"{run_folder}[num_stages=9]"),
        (name, run_folder),
        (name, name, "--context", "-1"),
    ):
        ran = diff(*arguments)
        assert (ran.code, ran.out) == (2, ""), arguments
        assert ran.err.startswith("stagebench: ")


@pytest.mark.parametrize("damage", ["{", '{"schema_version": 2}', ""])
def test_a_damaged_dump_is_an_error(diff, run_folder, damage):
    """Cut off, of another schema, empty."""
    (run_folder / "d3" / "variant.json").write_text(damage)
    ran = diff(run_folder / "d2", run_folder / "d3")
    assert (ran.code, ran.out) == (2, "")
    assert "variant.json" in ran.err


@pytest.mark.parametrize(
    "content", ["x", "\r\nx", b"{", "caf\xe9 // \xff".encode("latin-1"), b"\xef\xbb\xbfx"]
)
def test_any_text_is_compared(diff, files, kernel, content):
    """One word, no last line feed, unbalanced, Latin-1, a byte order mark."""
    names = files(kernel, content)
    assert diff(*names).code == 1
    assert diff(names[1], names[1]).code == 0


def test_a_dump_without_snapshots_has_no_since(diff, tmp_path):
    """As committed baselines are: facts and text all the same, and why no pass is named."""
    left, right = recorded_folder("sm_80", 2), tmp_path / "d3"
    shutil.copytree(recorded_folder("sm_80", 3), right)
    assert "tl.InjectSoftwarePipeline" in diff(left, right).out
    (right / SNAPSHOTS).unlink()
    ran = diff(left, right)
    assert (ran.code, ran.err) == (1, "")
    assert "versions 2 → 3  " in ran.out
    assert "since which pass: not recorded" in ran.out
    assert "CUDA different" in ran.out
    assert "has no snapshots" in diff("--json", left, right).json["no_since"]
    assert "not recorded" in diff("--markdown", left, right).out


def test_damaged_snapshots_are_an_error_but_for_raw(diff, tmp_path):
    """The plain diff has no use for them."""
    left, right = recorded_folder("sm_80", 2), tmp_path / "d3"
    shutil.copytree(recorded_folder("sm_80", 3), right)
    (right / SNAPSHOTS).write_bytes(b"no frame")
    assert diff(left, right).code == 2
    assert diff("--raw", left, right).code == 1


def test_an_empty_kernel_of_a_dump_is_damage(diff, run_folder):
    """A file of 0 bytes is not compared as if the kernel were empty."""
    (run_folder / "d3" / "kernel.cu").write_bytes(b"")
    ran = diff(run_folder / "d2", run_folder / "d3")
    assert (ran.code, ran.out) == (2, "")
    assert "kernel.cu is empty" in ran.err


def test_deeply_nested_json_is_an_error(diff, run_folder):
    """No traceback, exit code 2."""
    (run_folder / "d3" / "variant.json").write_text("[" * 100_000)
    ran = diff(run_folder / "d2", run_folder / "d3")
    assert (ran.code, ran.out) == (2, "")
    assert "variant.json" in ran.err


def test_a_pipe_is_read(diff, files, kernel, tmp_path):
    """``diff <(cat a.cu) b.cu``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(kernel,))
    writer.start()
    ran = diff(pipe, *files(kernel))
    writer.join()
    assert ran.code == 0


def test_a_vast_folder_is_not_searched(diff, files, kernel, tmp_path, monkeypatch):
    """A folder that is no run is looked into up to a limit, and it says so."""
    for number in range(4):
        (tmp_path / "home" / str(number)).mkdir(parents=True)
    monkeypatch.setattr("stagebench.diff.text_input.MAX_FOLDERS", 3)
    ran = diff(*files(kernel), tmp_path / "home")
    assert ran.code == 2
    assert "more than 3 folders" in ran.err


def test_help_lists_every_rule_and_starts_fast():
    """Neither rich nor a lexer is imported for it."""
    began = time.process_time()
    ran = stagebench("diff", "--help")
    assert ran.code == 0
    assert all(name in ran.out for name in SUMMARIES)
    assert "moved: at least 3 equal lines" in ran.out
    assert "exit codes: 0 equal" in ran.out
    assert time.process_time() - began < 1
