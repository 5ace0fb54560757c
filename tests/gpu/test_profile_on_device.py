"""On a real device: does `profile` end as each build ends, and does a built-in's chain hold?

The chain (lowered, assembled, probed, run) needs TileLang and the assembler there too; the ends of
builds need neither: the driver assembles their PTX.
"""

import os
from pathlib import Path

import pytest

from stagebench.commands import profile as profile_command
from stagebench.errors import MachineError
from stagebench.gpu.driver import open_driver
from stagebench.gpu.profile import ProfileOptions, profile
from stagebench.gpu.profile_file import read_profile
from stagebench.gpu.run_request import RunOptions
from stagebench.timing.recorded import read_measured
from tests.bundle.building import bundle, parts
from tests.gpu.test_commands import parsed
from tests.gpu.test_execution import PROBE
from tests.gpu.test_on_device import HOW, cubin

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
TRAP = "trap;"
FOREVER = "again: ld.volatile.shared.u16 %h1, [slot]; bra again;"
OTHER_BITS = "xor.b16 %h0, %h0, 1;"


@pytest.fixture
def arch(monkeypatch):
    """The device's; its driver is open in children alone."""
    from stagebench.gpu.device import read_device

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    try:
        major, minor = read_device(open_driver()).compute_capability
    except MachineError as exc:
        pytest.skip(exc.message)
    return f"sm_{major}{minor}"


def probed(change=""):
    """A build that has the probes' pointer, and no probe."""
    text = cubin(change).decode()
    pointer = ".visible .const .align 8 .u64 __sb_probe_base;\n"
    return text.replace(".visible .entry", f"{pointer}.visible .entry").encode()


def test_each_build_has_its_own_end(arch, tmp_path):
    """Traps, hangs and other bits of control and probed builds cost no kernel its verdict."""

    def variant(depth, base="", **others):
        builds = {"base": cubin(base), "control": cubin(), "probed": probed(), **others}
        return parts(depth, how=HOW, cubin_arch=arch, cubins=builds, probe=PROBE)

    path = bundle(
        tmp_path / "b", variant(0), variant(1, control=cubin(TRAP)),
        variant(2, probed=probed(FOREVER)), variant(3, control=cubin(OTHER_BITS)),
        variant(4, base=TRAP), variant(5, base=FOREVER), variant(6, probed=b"truncated"),
        variant(7),
    )  # fmt: skip
    options = ProfileOptions(run=RunOptions(repeats=2, runs=20), timeout_seconds=3.0)
    found = profile(path, tmp_path / "out", options).variants
    assert [one.correctness.verdict for one in found] == [
        "not_compared", "correct", "correct", "correct", "fails", "hangs", "correct", "correct",
    ]  # fmt: skip
    assert [[build.problem for build in one.builds] for one in found] == [
        [None] * 3, [None, "fails", None], [None, None, "hangs"], [None, "other_bits", None], [],
        [], [None, None, "not_run"], [None] * 3,
    ]  # fmt: skip
    assert all(one.builds[0].time is not None for one in found if one.builds)


@pytest.mark.usefixtures("arch")
def test_a_built_in_end_to_end(tmp_path):
    """Lowered, assembled, probed and run in one step: right, same bits, counts as predicted."""
    pytest.importorskip("tilelang")
    pytest.importorskip("cuda.bindings.nvrtc")
    out = tmp_path / "out"
    words = ["gemm", "--num-stages", "0", "2", "--set", "M=512", "N=512", "K=512"]
    how = ["--arch", "sm_80", "-o", str(out), "--repeats", "3", "--runs", "20"]
    assert profile_command.run(parsed(profile_command, *words, *how)) == 0
    found = read_profile(out).variants
    assert [one.correctness.verdict for one in found] == ["correct", "correct"]
    assert [[build.same_as_base for build in one.builds] for one in found] == [
        [None, True, True], [None, True, True],
    ]  # fmt: skip
    assert all(one.probe_cost is not None and not one.bad for one in found)
    (sweep,) = read_measured(out).sweeps
    for timing in sweep.timings:
        assert timing.verdict == "correct"
        assert timing.stalls.problems == ()
        assert all(stall.executions == stall.predicted for stall in timing.stalls.sites)
        assert timing.stalls.sites
