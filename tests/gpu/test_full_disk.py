"""What is said where results, or what is printed, can't be written?"""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from stagebench.commands import output_place
from stagebench.dump import atomic_file
from stagebench.errors import MachineError, UsageError, machine_error
from stagebench.gpu.driver import Driver
from stagebench.gpu.run_request import Answer, Ready, RunOptions, RunRequest, Unusable
from stagebench.gpu.run_variant import serve
from stagebench.gpu.watchdog import Watchdog
from tests.bundle.building import bundle, name, parts
from tests.command_line import command
from tests.gpu.fake_driver import FakeApi
from tests.gpu.test_profile_again import _fake_device, child, profiled
from tests.gpu.test_watchdog import DEVICE

__all__ = ["_fake_device", "child"]

REQUEST = RunRequest(
    id=name(0), references=(), probe_file=None, options=RunOptions(repeats=1, runs=0)
)


def test_outputs_that_can_t_be_kept_end_the_run(tmp_path):
    """It is no variant's fault: the file is said, and no other variant is run."""
    path = bundle(tmp_path / "b", parts(0))
    (tmp_path / "o").write_text("in the way")
    stream = io.BytesIO()
    request = msgspec.json.encode(REQUEST)
    serve(path, tmp_path / "o", [request, request], stream, Driver(FakeApi()))
    answers = [msgspec.json.decode(line, type=Answer) for line in stream.getvalue().splitlines()]
    assert [one for one in answers if isinstance(one, Unusable)] == [answers[-1]]
    assert answers[-1].message == f"{tmp_path / 'o'}: File exists"


def test_the_command_ends_with_what_the_child_could_not_write():
    """With its words and its next step, whatever was asked of it."""
    told = Unusable(message="/full/C.bin: No space left on device", hint="free some space")
    ready, said = (
        msgspec.json.encode(one).decode() for one in (Ready(device=DEVICE, notes=()), told)
    )
    code = f"import sys; print({ready!r}, flush=True); sys.stdin.readline(); print({said!r})"
    watchdog = Watchdog([sys.executable, "-c", code], 1.0)
    with pytest.raises(MachineError, match=r"/full/C\.bin: No space left on device") as caught:
        watchdog.run(REQUEST)
    assert caught.value.hint == "free some space"


def test_a_full_disk_has_a_next_step():
    """With the file that did not fit; what is no full disk is said as it is."""
    full = machine_error(OSError(28, "No space left on device", "out/profile.json"))
    assert full.message == "out/profile.json: No space left on device"
    assert full.hint.startswith("free some space there, or name another place")
    other = machine_error(OSError(13, "Permission denied", "x"))
    assert (other.message, other.hint) == ("x: Permission denied", None)
    assert machine_error(OSError("odd")).message == "odd"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(("unbuffered", "where"), [("", ""), ("1", " or /.*")])
def test_standard_output_that_is_full_is_named(unbuffered, where):
    """A redirection to a full disk, and what to do; nothing tells an unbuffered one for sure."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("compilers"), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 2
    first, hint = done.stderr.splitlines()
    assert re.fullmatch(f"stagebench: standard output{where}: No space left on device", first)
    assert hint.startswith("  hint: free some space there")


def test_a_file_that_fails_at_the_end_costs_no_table(tmp_path, monkeypatch, capsys):
    """What the GPU worked for is printed first, then what could not be written is an error."""
    path, out = bundle(tmp_path / "b", parts(0)), tmp_path / "out"
    real = atomic_file.write_file

    def full(target, data):
        if target.name == "report.json":
            raise OSError(28, "No space left on device", str(target))
        real(target, data)

    monkeypatch.setattr(output_place, "write_file", full)
    report = tmp_path / "report.json"
    with pytest.raises(UsageError, match=r"can't write --json .*: No space left on device"):
        profiled(path, out, "--json", str(report))
    printed = capsys.readouterr().out
    assert "not_compared" in printed
    assert "Depths side by side" in printed
