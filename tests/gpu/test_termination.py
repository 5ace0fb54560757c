"""Does what `profile` has started end with it, whoever ends it?"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stagebench.gpu.profile_file import read_profile
from tests.bundle.building import bundle, parts
from tests.processes import alive, children

ROOT = Path(__file__).parents[2]
CLI = """
import functools, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored under nohup
from stagebench.gpu import profile as profiling
from tests.gpu.test_profile import child
profiling.profile = functools.partial(profiling.profile, command=child)
from stagebench.cli import main
sys.exit(main())
"""


@pytest.fixture
def hanging(tmp_path):
    """A `profile` whose second variant hangs, its child, and where temporary folders are."""
    scratches = tmp_path / "temporary"
    scratches.mkdir()
    path = bundle(tmp_path / "b", parts(0), parts(1, "hang"))
    words = ["profile", str(path), "-o", str(tmp_path / "out"), "--runs", "0", "--repeats", "1"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratches)}
    with subprocess.Popen(
        [sys.executable, "-c", CLI, *words], stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stderr.readline().startswith("[1/2]")
        (launching,) = children(process.pid)
        try:
            yield process, launching, scratches
        finally:
            process.kill()


def gone(pid):
    """It may take the kernel a moment."""
    end = time.monotonic() + 10
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, 143, "stagebench: terminated\n"),
        (signal.SIGHUP, 129, "stagebench: terminated\n"),
        (signal.SIGINT, 130, "stagebench: interrupted\n"),
    ],
)
def test_a_request_to_end_ends_it_whole(hanging, tmp_path, number, code, said):
    """The child in its launch too, and its outputs; what was measured is kept."""
    process, launching, scratches = hanging
    process.send_signal(number)
    assert process.stderr.read().endswith(said)
    assert process.wait(20) == code
    assert gone(launching)
    assert not list(scratches.iterdir())
    assert len(read_profile(tmp_path / "out").variants) == 1


def test_a_killed_profile_takes_its_child_with_it(hanging):
    """Without anybody to ask, the kernel ends a launch that nobody watches any more."""
    process, launching, _ = hanging
    assert alive(launching)
    process.kill()
    process.wait()
    assert gone(launching)
