"""Is a baseline that can't be trusted refused, with the file, the line and what to do?"""

import os

import pytest

from stagebench.errors import DumpError
from stagebench.gate.baselines import ASIDE, BASELINE, read_baselines
from tests.dumping import building as dumps
from tests.gate.building import write

FILES = ("variant.json", "facts.json", "launch.json", "passes.json")


@pytest.fixture
def root(tmp_path):
    """Baselines of one experiment: two variants and an empty history."""
    root = tmp_path / "dumps" / "exp"
    write(root / "gemm" / "sm_90a" / "num_stages=2", dumps.lowered())
    write(root / "gemm" / "sm_90a" / "num_stages=3", dumps.failed())
    (root / BASELINE).write_text('{"schema_version": 1, "accepted": []}\n')
    return root


def read(root):
    return read_baselines(root, shown="dumps/exp", said="the baselines")


def refused(root):
    with pytest.raises(DumpError) as caught:
        read(root)
    return caught.value


def test_what_is_there_is_read_in_order(root):
    """Folders by name; a half-made one of a killed process is none."""
    (root / "gemm" / ".tmp-x" / "y").mkdir(parents=True)
    (root / "gemm" / ".tmp-x" / "y" / "variant.json").write_text("{")
    assert [baseline.name for baseline in read(root).baselines] == [
        "gemm/sm_90a/num_stages=2", "gemm/sm_90a/num_stages=3",
    ]  # fmt: skip


def test_baselines_that_nobody_accepted(root):
    """Without its history a folder of dumps is no folder of baselines; a run's dumps have none."""
    (root / BASELINE).unlink()
    error = refused(root)
    assert f"{root / BASELINE} is not there" in error.message
    assert "the 2 baselines beside it" in error.message
    assert f"git checkout -- {root / BASELINE}" in error.hint
    assert len(read_baselines(root, shown="x", said="x", accepted=False).baselines) == 2


def test_no_folder_is_no_baselines(tmp_path):
    """The first check of an experiment."""
    assert read(tmp_path / "nothing").baselines == ()


@pytest.mark.parametrize("name", FILES)
def test_conflict_markers_are_named_with_their_line(root, name):
    """Whatever the file: what to do is in the hint."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / name
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], "<<<<<<< HEAD", lines[3], "=======", lines[3],
                               ">>>>>>> theirs", *lines[4:]]))  # fmt: skip
    error = refused(root)
    assert f"{path}:4: merge conflict markers" in error.message
    assert "git checkout --ours" in error.hint


def test_conflict_markers_in_cuda_too(root):
    """A text that nothing parses is looked at as well."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / "kernel.cu"
    path.write_text("a\n<<<<<<< HEAD\nb\n")
    assert f"{path}:2: merge conflict markers" in refused(root).message


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda _: b"", "is empty"),
        (lambda data: data.replace(b'": ', b'\xff\xfe": ', 1), "not UTF-8"),
        (lambda data: data[:-3] + b', "more": 1}\n', ""),
        (lambda data: data.replace(b'"schema_version": 1', b'"schema_version": 2'), "schema"),
        (lambda _: b"[]", ""),
    ],
    ids=["truncated", "empty", "non_utf8", "hand_edited", "newer", "other"],
)
def test_a_damaged_file_is_named(root, name, damage, said):
    """Its path is in the message, how to get it back in the hint."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / name
    path.write_bytes(damage(path.read_bytes()))
    error = refused(root)
    assert str(path) in error.message
    assert said in error.message
    assert f"git checkout -- {path}" in error.hint


@pytest.mark.parametrize("name", [*FILES, "kernel.cu"])
def test_a_missing_file_is_named(root, name):
    """A dump that lost a file is not whole."""
    (root / "gemm" / "sm_90a" / "num_stages=2" / name).unlink()
    assert name in refused(root).message


def test_a_huge_file_is_not_read(root):
    """A sparse file of a terabyte costs nothing and is refused by its size."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / "facts.json"
    with path.open("r+b") as stream:
        stream.truncate(1 << 40)
    assert f"{path} has 1,048,576 MiB" in refused(root).message


@pytest.mark.parametrize("which", ["file", "variant", "kernel", "root", "history"])
def test_a_link_is_refused(root, tmp_path, which):
    """Wherever it is: what it points to may change without a commit."""
    place = {
        "file": root / "gemm" / "sm_90a" / "num_stages=2" / "facts.json",
        "variant": root / "gemm" / "sm_90a" / "num_stages=2",
        "kernel": root / "gemm",
        "root": root,
        "history": root / BASELINE,
    }[which]
    if which == "history":
        place.write_text("{}")
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    assert f"{place} is a symbolic link" in refused(root).message


def test_a_fifo_does_not_hang(root):
    """What is no file is not opened."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / "facts.json"
    path.unlink()
    os.mkfifo(path)
    assert "is no file" in refused(root).message


def test_a_damaged_history_is_named(root):
    """``baseline.json`` is read as strictly."""
    (root / BASELINE).write_text('{"schema_version": 1}')
    assert BASELINE in refused(root).message


def test_a_killed_accept_says_where_the_old_baselines_are(root):
    """Between two renames the folder is missing: nothing is lost, and the hint moves it back."""
    aside = root.parent / f"{ASIDE}exp"
    aside.mkdir()
    root.rename(aside / "exp")
    error = refused(root)
    assert "was killed" in error.message
    assert f"mv {aside / 'exp'} {root}" in error.hint


@pytest.mark.parametrize("text", ["", "  \n", "garbage\n", dumps.CUDA[:-4], "void kernel();\n"])
def test_cuda_that_is_damaged(root, text):
    """Empty, cut or something else: refused, and the hint is true of what accept takes."""
    path = root / "gemm" / "sm_90a" / "num_stages=2" / "kernel.cu"
    path.write_text(text)
    error = refused(root)
    assert str(path) in error.message
    assert f"delete {path.parent} and `stagebench accept`" in error.hint
