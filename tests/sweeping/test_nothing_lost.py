"""Does one bad variant ever cost another one, or leave something behind?"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line import command, stagebench

pytestmark = pytest.mark.tilelang

KERNEL = f"{Path(__file__).parent / 'kernels' / 'misbehaving.py'}:small_gemm"
MODES = "fine,abort,hang,raise,exit,exit_0,system_exit,killed,memory,fork,escape,unspeakable,print"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One sweep in which every kind of accident happens."""
    folder = tmp_path_factory.mktemp("accidents")
    return stagebench(
        "sweep", KERNEL, "--set", f"mode={MODES}", "--num-stages", 2, "--arch", "sm_90a",
        "--timeout", 30, "--memory-limit", "4G", "--json", "-", "--dump-dir", folder, "--no-cache",
        cwd=folder,
    )  # fmt: skip


@pytest.fixture(scope="module")
def by_mode(run):
    """The variants of that sweep by mode."""
    return {v["variant"]["params"]["mode"]: v for v in run.json["variants"]}


def test_the_command_says_that_a_variant_failed(run):
    """A sweep with failed variants exits with 3."""
    assert run.code == 3, run.err


def test_every_variant_has_its_result(by_mode):
    """Good variants are complete, whatever happened beside them."""
    assert list(by_mode) == MODES.split(",")
    for mode in ("fine", "fork", "escape", "print"):
        assert by_mode[mode]["outcome"] == "lowered"
        assert by_mode[mode]["facts"]["sync_totals"]["tma_load"] == {"static": 2, "dynamic": 8}


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("abort", "crash", ["std::logic_error", "SIGABRT", "at misbehaving.py:15 in misbehave"]),
        ("hang", "timeout", ["30 s"]),
        ("raise", "compile_error", ["ValueError: tile of 0 rows"]),
        ("exit", "crash", ["exit code 7"]),
        ("exit_0", "crash", ["ended by itself, with exit code 0"]),
        ("unspeakable", "compile_error", ["ValueError: ? zzz", "characters more)"]),
        ("system_exit", "compile_error", ["ends the program while the kernel is built"]),
        ("killed", "out_of_memory", ["SIGKILL", "out-of-memory killer"]),
        ("memory", "out_of_memory", ["MemoryError"]),
    ],
)
def test_an_accident_is_a_failed_cell(by_mode, mode, kind, words):
    """Each accident is told by its kind and in its own first line."""
    result = by_mode[mode]
    assert result["outcome"] == "failed"
    assert result["facts"] is None
    assert result["failure"]["kind"] == kind
    for word in words:
        assert word in result["failure"]["message"]


def test_what_a_kernel_starts_ends_with_it(run):
    """A process in a session of its own does not outlive the sweep."""
    assert run.code == 3
    commands = [
        path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _readable(path)
    ]
    assert [line for line in commands if b"54321" in line] == []


def _readable(path):
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


def test_a_raising_kernel_is_placed(by_mode):
    """The line of the kernel's own file that raised is named."""
    (diagnostic,) = by_mode["raise"]["failure"]["diagnostics"]
    assert diagnostic["code"] == "kernel-raised"
    source = Path(KERNEL.rpartition(":")[0]).read_text().splitlines()
    assert "tile of 0 rows" in source[diagnostic["evidence"][0]["line"] - 1]


def test_what_the_compiler_prints_is_a_fact(by_mode):
    """A C++ warning on descriptor 2 is a diagnostic, without its time and path."""
    texts = [d["message"] for d in by_mode["print"]["facts"]["diagnostics"]]
    assert "a warning from C++" in texts


def test_the_table_shows_failures_as_cells(tmp_path):
    """In the table a failure is a cell, with the compiler's own first line under it."""
    ran = stagebench(
        "sweep", KERNEL, "--set", "mode=raise", "--num-stages", 2, "--arch", "sm_90a",
        "--no-dumps", cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 3
    assert "ValueError: tile of 0 rows" in ran.out
    assert "0 lowered, 1 failed" in ran.out


def _descendants(pid):
    """All live processes that descend from ``pid``, by way of /proc."""
    found, waiting = set(), [pid]
    while waiting:
        parent = waiting.pop()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if fields[1] == str(parent):
                    found.add(int(entry.name))
                    waiting.append(int(entry.name))
    return found


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _hear_ctrl_c():
    """A shell starts what is in the background with Ctrl-C ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_sweep_leaves_whole_dumps_and_no_process(tmp_path, stop):
    """After Ctrl-C (or a kill) finished dumps are whole, nothing is half written, nothing runs."""
    process = subprocess.Popen(
        command("sweep", KERNEL, "--set", "mode=fine,hang,hang_with_child", "--num-stages", 2,
                "--arch", "sm_90a", "--dump-dir", tmp_path / "dumps", "--no-cache", "--jobs", 3),
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ},
        preexec_fn=_hear_ctrl_c,  # noqa: PLW1509 - it only sets a signal
    )  # fmt: skip
    done = tmp_path / "dumps" / "misbehaving.small_gemm" / "sm_90a" / "num_stages=2,mode=fine"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        done.exists() and any("sleep" in _name(p) for p in _descendants(process.pid))
    ):
        time.sleep(0.1)
    family = _descendants(process.pid)
    assert len(family) >= 4, "the worker, two hanging children and the sleep of one"
    process.send_signal(stop)
    _, err = process.communicate(timeout=30)
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert "Traceback" not in err
    gone = time.monotonic() + 10
    while time.monotonic() < gone and any(_alive(pid) for pid in family):
        time.sleep(0.1)
    assert [pid for pid in family if _alive(pid)] == []
    assert sorted(path.name for path in done.iterdir()) == [
        "facts.json", "kernel.cu", "launch.json", "passes.json", "snapshots.txt.zst",
        "variant.json",
    ]  # fmt: skip
    json.loads((done / "facts.json").read_text())
    assert not list((tmp_path / "dumps").rglob(".tmp-*"))


def _name(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""
