"""Does a folder take one writer at a time, whatever its end, and is what was killed cleared up?"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stagebench.errors import UsageError
from stagebench.gpu.folder_lock import LOCK, scratch_folder, writing
from tests.bundle.building import bundle, parts
from tests.gpu.test_profile_again import _fake_device, child, profiled

__all__ = ["_fake_device", "child"]

HOLDS = """
import sys, time
from pathlib import Path
from stagebench.gpu.folder_lock import scratch_folder, writing
with writing(Path(sys.argv[1]), "--out"), scratch_folder(sys.argv[2]) as scratch:
    (scratch / "C.bin").write_bytes(b"large")
    print(scratch, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def scratches(tmp_path, monkeypatch):
    """Where temporary folders are, here and in children."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def holder(tmp_path, scratches):
    """A process that writes in ``tmp_path/out`` and has a scratch folder; with its path."""
    del scratches
    words = [sys.executable, "-c", HOLDS, str(tmp_path / "out"), "stagebench-testing-"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        scratch = Path(process.stdout.readline().strip())
        try:
            yield process, scratch
        finally:
            process.kill()


def test_a_second_profile_is_refused_until_the_first_is_gone(tmp_path, holder):
    """Nothing of the first is touched; once that is killed, what it left keeps nobody out."""
    process, _ = holder
    out, path = tmp_path / "out", bundle(tmp_path / "b", parts(0))
    with pytest.raises(UsageError, match=f"--out {out}: another profile writes there") as caught:
        profiled(path, out)
    assert caught.value.hint == "wait for it, or choose another --out"
    assert [one.name for one in out.iterdir()] == [LOCK]
    process.kill()
    process.wait()
    assert profiled(path, out) == 0
    assert not (out / LOCK).exists()


def test_a_folder_that_stays_empty_is_taken_away(tmp_path):
    """With its parents, if it was made here; one that was there stays."""
    with writing(tmp_path / "a" / "b", "--out"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not (tmp_path / "a").exists()
    with writing(tmp_path, "--out"):
        assert [one.name for one in tmp_path.iterdir()] == [LOCK]
    assert not list(tmp_path.iterdir())


def test_a_killed_process_s_scratch_folder_is_removed_by_the_next(holder, scratches):
    """That of a process that lives stays, and one that has no lock: nobody knows whose it is."""
    process, scratch = holder
    bare = scratches / "stagebench-testing-bare"
    bare.mkdir()
    with scratch_folder("stagebench-testing-") as own:
        assert sorted(scratches.iterdir()) == sorted([bare, own, scratch])
    process.kill()
    process.wait()
    with scratch_folder("stagebench-testing-") as own:
        assert sorted(scratches.iterdir()) == sorted([bare, own])
    assert list(scratches.iterdir()) == [bare]
