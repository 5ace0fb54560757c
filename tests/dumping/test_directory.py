"""Is a run kept with its order, its times and nothing else?"""

import json
from pathlib import Path

import msgspec
import pytest

from stagebench.dump.directory import DumpDirectory, Timing, read_run, read_timing
from stagebench.dump.folder_name import variant_folder
from stagebench.errors import DumpError, UsageError
from stagebench.model import FILE_RAISED, Compiler, Diagnostic
from tests.dumping.building import CUDA, FRAME, failed, lowered, variant

TIMES = Timing(load=0.1, lower=2.5, observe=0.25, facts=0.125, pass_seconds=(0.5, None))


@pytest.fixture
def run(tmp_path):
    """A run of three variants, deepest first; the second failed."""
    directory = DumpDirectory(tmp_path / "run")
    folders = []
    for depth in (4, 3, 2):
        of = variant(num_stages=depth)
        result = failed(of) if depth == 3 else lowered(of)
        folders.append(directory.write(result, (), CUDA, FRAME))
    directory.finish(tuple(folders), {folders[0]: TIMES})
    return tmp_path / "run"


def depths(dumps):
    return [dump.result.variant.num_stages for dump in dumps]


def test_the_order_of_the_axes_is_kept(run):
    """`run.json` lists the variants as they were asked for, failed ones too."""
    dumps = read_run(run)
    assert depths(dumps) == [4, 3, 2]
    assert [dump.result.outcome for dump in dumps] == ["lowered", "failed", "lowered"]
    assert json.loads((run / "run.json").read_text())["variants"][0] == (
        "small.gemm/sm_90a/num_stages=4"
    )


def test_an_interrupted_run_has_what_was_finished(run):
    """Without `run.json` every whole dump counts, and what a killed process left does not."""
    (run / "run.json").unlink()
    torn = run / "small.gemm" / "sm_90a" / ".tmp-abc123"
    torn.mkdir()
    (torn / "variant.json").write_text("{")
    assert depths(read_run(run)) == [2, 3, 4]


def test_no_dumps(tmp_path):
    """A folder without dumps is told, with the command that makes some."""
    with pytest.raises(DumpError, match="no dump in") as caught:
        read_run(tmp_path)
    assert "stagebench sweep" in caught.value.hint


def test_a_dump_that_is_listed_and_gone(run):
    """A variant of `run.json` whose folder is gone is named."""
    import shutil

    shutil.rmtree(run / "small.gemm" / "sm_90a" / "num_stages=4")
    with pytest.raises(DumpError, match="num_stages=4"):
        read_run(run)


@pytest.mark.parametrize("content", ["{}", '{"schema_version": 2, "variants": []}', "["])
def test_a_run_file_of_something_else(run, content):
    """`run.json` is read strictly."""
    (run / "run.json").write_text(content)
    with pytest.raises(DumpError, match=r"run\.json"):
        read_run(run)


def test_times_lie_apart(run):
    """Times are found from the dump's folder; nothing but `seconds.json` holds one."""
    assert read_timing(run / "small.gemm" / "sm_90a" / "num_stages=4") == TIMES
    assert read_timing(run / "small.gemm" / "sm_90a" / "num_stages=2") is None
    for path in run.rglob("*.json"):
        assert ("2.5" in path.read_text()) == (path.name == "seconds.json"), path


def test_a_dump_that_was_moved_has_no_times(run, tmp_path):
    """A dump outside of its directory is still whole, without times."""
    moved = (run / "small.gemm" / "sm_90a" / "num_stages=4").rename(tmp_path / "moved")
    assert read_timing(moved) is None


