"""Does a fault, a hang or a death cost one variant and no other?  With real child processes."""

import os
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from stagebench.bundle.read import read_bundle
from stagebench.errors import MachineError
from stagebench.gpu.profile import ProfileOptions, _run_one, in_order, profile
from stagebench.gpu.records import PROFILE, BuildRun, Correctness, Profile, RunError
from stagebench.gpu.results import profiled as result_of
from stagebench.gpu.run_request import RunOptions, RunRequest
from stagebench.gpu.watchdog import ChildError, Watchdog
from stagebench.model.timing import Measurement
from stagebench.probe.audit_records import finding
from stagebench.report.profile_rows import depth_rows
from stagebench.report.verdict_rows import verdict_table
from stagebench.timing.correlate import depth_steps
from stagebench.timing.sweep_timings import sweep_timings
from tests.bundle.building import bundle, name, parts
from tests.gpu.test_execution import PROBED

ROOT = Path(__file__).parents[2]


def child(path, outputs):
    return [sys.executable, "-m", "tests.gpu.fake_child", str(path), str(outputs)]


def profiled(tmp_path, *several, seconds=60.0, **options):
    options = {"repeats": 2, "runs": 10, "warmup": 1, **options}
    path = bundle(tmp_path / "bundle", *several)
    seen = []
    found = profile(
        path,
        tmp_path / "out",
        ProfileOptions(run=RunOptions(**options), timeout_seconds=seconds),
        lambda done, total, result: seen.append((done, total, result.id)),
        command=child,
    )
    written = (tmp_path / "out" / PROFILE).read_bytes()
    assert msgspec.json.decode(written, type=Profile) == found
    return found, seen


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Right, faulting, hanging, dying, wrong and damaged variants, and a right one behind them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        return profiled(
            tmp_path_factory.mktemp("ends"), parts(0), parts(1, "fault"), parts(2, "hang"),
            parts(3, "die"), parts(4, "race"), parts(5, cubins={"base": b"truncated"}), parts(6),
            seconds=1.0,
        )  # fmt: skip


def test_each_variant_has_its_own_end(ends):
    """Each is told in its own words, with its build, and the last still runs."""
    found, seen = ends
    assert [(v.variant.num_stages, v.correctness.verdict) for v in found.variants] == [
        (0, "not_compared"), (1, "fails"), (2, "hangs"), (3, "fails"), (4, "race"), (5, "not_run"),
        (6, "correct"),
    ]  # fmt: skip
    assert [v.error and v.error.name for v in found.variants] == [
        None, "CUDA_ERROR_ILLEGAL_ADDRESS", "timeout", "process_died", None,
        "CUDA_ERROR_INVALID_IMAGE", None,
    ]  # fmt: skip
    told = [v.error and v.error.told for v in found.variants]
    assert told[2:4] == [
        "base: hangs: a launch did not come back within 1 s", "base: its process ended by signal 6",
    ]  # fmt: skip
    assert told[5].startswith("base: not run: cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE")
    assert [v.bad for v in found.variants] == [False, True, True, True, True, True, False]
    assert seen[-1] == (7, 7, name(6))
    assert found.complete
    assert found.variants[6].builds[0].time.runs == 10


def test_what_is_bad_has_no_time_and_says_why(ends):
    """In the depth table and in the steps, in the words of the verdict."""
    ((_, timings),) = sweep_timings(ends[0].variants, {}, {})
    assert [timing.correct for timing in timings] == [None, None, None, None, False, None, True]
    assert depth_rows(timings)[1] == (
        "kernel, µs", "10.0 ± 0.0", "✗ fails", "✗ hangs", "✗ fails", "✗ race", "✗ not run",
        "10.0 ± 0.0",
    )  # fmt: skip
    steps = [step.verdict.split("; ")[1] for step in depth_steps(timings)]
    assert steps[1:5] == [
        "1 fails and 2 hangs: no verdict on time", "2 hangs and 3 fails: no verdict on time",
        "3 fails and 4 has a race: no verdict on time",
        "4 has a race and 5 was not run: no verdict on time",
    ]  # fmt: skip


