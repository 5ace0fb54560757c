"""Where may a bundle be written?  Never over something else, and never half."""

import errno
import os

import pytest

from stagebench.bundle.errors import BundleError
from stagebench.bundle.read import read_bundle
from stagebench.bundle.target import check_target
from tests.bundle.building import bundle, name, parts


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("text", ["b.tar.gz", "b.tgz", "b.zip", "b.TAR", "b.tar.zst"])
def test_other_archives_are_refused(tmp_path, text):
    """No folder of that name is made; the hint is the name that works."""
    with pytest.raises(BundleError, match=r"a folder or a \.tar file") as raised:
        bundle(tmp_path / text, parts(0))
    assert f"-o {tmp_path / 'b'}.tar" in raised.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["v1.2", "run.d", "b"])
def test_a_folder_may_have_a_dot(tmp_path, text):
    """Only archives' suffixes are something else."""
    assert (bundle(tmp_path / text, parts(0)) / "bundle.json").is_file()


def test_a_bundle_is_replaced_as_a_whole(tmp_path):
    """No file of the earlier one is left, in a folder and in a tar."""
    folder = bundle(tmp_path / "b", parts(0), parts(1))
    bundle(folder, parts(2))
    assert files(folder) == ["bundle.json", f"{name(2)}/base.cubin.z", f"{name(2)}/facts.json.z"]
    tar = bundle(tmp_path / "b.tar", parts(0), parts(1))
    bundle(tar, parts(2))
    assert [v.id for v in read_bundle(tar).bundle.variants] == [name(2)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "b.tar"]


def test_an_older_schema_is_a_bundle_too(tmp_path):
    """It is replaced: what it names is all that lies there."""
    folder = bundle(tmp_path / "b", parts(0))
    index = (folder / "bundle.json").read_bytes()
    old = index.replace(b'"schema_version": 1', b'"schema_version": 0', 1)
    (folder / "bundle.json").write_bytes(old)
    bundle(folder, parts(2))
    assert [v.id for v in read_bundle(folder).bundle.variants] == [name(2)]


@pytest.mark.parametrize("foreign", ["notes.txt", f"{name(0)}/notes.txt", "a/b/c"])
def test_foreign_files_are_not_mixed_in(tmp_path, foreign):
    """Neither beside a bundle nor in a folder of its own; nothing is touched."""
    for folder in (bundle(tmp_path / "b", parts(0)), tmp_path / "plain"):
        path = folder / foreign
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        before = files(folder)
        with pytest.raises(BundleError, match=f"{foreign} lies there"):
            bundle(folder, parts(2))
        assert files(folder) == before


@pytest.mark.parametrize("text", ["{}", '{"variants": []}', "no JSON", '{"variants": 3}'])
def test_a_foreign_index_is_no_bundle(tmp_path, text):
    """A file called bundle.json may be someone else's."""
    (tmp_path / "bundle.json").write_text(text)
    with pytest.raises(BundleError, match=r"bundle\.json lies there"):
        check_target(tmp_path)


def test_a_file_in_the_way(tmp_path):
    """A plain file, a tar of something else, a folder called .tar: each is told as what it is."""
    (tmp_path / "afile").write_text("x")
    (tmp_path / "b.tar").write_bytes(b"no tar")
    (tmp_path / "c.tar").mkdir()
    for text, said in (("afile", "is a file"), ("b.tar", "no bundle"), ("c.tar", "is a folder")):
        with pytest.raises(BundleError, match=said):
            bundle(tmp_path / text, parts(0))
    with pytest.raises(BundleError, match="can't be written to"):
        bundle(tmp_path / "afile" / "sub", parts(0))
    assert (tmp_path / "b.tar").read_bytes() == b"no tar"


@pytest.mark.parametrize("before", ["nothing", "empty", "bundle"])
def test_a_full_disk(tmp_path, monkeypatch, before):
    """The place and what to do are told; what was there is there, and nothing else."""
    folder = tmp_path / "b"
    if before == "empty":
        folder.mkdir()
    if before == "bundle":
        bundle(folder, parts(0))
    was = files(tmp_path)
    real = type(folder).write_bytes

    def write_bytes(path, data):
        if path.name == "bundle.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, data)

    monkeypatch.setattr(type(folder), "write_bytes", write_bytes)
    with pytest.raises(BundleError, match=f"can't be written to {folder}: No space") as raised:
        bundle(folder, parts(2))
    assert "free some space" in raised.value.hint
    assert files(tmp_path) == was
    assert [p.name for p in tmp_path.iterdir()] == ([] if before == "nothing" else ["b"])


def test_an_empty_folder_stays_itself(tmp_path):
    """It may be a mount, or the working directory."""
    inode = tmp_path.stat().st_ino
    bundle(tmp_path, parts(0))
    assert tmp_path.stat().st_ino == inode
