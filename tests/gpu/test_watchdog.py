"""What does the watchdog take for a hang, and what for a child that takes its time?"""

import sys

import msgspec
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.gpu.records import Correctness, Device
from stagebench.gpu.results import profiled
from stagebench.gpu.run_request import (
    Back,
    Found,
    Launching,
    Ran,
    Ready,
    RunOptions,
    RunRequest,
)
from stagebench.gpu.watchdog import ChildError, Watchdog
from tests.bundle.building import bundle, name, parts

DEVICE = Device(
    name="Fake GPU", compute_capability=(9, 0), driver_version=13_000, sms=1, memory_bytes=1,
    l2_bytes=1, max_smem_per_cta_bytes=1, clock_khz=None, memory_clock_khz=None,
)  # fmt: skip
REQUEST = RunRequest(id=name(0), references=(), probe_file=None, options=RunOptions())
LAUNCH = Launching(build="base", seconds=0.0)
SLOW = 0.5
"""Seconds that a child takes for what it does; a launch has less in these tests."""


@pytest.fixture
def result(tmp_path):
    (variant,) = read_bundle(bundle(tmp_path, parts(0))).bundle.variants
    right = Correctness(
        verdict="correct", reference="float64", runs=1, differing_runs=0, smem_poisoned=True,
        tensors=(),
    )  # fmt: skip
    return profiled(variant, right, (), None)


def watched(*steps, seconds=0.2, **limits):
    """What `run` returns of a child that says these records and sleeps, or ends, between them."""
    lines = ["import sys, time"]
    for step in (Ready(device=DEVICE, notes=()), "sys.stdin.readline()", *steps):
        said = f"print({msgspec.json.encode(step).decode()!r}, flush=True)"
        lines.append(step if isinstance(step, str) else said)
    watchdog = Watchdog([sys.executable, "-c", "\n".join(lines)], seconds, **limits)
    try:
        return watchdog.run(REQUEST)
    finally:
        watchdog.stop()


def test_host_work_is_no_hang(result):
    """What the child does between launches, and before the first, may take far longer."""
    wait = f"time.sleep({SLOW})"
    assert watched(wait, LAUNCH, Back(), wait, Ran(result=result)) == result


@pytest.mark.parametrize("heard", [(), (LAUNCH, Back())])
def test_host_work_that_never_ends_is_no_verdict_on_the_kernel(result, heard):
    """A stuck driver, say: told as what it is, of no build; what was found before is kept."""
    with pytest.raises(ChildError) as raised:
        watched(Found(result=result), *heard, "time.sleep(60)", host_seconds=0.3)
    error = raised.value.error
    assert (error.name, error.build, error.problem) == ("host_timeout", None, "not_run")
    assert error.told == "no launch was waited for, and its process was silent for 0.3 s"
    assert raised.value.found == result


def test_a_user_who_waits_longer_waits_longer_for_the_host_too(result):
    """The larger of the two limits holds for what is no launch."""
    wait = f"time.sleep({SLOW})"
    assert watched(wait, Ran(result=result), seconds=60.0, host_seconds=0.1) == result


def test_a_batch_may_take_what_its_launches_take(result):
    """Eleven launches of a slow kernel are no hang; one that never comes back is."""
    batch = Launching(build="base", seconds=60.0)
    assert watched(batch, f"time.sleep({SLOW})", Back(), Ran(result=result)) == result


@pytest.mark.parametrize("build", ["base", "probed"])
def test_a_launch_that_does_not_come_back(result, build):
    """The build is named, and what was found before is kept."""
    hung = Launching(build=build, seconds=0.0)
    with pytest.raises(ChildError) as raised:
        watched(LAUNCH, Back(), Found(result=result), hung, "time.sleep(60)")
    error = raised.value.error
    assert (error.build, error.problem, raised.value.found) == (build, "hangs", result)
    assert error.told == f"{build}: hangs: a launch did not come back within 0.2 s"


@pytest.mark.parametrize(("running", "build"), [((LAUNCH,), "base"), ((LAUNCH, Back()), None)])
def test_a_death_is_that_of_what_ran(running, build):
    """Between launches it is no kernel's: nothing is said of one."""
    with pytest.raises(ChildError, match="its process ended with code 3: no memory") as raised:
        watched(*running, "sys.stderr.write('no memory')",
                "sys.exit(3)")  # fmt: skip
    error = raised.value.error
    assert (error.build, error.problem) == (build, "fails" if build else "not_run")


def test_a_timeout_of_years(result):
    """Longer than the system's own timers can wait."""
    assert watched(LAUNCH, Back(), Ran(result=result), seconds=1e9) == result
    assert watched(LAUNCH, Back(), Ran(result=result), seconds=1e308) == result
