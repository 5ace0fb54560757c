"""Do baselines change as a whole or not at all?"""

import errno
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stagebench.errors import StagebenchError, UsageError
from stagebench.gate import writer
from stagebench.gate.baselines import Accepted, read_baselines, read_history
from stagebench.gate.writer import Writing, baseline_files, is_current, locked, write_baselines
from stagebench.model import Compiler
from tests.dumping import building as dumps
from tests.gate.building import accepted


def reason(text="why", **counts):
    return Accepted(
        reason=text, stagebench="0.1.0", compiler=Compiler(name="tilelang", version="0.1.15"),
        **{"created": 0, "fixed": 0, "trimmed": 0, **counts},
    )  # fmt: skip


def writing(root, write=None, remove=(), text="why"):
    return Writing(root=root, write=write or {}, remove=tuple(remove), accepted=reason(text))


def files(result=None, kernel_cu=dumps.CUDA):
    return baseline_files(result or dumps.lowered(), kernel_cu, None)


def state(root):
    """Every file below the folder with its bytes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "dumps" / "exp"
    write_baselines([writing(root, {"a/x": files(), "b/y": files(), "c/z": files(dumps.failed())})])
    (root / "NOTES.md").write_text("mine\n")
    return root


def names(root):
    return [b.name for b in read_baselines(root, shown="x", said="x").baselines]


def test_create_fix_and_trim(root):
    """What is not touched stays, a note of the user's too; empty folders go; reasons are kept."""
    before = state(root)
    text = "void gemm_kernel_kernel() {}\n"
    write = {"b/y": files(accepted(), text), "d": files()}
    write_baselines([writing(root, write, ["c/z"], "better")])
    assert names(root) == ["a/x", "b/y", "d"]
    assert not (root / "c").exists()
    after = state(root)
    assert {k: v for k, v in after.items() if k.startswith("a/")} == {
        k: v for k, v in before.items() if k.startswith("a/")
    }
    assert (root / "NOTES.md").read_text() == "mine\n"
    assert [entry.reason for entry in read_history(root).accepted] == ["better", "why"]
    assert sorted(path.name for path in root.parent.iterdir()) == ["exp"]


def test_what_a_killed_accept_left_is_removed(root):
    """Half-made folders go with the next one; what was set aside, or is somebody's own, stays."""
    dumps_folder = root.parent
    for name in (".tmp-ab12_xyz", ".tmp-old-other", ".tmp-mine", ".tmp-AB12_XYZ", "exp2"):
        (dumps_folder / name / "x").mkdir(parents=True)
    (dumps_folder / ".tmp-ab12_abc").write_text("a file")
    (dumps_folder / ".tmp-link_abc").symlink_to(dumps_folder / "exp2")
    with locked(dumps_folder, print):
        write_baselines([writing(root, text="again")])
    assert sorted(path.name for path in dumps_folder.iterdir()) == [
        ".tmp-AB12_XYZ", ".tmp-ab12_abc", ".tmp-link_abc", ".tmp-mine", ".tmp-old-other", "exp",
        "exp2",
    ]  # fmt: skip


def test_a_writer_at_work_keeps_what_it_makes(root, monkeypatch):
    """Another one waits for the lock before it looks for what was left."""
    seen = []
    monkeypatch.setattr(writer, "_WAIT_SECONDS", 0.2)
    with locked(root.parent, print):
        (root.parent / ".tmp-ab12_xyz").mkdir()
        with pytest.raises(UsageError, match="has been writing"), locked(root.parent, seen.append):
            pass
        assert (root.parent / ".tmp-ab12_xyz").is_dir()
    assert len(seen) == 1


def test_the_history_is_short(root):
    """The newest reasons, and no end of them."""
    for number in range(20):
        write_baselines([writing(root, text=f"no. {number}")])
    reasons = [entry.reason for entry in read_history(root).accepted]
    assert reasons[0] == "no. 19"
    assert len(reasons) == 12


