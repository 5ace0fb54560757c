"""``stagebench passes``: exit codes, JSON, selection, errors, and what it does not import."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.command_line import stagebench
from tests.diffing.passes.recorded import DATA, folder


def passes(*arguments):
    return stagebench("passes", *arguments)


def test_exit_code_one_where_a_pass_diverges():
    """Depth 2 against 3: the pass is named in the first line after the title."""
    ran = passes(folder("sm_80", 2), folder("sm_80", 3))
    assert ran.code == 1
    assert "first diverging pass: tl.InjectSoftwarePipeline" in ran.out
    assert ran.err == ""


def test_exit_code_zero_where_none_does():
    """A variant against itself, and a single timeline."""
    ran = passes(folder("sm_80", 2), folder("sm_80", 2))
    assert (ran.code, "no pass diverges" in ran.out) == (0, True)
    ran = passes(folder("sm_80", 2))
    assert ran.code == 0
    assert "82 pass runs, 36 changed the IR" in ran.out


def test_json_of_two_variants():
    """The records, with the divergence, its facts and its lines."""
    found = passes(folder("sm_80", 1), folder("sm_80", 2), "--json").json
    assert found["schema_version"] == 1
    first = found["passes"][found["first"]]
    assert first["name"] == "tl.PipelinePlanning"
    assert first["state"] == "diverges"
    assert [fact["path"] for fact in first["facts"]] == ["pipeline_loops[k].statements.order"]
    assert first["hunks"][0]["rows"]


def test_json_of_one_variant_and_of_a_run():
    """A timeline and a list of matrices."""
    assert passes(folder("sm_80", 2), "--json").json["passes"][17]["name"] == "tl.PipelinePlanning"
    [matrix] = passes(DATA / "gemm" / "sm_80", "--json").json["matrices"]
    assert len(matrix["variants"]) == 4


def test_a_run_is_a_matrix():
    """Several variants: passes down, variants across."""
    ran = passes(f"{DATA / 'gemm'}[arch=sm_80]")
    assert ran.code == 0
    assert "num_stages=1 → num_stages=2  tl.PipelinePlanning" in ran.out


def test_one_pass_before_and_after():
    """``--pass`` shows what it did; the namespace may be left out."""
    ran = passes(folder("sm_80", 2), "--pass", "PipelinePlanning")
    assert ran.code == 0
    assert '- for k in T.serial(16, annotations={"num_stages": 2}):' in ran.out
    assert "+ for k in T.serial(16" in ran.out


def test_one_pass_of_two_variants():
    """``--pass NAME#k`` chooses one of several runs."""
    ran = passes(folder("sm_80", 2), folder("sm_80", 3), "--pass", "tl.Simplify#3")
    assert ran.code == 1
    assert "tl.Simplify#3" in ran.out
    assert "tl.LowerTileOp" not in ran.out


def test_a_pass_that_follows_shows_its_edits_on_both_sides():
    """Before and after, left and right."""
    ran = passes(folder("sm_80", 2), folder("sm_80", 3), "--pass", "tl.LowerAccessPtr")
    assert "tl.LowerAccessPtr, pass 32 on the left, 34 on the right: follows" in ran.out
    assert "before → after on the left:" in ran.out
    assert "before → after on the right:" in ran.out
    assert "+ " in ran.out


def test_depths_are_compared_within_one_set_of_the_other_parameters(tmp_path):
    """Neighbours differ in ``num_stages`` alone; another parameter is another matrix."""
    for name, value in (("one", False), ("two", True)):
        for depth in (2, 3):
            place = shutil.copytree(folder("sm_80", depth), tmp_path / name / str(depth))
            file = place / "variant.json"
            found = json.loads(file.read_text())
            found["variant"]["params"]["causal"] = value
            file.write_text(json.dumps(found))
    ran = passes(tmp_path)
    assert ran.code == 0
    assert ran.out.count("num_stages=2 → num_stages=3  tl.InjectSoftwarePipeline") == 2
    assert "causal=false" in ran.out
    assert "num_stages=3 → " not in ran.out


def test_a_dump_without_snapshots_is_said_to_have_none(tmp_path):
    """A baseline: what is missing, and how to get it."""
    place = shutil.copytree(folder("sm_80", 2), tmp_path / "baseline")
    (place / "snapshots.txt.zst").unlink()
    ran = passes(place)
    assert ran.code == 2
    assert "holds no pass snapshots" in ran.err
    assert "stagebench sweep" in ran.err


def test_an_empty_run_and_an_open_selector_are_named(tmp_path):
    """Not an index error, not a folder that is missing."""
    (tmp_path / "run.json").write_text('{"schema_version": 1, "variants": []}')
    assert "run without variants" in passes(tmp_path).err
    assert "no closing ]" in passes(f"{DATA / 'gemm'}[arch=sm_80").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((folder("sm_80", 2), "--pass", "NoSuchPass"), "no pass NoSuchPass"),
        ((folder("sm_80", 2), "--pass", "PipelinePlaning"), "did you mean tl.PipelinePlanning"),
        ((folder("sm_80", 2), "--pass", "NOPE"), "did you mean"),
        ((folder("sm_80", 2), "--pass", "tl.Simplify#99"), "ran"),
        ((folder("sm_80", 2), "--pass", "tl.Simplify#x"), "not a number"),
        ((DATA / "gemm", "--pass", "tl.Simplify"), "about one variant or two"),
        ((DATA / "gemm", folder("sm_80", 2)), "names 9 variants"),
        ((DATA / "nowhere",), "no dump"),
        ((folder("sm_80", 2), "--context", "-1"), "--context"),
    ],
)
def test_wrong_usage_is_exit_code_two(arguments, message):
    """What is wrong, on standard error, in a sentence."""
    ran = passes(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("snapshots.txt.zst", b"no frame"),
        ("snapshots.txt.zst", b""),
        ("passes.json", b"{}"),
        ("passes.json", b'{"schema_version": 2, "passes": []}'),
        ("facts.json", b"\xff\xfe"),
    ],
)
def test_a_damaged_dump_is_exit_code_two(tmp_path, name, content):
    """Damaged snapshots, another schema, bytes that are no text: a message, no traceback."""
    broken = shutil.copytree(folder("sm_80", 2), tmp_path / "broken")
    (broken / name).write_bytes(content)
    ran = passes(broken, folder("sm_80", 2))
    assert ran.code == 2
    assert ran.err.startswith("stagebench: ")
    assert "Traceback" not in ran.err


def test_help_imports_nothing_heavy():
    """``--help`` parses arguments: no compiler, no rich, no records."""
    code = (
        "import sys\n"
        "from stagebench.cli import main\n"
        "try:\n    main(['passes', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'tilelang', 'tvm', 'torch', 'rich', 'msgspec', 'difflib', 'tree_sitter'}\n"
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_comparison_imports_no_compiler():
    """Dumps alone must do."""
    code = (
        "import sys\n"
        "from stagebench.cli import main\n"
        f"main(['passes', {str(folder('sm_80', 2))!r}, {str(folder('sm_80', 3))!r}, '--json'])\n"
        "heavy = {'tilelang', 'tvm', 'torch'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