def test_a_directory_that_cannot_be_written(tmp_path):
    """It is told before anything is lowered, with what to type instead."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="can't write dumps to") as caught:
        DumpDirectory(tmp_path / "file" / "run").check_writable()
    assert "--dump-dir" in caught.value.hint


def test_a_probe_leaves_nothing(tmp_path):
    """Asking whether a directory can be written leaves it empty."""
    DumpDirectory(tmp_path / "run").check_writable()
    assert list((tmp_path / "run").iterdir()) == []


def folder(value, **more):
    return variant_folder(variant(x=value, **more), ("x", *more)).rpartition("/")[2]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (64, "num_stages=2,x=64"),
        (-1, "num_stages=2,x=-1"),
        (0.5, "num_stages=2,x=0.5"),
        (True, "num_stages=2,x=true"),
        (None, "num_stages=2,x=None"),
        ("float16", "num_stages=2,x=float16"),
        ((64, 32), "num_stages=2,x=64x32"),
    ],
)
def test_plain_values_make_plain_names(value, name):
    """What people usually give reads as they gave it."""
    assert folder(value) == name


def test_values_that_read_alike_do_not_share_a_folder():
    """A word is not the number, constant or tuple that it looks like."""
    alike = [
        1, "1", (1,), 1.0, "1.0", True, "true", "True", None, "None", "none", (64, 64), "64x64",
        (64, (64,)), ("a", "b"), "axb", "", "a,y=1", "nan", "inf", float("inf"),
    ]  # fmt: skip
    names = [folder(value) for value in alike]
    assert len(set(names)) == len(alike)
    assert variant_folder(variant(x="a,y=b", y="c"), ("x", "y")) != variant_folder(
        variant(x="a", y="b,y=c"), ("x", "y")
    )


def test_as_written_is_a_depth():
    """A kernel that is lowered as written has a folder of that name."""
    import msgspec

    plain = msgspec.structs.replace(variant(), params={})
    assert variant_folder(plain, ()) == "small.gemm/sm_90a/num_stages=as-written"


def test_pass_configs_are_part_of_the_name():
    """A pass config tells variants apart as a parameter does."""
    of = variant(pass_configs={"tl.disable_warp_specialized": True})
    assert variant_folder(of, ()).endswith("num_stages=2,tl.disable_warp_specialized=true")


def unseen(of):
    """A variant whose file could not be imported."""
    result = failed(of)
    why = Diagnostic(severity="error", code=FILE_RAISED, message="no module")
    failure = msgspec.structs.replace(result.failure, diagnostics=(why,))
    return msgspec.structs.replace(result, failure=failure)


def without_depth(of):
    params = {name: value for name, value in of.params.items() if name != "num_stages"}
    return msgspec.structs.replace(of, params=params)


def test_variants_that_do_not_exist_do_not_stay(tmp_path, monkeypatch):
    """What failed before the kernel was seen goes when it is, whatever depth it was asked for."""
    monkeypatch.chdir(tmp_path)
    directory = DumpDirectory(Path("run"))
    stale = [variant(tile=4), variant(num_stages=3, tile=4), without_depth(variant(tile=5))]
    other = msgspec.structs.replace(stale[0], compiler=Compiler(name="tvm", version="1"))
    for of in (*stale, variant(tile=6)):
        directory.write(unseen(of), ("tile",), None, None)
    DumpDirectory(Path("run"), by_compiler=True).write(unseen(other), ("tile",), None, None)
    directory.write(failed(variant(num_stages=1, tile=4)), ("tile",), None, None)
    now = [
        without_depth(variant(tile=4, pass_configs={"tir_pipeline": "s_tir"})),
        variant(num_stages=3, tile=5),
    ]
    folders = [directory.write(lowered(of), ("tile",), CUDA, FRAME) for of in now]
    directory.finish(tuple(folders), {})
    assert sorted(path.parent.name for path in tmp_path.rglob("variant.json")) == [
        "num_stages=1,tile=4", "num_stages=2,tile=4,compiler=tvm==1", "num_stages=2,tile=6",
        "num_stages=3,tile=5", "num_stages=as-written,tile=4,tir_pipeline=s_tir",
    ], "it failed otherwise, by another compiler, with another tile"  # fmt: skip
    directory.finish((directory.write(unseen(stale[2]), ("tile",), None, None),), {})
    assert (tmp_path / "run" / folders[1]).is_dir(), "what was lowered stays"