def test_same_input_same_bytes(root, tmp_path):
    """Nothing in a baseline is a time, a path or a process."""
    other = tmp_path / "elsewhere" / "exp"
    write_baselines(
        [writing(other, {"a/x": files(), "b/y": files(), "c/z": files(dumps.failed())})]
    )
    (other / "NOTES.md").write_text("mine\n")
    assert state(root) == state(other)


def test_snapshots_only_on_request():
    """Without them no digest and no size of an IR text is left, with them all."""
    small = files()
    assert "snapshots.txt.zst" not in small
    assert b"aaaa" not in small["passes.json"]
    large = baseline_files(dumps.lowered(), dumps.CUDA, dumps.FRAME)
    assert large["snapshots.txt.zst"] == dumps.FRAME
    assert b"aaaa" in large["passes.json"]


def test_what_is_current(root):
    """Facts, identity, launch and text count; recorded passes do not."""
    assert is_current(root / "a/x", files())
    assert not is_current(root / "a/x", files(accepted()))
    assert not is_current(root / "a/no", files())
    (root / "a/x/extra").write_text("")
    assert not is_current(root / "a/x", files())


def fill_the_disk(monkeypatch, room):
    """A disk that is full after so many bytes."""
    left, real = [room], Path.write_bytes

    def write_bytes(path, data):
        left[0] -= len(data)
        if left[0] < 0:
            real(path, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)


@pytest.mark.parametrize("room", [0, 100, 3000, 12000, 20000])
def test_a_full_disk_changes_nothing(root, tmp_path, monkeypatch, room):
    """Wherever it strikes, in either of two experiments: old baselines whole, no rubbish."""
    other = tmp_path / "dumps" / "other"
    write_baselines([writing(other, {"a/x": files()})])
    before = state(root.parent)
    fill_the_disk(monkeypatch, room)
    with pytest.raises(StagebenchError) as caught:
        write_baselines([
            writing(root, {"a/x": files(accepted()), "n": files()}, ["b/y"]),
            writing(other, {"a/x": files(accepted())}),
        ])  # fmt: skip
    assert "No space left" in caught.value.message
    assert "no baseline was changed" in caught.value.hint
    assert state(root.parent) == before
    assert sorted(path.name for path in root.parent.iterdir()) == ["exp", "other"]


@pytest.mark.parametrize("strike", [1, 2, 3, 4])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
def test_an_error_while_swapping_puts_all_back(root, tmp_path, monkeypatch, strike, error):
    """Either rename of either experiment fails, or is interrupted: both are as they were."""
    other = tmp_path / "dumps" / "other"
    write_baselines([writing(other, {"a/x": files()})])
    before = state(root.parent)
    real, count = Path.replace, [0]

    def replace(path, target):
        count[0] += 1
        if count[0] == strike:
            raise error
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((StagebenchError, KeyboardInterrupt)):
        write_baselines([
            writing(root, {"a/x": files(accepted())}), writing(other, {"a/x": files(accepted())}),
        ])  # fmt: skip
    assert state(root.parent) == before
    assert sorted(path.name for path in root.parent.iterdir()) == ["exp", "other"]


def test_a_second_writer_waits_and_says_so(tmp_path):
    """Two accepts at once: one after the other."""
    root, told, order = tmp_path / "dumps", [], []

    def second():
        with locked(root, told.append):
            order.append("second")

    with locked(root, told.append):
        thread = threading.Thread(target=second)
        thread.start()
        while not told:
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert told == [f"another `accept` is writing {root}: waiting for it"]


def test_a_writer_that_never_ends_is_told(tmp_path, monkeypatch):
    """Waiting has an end."""
    monkeypatch.setattr(writer, "_WAIT_SECONDS", 0.0)
    with locked(tmp_path, print), pytest.raises(StagebenchError, match="for minutes"):  # noqa: SIM117
        with locked(tmp_path, lambda _: None):
            pass


def test_a_killed_writer_leaves_no_lock(tmp_path):
    """The lock is the process's own: nothing has to be removed by hand."""
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from stagebench.gate.writer import locked\n"
        "with locked(Path(sys.argv[1]), print): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    with locked(tmp_path, pytest.fail):
        assert list(tmp_path.iterdir()) == []
