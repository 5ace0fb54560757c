"""Does a fault, a hang or a death cost one variant and no other?  With real child processes."""

import os
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from stagebench.errors import MachineError
from stagebench.gpu.profile import ProfileOptions, in_order, profile
from stagebench.gpu.records import PROFILE, Profile
from stagebench.gpu.run_request import RunOptions
from stagebench.gpu.watchdog import Watchdog
from stagebench.model.timing import Measurement
from stagebench.report.verdict_rows import verdict_table
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


def test_each_variant_has_its_own_end(tmp_path):
    """Right, wrong, faulting, hanging and dying variants: each is told, and the last still runs."""
    found, seen = profiled(
        tmp_path, parts(0), parts(1, "fault"), parts(2, "hang"), parts(3, "die"),
        parts(4, "wrong"), parts(5), seconds=6.0,
    )  # fmt: skip
    assert [(v.variant.num_stages, v.correctness.verdict) for v in found.variants] == [
        (0, "not_compared"), (1, "fails"), (2, "hangs"), (3, "fails"), (4, "wrong"), (5, "correct"),
    ]  # fmt: skip
    assert [v.error and v.error.name for v in found.variants] == [
        None, "CUDA_ERROR_ILLEGAL_ADDRESS", "timeout", "process_died", None, None,
    ]  # fmt: skip
    assert "ended by signal 6" in found.variants[3].error.message
    assert seen[-1] == (6, 6, name(5))
    assert found.complete
    assert found.variants[5].builds[0].time.runs == 10


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
    """A checksum that differs is an error of that variant; the other goes on."""
    path = bundle(tmp_path / "bundle", parts(0), parts(1))
    (path / name(1) / "base.cubin.z").write_bytes(b"x")
    options = ProfileOptions(run=RunOptions(repeats=1, runs=0))
    found = profile(path, tmp_path / "out", options, command=child)
    assert [v.error and v.error.name for v in found.variants] == [None, "bundle"]
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
    from stagebench.bundle.read import read_bundle

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
    assert [row.cells[4] for row in rows] == ["8.2 ± 0.5", "–"]
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