def test_a_build_for_probes_takes_itself_alone(tmp_path):
    """Its fault, death or hang is its own; the kernel's verdict, bits and time are kept."""

    def other(**builds):
        own = {kind: f"fake {behaviour}".encode() for kind, behaviour in builds.items()}
        return {**PROBED, "cubins": {**PROBED["cubins"], **own}}

    found, _ = profiled(
        tmp_path, parts(0), parts(1, **other(control="die")),
        parts(2, **other(probed="probed hang")),
        parts(3, **other(control="fault", probed="probed die")), parts(4, **other(control="wrong")),
        seconds=1.0,
    )  # fmt: skip
    assert {v.correctness.verdict for v in found.variants[1:]} == {"correct"}
    assert all(v.error is None and v.builds[0].time.runs == 10 for v in found.variants)
    assert [[b.problem for b in v.builds] for v in found.variants] == [
        [None], [None, "fails", None], [None, None, "hangs"], [None, "fails", "fails"],
        [None, "other_bits", None],
    ]  # fmt: skip
    assert [v.probe_file for v in found.variants] == [
        None, "probe-1.bin", None, None, "probe-4.bin",
    ]  # fmt: skip
    ((_, rows),) = verdict_table(found).groups
    assert [row.bad for row in rows] == [False, True, True, True, True]
    unknown = "what the probes cost is not known: waits may be perturbed"
    assert rows[1].cells[-1] == f"control: its process ended by signal 6; {unknown}"
    assert rows[2].cells[-1] == "probed: hangs: a launch did not come back within 1 s"
    assert rows[3].cells[-1].startswith("control: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS")
    assert rows[3].cells[-1].endswith("; probed: its process ended by signal 6")
    assert rows[4].cells[-1] == f"control: other bits than base: not used; {unknown}"
    assert rows[4].cells[4:6] == ("–", "×1.100")
    ((_, timings),) = sweep_timings(found.variants, {}, {})
    told = [step.verdict.split("; ")[2] for step in depth_steps(timings[:3])]
    assert told == ["the control build of 1 fails"] * 2
    assert depth_rows(timings)[2] == (
        "probes cost", "–", "– (control fails)", "– (probed hangs)",
        "– (control fails, probed fails)", "– (control computes other bits)",
    )  # fmt: skip


def test_a_retry_that_dies_keeps_what_was_found_before(tmp_path):
    """Without a build it says nothing of the kernel: the first verdict and time stand."""
    (variant,) = read_bundle(bundle(tmp_path, parts(0, **PROBED))).bundle.variants
    right = Correctness(
        verdict="correct", reference="float64", runs=2, differing_runs=0, smem_poisoned=True,
        tensors=(),
    )  # fmt: skip
    time = Measurement(median_us=10.0, low_us=9.0, high_us=11.0, runs=10, level=0.95)
    builds = tuple(
        replace(BuildRun.untimed(kind), time=time) for kind in ("base", "control", "probed")
    )
    first = result_of(variant, right, builds, "probe-0.bin")
    hung = RunError(name="timeout", message="a launch did not come back", build="probed")
    died = RunError(name="process_died", message="its process ended by signal 9")
    ends = iter([ChildError(hung, first), ChildError(died)])

    class Child:
        def run(self, _):
            raise next(ends)

    request = RunRequest(id=name(0), references=(), probe_file=None, options=RunOptions())
    found = _run_one(Child(), variant, request)
    assert (found.correctness, found.error) == (right, died)
    assert [(b.problem, b.time) for b in found.builds] == [
        (None, time), (None, time), ("hangs", None),
    ]  # fmt: skip
    assert (found.control_cost, found.probe_cost, found.probe_file) == (1.0, None, None)


