"""Timelines of a profile on disk: one Perfetto trace and one SVG for each probed variant."""

import shutil
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from stagebench.bundle.records import SkippedVariant
from stagebench.gpu.records import Correctness, Device, Profile, ProfiledVariant
from stagebench.model import Compiler, Variant
from stagebench.timing.timeline_files import write_timelines

DATA = Path(__file__).parent / "data"


def variant(depth, name):
    identity = Variant(
        kernel="gemm", params={"num_stages": depth}, arch="sm_90a",
        compiler=Compiler(name="tilelang", version="0.1.15"), pass_configs={},
        stage_param="num_stages",
    )  # fmt: skip
    correct = Correctness(
        verdict="correct", reference=None, runs=1, differing_runs=0, smem_poisoned=True, tensors=()
    )
    return ProfiledVariant(
        id=f"gemm/sm_90a/num_stages={depth}", variant=identity, correctness=correct, builds=(),
        control_cost=None, probe_cost=None, perturbed=None,
        probe_file=None if name is None else f"{name}.bin",
        probe_metadata=None if name is None else f"{name}.json", error=None,
    )  # fmt: skip


def profile(*variants):
    device = Device(
        name="a Hopper GPU", compute_capability=(9, 0), driver_version=13000, sms=132,
        memory_bytes=1, l2_bytes=1, max_smem_per_cta_bytes=1, clock_khz=None, memory_clock_khz=None,
    )  # fmt: skip
    skipped: tuple[SkippedVariant, ...] = ()
    return Profile(
        device=device, seed=0, complete=True, variants=variants, skipped=skipped, libraries=(),
        notes=(),
    )  # fmt: skip


def test_one_trace_and_one_drawing_for_each_probed_variant(tmp_path):
    """What has no probes has no timeline: the trace parses."""
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    found = profile(variant(0, None), variant(3, "gemm.sm_90a.3"))
    written = write_timelines(found, tmp_path, tmp_path / "out")
    assert [path.name for path in written] == [
        "gemm.sm_90a.num_stages=3.perfetto-trace", "gemm.sm_90a.num_stages=3.svg",
    ]  # fmt: skip
    trace = Trace()
    trace.ParseFromString(written[0].read_bytes())
    assert sum(packet.HasField("track_event") for packet in trace.packet) > 200
    assert b"<svg" in written[1].read_bytes()
