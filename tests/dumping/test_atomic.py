"""Does anybody ever see half of a file or a folder?"""

import os
import shutil
from pathlib import Path

import pytest

from stagebench.dump.atomic_file import write_file, write_folder

OLD = {"a.txt": b"old a", "b.txt": b"old b"}
NEW = {"a.txt": b"new a", "c.txt": b"new c"}


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_is_made_with_its_parents(tmp_path):
    """Nothing is there before, exactly the files are there after."""
    write_folder(tmp_path / "x" / "y", OLD)
    assert content(tmp_path / "x" / "y") == OLD
    assert list((tmp_path / "x").iterdir()) == [tmp_path / "x" / "y"]
    assert (tmp_path / "x" / "y").stat().st_mode & 0o777 == 0o755


def test_a_folder_is_replaced_whole(tmp_path):
    """Files that are no longer wanted go."""
    write_folder(tmp_path / "y", OLD)
    write_folder(tmp_path / "y", NEW)
    assert content(tmp_path / "y") == NEW
    assert list(tmp_path.iterdir()) == [tmp_path / "y"]


def test_equal_content_is_left_alone(tmp_path):
    """The same files again change no modification time and no inode."""
    write_folder(tmp_path / "y", OLD)
    before = [(p.name, p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "y").iterdir()]
    write_folder(tmp_path / "y", dict(reversed(OLD.items())))
    after = [(p.name, p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "y").iterdir()]
    assert before == after


class Stop(BaseException):
    """What may come at any time: an interrupt."""


def stop(*_args, **_kwargs):
    raise Stop


@pytest.mark.parametrize("call", ["write_bytes", "chmod", "replace"])
@pytest.mark.parametrize("nth", [1, 2])
def test_an_interrupt_leaves_the_old_folder(tmp_path, monkeypatch, call, nth):
    """Whenever it comes, the old folder is whole and nothing of ours lies beside it."""
    write_folder(tmp_path / "y", OLD)
    real, left = getattr(Path, call), [nth]

    def interrupted(path, *args, **kwargs):
        left[0] -= 1
        if left[0] == 0:
            raise Stop
        return real(path, *args, **kwargs)

    monkeypatch.setattr(Path, call, interrupted)
    if (call, nth) == ("chmod", 2):  # it is called once: nothing comes in the way
        write_folder(tmp_path / "y", NEW)
    else:
        with pytest.raises(Stop):
            write_folder(tmp_path / "y", NEW)
    monkeypatch.undo()
    assert content(tmp_path / "y") == (NEW if (call, nth) == ("chmod", 2) else OLD)
    assert list(tmp_path.iterdir()) == [tmp_path / "y"]


def test_an_interrupt_while_a_new_folder_is_written(tmp_path, monkeypatch):
    """Where nothing was there is nothing after."""
    monkeypatch.setattr(Path, "write_bytes", stop)
    with pytest.raises(Stop):
        write_folder(tmp_path / "y", OLD)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    """An interrupt leaves the old file and nothing beside it."""
    write_file(tmp_path / "f", b"old")
    write_file(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(Stop):
        write_file(tmp_path / "f", b"newer")
    assert content(tmp_path) == {"f": b"new"}


def test_a_read_only_folder_is_an_error(tmp_path):
    """Where nothing can be written an OSError says so and nothing is left."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        write_folder(tmp_path / "file" / "y", OLD)
    assert content(tmp_path) == {"file": b"in the way"}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB, where this user may make one."""
    import subprocess

    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() or not mount or subprocess.run([mount, *options], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_old_folder(small_disk):
    """No space for the new one: the old one is whole, nothing half written stays."""
    write_folder(small_disk / "y", OLD)
    with pytest.raises(OSError, match=f"No space left on device: '{small_disk}/y/big'"):
        write_folder(small_disk / "y", {"a.txt": b"new", "big": b"x" * 100_000})
    assert content(small_disk / "y") == OLD
    assert list(small_disk.iterdir()) == [small_disk / "y"]
    with pytest.raises(OSError, match=f"No space left on device: '{small_disk}/f'"):
        write_file(small_disk / "f", b"x" * 100_000)
    assert list(small_disk.iterdir()) == [small_disk / "y"]