def test_what_the_audit_found_is_told_beside_the_times(tmp_path):
    """A build for probes that is another kernel by its machine code has perturbed waits."""
    spills = finding("spills", "registers are spilled: 256 → 468 bytes")
    found, _ = profiled(tmp_path, parts(0, **PROBED), parts(1, audit=(spills,), **PROBED))
    assert [(v.perturbed, v.audit, v.bad) for v in found.variants] == [
        (False, (), False), (True, (spills,), False),
    ]  # fmt: skip
    ((_, rows),) = verdict_table(found).groups
    told = "probed: registers are spilled: 256 → 468 bytes"
    assert [row.cells[-1] for row in rows] == ["", f"perturbed: {told}"]
    ((_, timings),) = sweep_timings(found.variants, {}, {})
    assert [timing.audit for timing in timings] == [(), (spills,)]
    assert depth_rows(timings)[2] == ("probes cost", "×1.10", "×1.10 perturbed")
    (step,) = depth_steps(timings)
    assert f"for probes, 1 is another kernel ({told}): waits are perturbed" in step.verdict


def test_long_timing_is_no_hang(tmp_path):
    """The rests between turns alone take longer than a launch may."""
    found, _ = profiled(tmp_path, parts(0), repeats=1, runs=200, seconds=0.5)
    assert found.variants[0].builds[0].time.runs == 200


def test_a_wrong_variant_is_no_reference(tmp_path):
    """Without a depth 0 that can be trusted, the next depth that can is compared with."""
    found, _ = profiled(tmp_path, parts(0, "race"), parts(1), parts(2), runs=0)
    assert [(v.correctness.verdict, v.correctness.reference) for v in found.variants] == [
        ("race", None), ("not_compared", None), ("correct", name(1)),
    ]  # fmt: skip


def test_probe_buffers_lie_beside_the_profile(tmp_path):
    """Each probed variant has its buffer and its metadata, and both are named."""
    found, _ = profiled(tmp_path, parts(0), parts(1, **PROBED), runs=0)
    one = found.variants[1]
    assert (one.probe_file, one.probe_metadata) == ("probe-1.bin", "probe-1.json")
    assert (tmp_path / "out" / "probe-1.bin").read_bytes()[:4] == b"lane"
    assert (tmp_path / "out" / "probe-1.json").read_bytes() == PROBED["probe"]


def test_a_damaged_cubin_costs_its_variant(tmp_path):
    """A checksum that differs is an error of that variant, or of that build; the others go on."""
    path = bundle(tmp_path / "bundle", parts(0), parts(1), parts(2, **PROBED))
    (path / name(1) / "base.cubin.z").write_bytes(b"x")
    (path / name(2) / "control.cubin.z").write_bytes(b"x")
    options = ProfileOptions(run=RunOptions(repeats=1, runs=0))
    found = profile(path, tmp_path / "out", options, command=child)
    assert [v.error and v.error.name for v in found.variants] == [None, "bundle", None]
    assert [v.correctness.verdict for v in found.variants] == ["not_compared", "not_run", "correct"]
    assert [b.problem for b in found.variants[2].builds] == [None, "not_run", None]
    assert found.variants[2].builds[1].error.told.startswith("control: not run: ")
    assert "base.cubin.z" in found.variants[1].error.message


def test_no_device_is_an_error_of_the_machine(tmp_path):
    """A child that can't open the device ends the command with its message."""
    path = bundle(tmp_path / "bundle", parts(0))
    code = "import sys; sys.stderr.write('no libcuda here'); sys.exit(3)"
    with pytest.raises(MachineError, match="with code 3: no libcuda here"):
        profile(
            path,
            tmp_path / "out",
            ProfileOptions(),
            command=lambda *_: [sys.executable, "-c", code],
        )
    assert not (tmp_path / "out" / PROFILE).exists()


def test_references_run_first(tmp_path):
    """Whatever the order of the bundle, what is compared with has run before."""
    opened = read_bundle(bundle(tmp_path, parts(3), parts(1), parts(0), parts(0, arch="sm_80")))
    ordered = in_order(opened.bundle.variants)
    assert [v.variant.num_stages for v in ordered] == [0, 0, 1, 3]


def test_the_table(tmp_path):
    """Verdict and error come before the times; what is bad is marked, and says why."""
    found, _ = profiled(tmp_path, parts(0), parts(1, "wrong"), parts(2, **PROBED))
    table = verdict_table(found)
    assert table.columns == (
        "num_stages", "verdict", "error", "base, µs", "control", "probed", "note",
    )  # fmt: skip
    ((heading, rows),) = table.groups
    assert heading == "k.py:copy · sm_90a"
    assert [(*row.cells[:2], row.bad) for row in rows] == [
        ("0", "not_compared", False), ("1", "wrong", True), ("2", "correct", False),
    ]  # fmt: skip
    assert rows[1].cells[-1] == "C: 1 of 256 elements wrong"
    assert rows[0].cells[2:6] == ("–", "10.0 ± 0.0", "–", "–")
    assert rows[2].cells[4:6] == ("×1.000", "×1.100")


def test_variants_stand_together_under_what_they_share(tmp_path):
    """In whatever order they ran; the heading has only what tells the groups apart."""
    found, _ = profiled(
        tmp_path, parts(3), parts(0, arch="sm_80"), parts(1), parts(0),
        parts(1, params={"K": 64}), runs=0,
    )  # fmt: skip
    groups = {
        heading: [row.cells[0] for row in rows] for heading, rows in verdict_table(found).groups
    }
    assert groups == {
        "k.py:copy · sm_90a": ["0", "1", "3"],
        "k.py:copy · sm_80": ["0"],
        "k.py:copy · sm_90a · K=64": ["1"],
    }


def test_cupti_has_a_column_only_where_it_was_there(tmp_path):
    """The kernel's own time beside the events', `–` where one variant has none."""
    found, _ = profiled(tmp_path, parts(0), parts(2))
    own = Measurement(median_us=8.25, low_us=8.0, high_us=8.75, runs=5, level=0.9)
    first, second = found.variants
    build = replace(first.builds[0], device_time=own)
    table = verdict_table(replace(found, variants=(replace(first, builds=(build,)), second)))
    assert table.columns[3:5] == ("base, µs", "CUPTI, µs")
    ((_, rows),) = table.groups
    assert [row.cells[4] for row in rows] == ["8.25 ± 0.50", "–"]
    assert {len(row.cells) for row in rows} == {len(table.columns)}


def test_kept_outputs_lie_beside_the_profile(tmp_path):
    """A folder for each variant by its id, named in its result."""
    found, _ = profiled(tmp_path, parts(0), parts(2), save_outputs=True)
    for one in found.variants:
        assert one.outputs == (f"outputs/{one.id}/C.npy",)
        assert np.load(tmp_path / "out" / one.outputs[0]).shape == (256,)


def test_an_error_against_zeros_is_absolute(tmp_path):
    """There is no relative one, and finite outputs are not called anything else."""
    found, _ = profiled(tmp_path, parts(0), parts(1))
    one = found.variants[1]
    (tensor,) = one.correctness.tensors
    zeros = replace(
        tensor, relative_error=None, max_abs_error=0.25, fraction_wrong=0.5, agrees=False
    )
    said = replace(one, correctness=replace(one.correctness, tensors=(zeros,)))
    ((_, (row,)),) = verdict_table(replace(found, variants=(said,))).groups
    assert row.cells[2] == "2.5e-01 abs"
    assert row.cells[-1] == "C: 50.0% of elements wrong"
    unbounded = replace(zeros, max_abs_error=None)
    said = replace(one, correctness=replace(one.correctness, tensors=(unbounded,)))
    ((_, (row,)),) = verdict_table(replace(found, variants=(said,))).groups
    assert row.cells[2] == "not finite"


def test_ctrl_c_does_not_wait_for_a_hanging_kernel(tmp_path, monkeypatch):
    """The child is killed, not asked: what it runs may never end."""
    asked = []
    stop = Watchdog.stop

    def recorded(self, *, at_once=False):
        asked.append(at_once)
        stop(self, at_once=at_once)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Watchdog, "stop", recorded)
    monkeypatch.setattr(Watchdog, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        profiled(tmp_path, parts(0))
    assert asked[0] is True
