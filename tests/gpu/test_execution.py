"""What does one variant's result say: right, wrong, racing, failing; base, control, probed?"""

import io
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest

from stagebench.bundle.read import read_bundle
from stagebench.dump.profiler_sidecar import read_sidecar
from stagebench.gpu.announcer import Announcer
from stagebench.gpu.build_error import BuildError
from stagebench.gpu.driver import Driver
from stagebench.gpu.dtypes import dtype_of, numpy_dtype
from stagebench.gpu.execution import run_variant
from stagebench.gpu.inputs import random_values
from stagebench.gpu.kernel_clock import KernelClockError
from stagebench.gpu.outputs import OutputStore
from stagebench.gpu.run_request import Answer, Launching, RunOptions, RunRequest
from stagebench.gpu.run_variant import serve
from stagebench.gpu.session import open_session
from stagebench.model import LaunchParam, ProfilerBuffer
from tests.bundle.building import A, C, bundle, launch, name, parts, tensor
from tests.gpu.fake_driver import RESULT, FailsWarm, FakeApi, LosesProbes

PROBE = b'{"symbol": "__sb_probe_base", "buffer_bytes": 64, "stride_bytes": 64, "sites": []}'
PROBED = {"cubins": {"control": b"fake copy", "probed": b"fake probed"}, "probe": PROBE}


class Device:
    """Variants of one bundle on one fake device."""

    def __init__(self, tmp_path, *several, api=None, **options):
        self.api = api or FakeApi()
        self.opened = read_bundle(bundle(tmp_path / "bundle", *several))
        self.session = open_session(Driver(self.api), self.opened)
        self.store = OutputStore(tmp_path / "outputs")
        self.options = RunOptions(**{"repeats": 3, "runs": 0, **options})
        self.out = tmp_path / "probe-0.bin"
        self.outputs = tmp_path / "kept"
        self.told = []

    def run(self, depth, *references):
        request = RunRequest(
            id=name(depth), references=tuple(name(d) for d in references),
            probe_file=str(self.out), outputs_folder=str(self.outputs / name(depth)),
            options=self.options,
        )  # fmt: skip
        announcer = Announcer(self.told.append)
        return run_variant(self.session, self.opened, self.store, request, announcer)

    def launches(self):
        """What was launched, in order."""
        return [a[1].behaviour for n, a in self.api.calls if n == "cuLaunchKernelEx"]


def verdicts(tmp_path, behaviour, **more):
    device = Device(tmp_path, parts(0), parts(2, behaviour, **more))
    assert device.run(0).correctness.verdict == "not_compared"
    return device.run(2, 0)


@pytest.mark.parametrize(
    ("behaviour", "verdict", "bits"),
    [("copy", "correct", True), ("rounded", "correct", False), ("wrong", "wrong", False)],
)
def test_against_depth_0(tmp_path, behaviour, verdict, bits):
    """The same bits and another rounding are right; one element that is off is not."""
    found = verdicts(tmp_path, behaviour)
    assert found.correctness.verdict == verdict
    assert found.correctness.reference == name(0)
    assert found.correctness.tensors[0].bit_equal is bits
    assert found.error is None


def test_stale_shared_memory_shows(tmp_path):
    """A kernel that reads what nobody wrote finds NaN there, not the run before."""
    found = verdicts(tmp_path, "stale")
    assert found.correctness.verdict == "wrong"
    assert found.correctness.smem_poisoned
    assert found.correctness.tensors[0].relative_error is None


def test_a_moving_output_is_a_race(tmp_path):
    """Other bits on the same inputs are a race, whether or not one of the runs was right."""
    found = verdicts(tmp_path, "race")
    assert (found.correctness.verdict, found.correctness.differing_runs) == ("race", 2)
    assert found.correctness.runs == 3


def test_poison_comes_before_each_run(tmp_path):
    """Shared memory before every launch, outputs with NaN, inputs never."""
    device = Device(tmp_path, parts(0))
    device.run(0)
    assert device.launches() == ["poison", "copy"] * 3
    fills = [a for n, a in device.api.calls if n == "cuMemsetD8"]
    uploads = [a for n, a in device.api.calls if n == "cuMemcpyHtoD"]
    assert [byte for _, byte, _ in fills] == [0xFF, 0xFF, 0, 0xFF]
    assert len(uploads) == 1
    assert {a[0] for a in fills}.isdisjoint(a[0] for a in uploads)


def test_every_other_repetition_is_cold(tmp_path):
    """More than the L2 cache holds is written before the second run, not before the third."""
    device = Device(tmp_path, parts(0))
    device.run(0)
    evicting = [a for n, a in device.api.calls if n == "cuMemsetD8" and a[1] == 0]
    assert [size for _, _, size in evicting] == [2 * device.session.device.l2_bytes]
    names = [n for n, a in device.api.calls if n in ("cuMemsetD8", "cuLaunchKernelEx")]
    assert names == [
        "cuMemsetD8", "cuLaunchKernelEx", "cuLaunchKernelEx",
        "cuMemsetD8", "cuMemsetD8", "cuLaunchKernelEx", "cuLaunchKernelEx",
        "cuMemsetD8", "cuLaunchKernelEx", "cuLaunchKernelEx",
    ]  # fmt: skip


def test_without_the_poison_kernel_it_says_so(tmp_path):
    """A driver that can't assemble PTX is no reason to stop, and nothing is claimed."""
    device = Device(tmp_path, parts(0), api=NoPtx())
    assert "shared memory is not poisoned" in device.session.notes[0]
    assert "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" in device.session.notes[0]
    assert not device.run(0).correctness.smem_poisoned


class NoPtx(FakeApi):
    def _cuModuleLoadData(self, image):  # noqa: N802 - the driver's name
        if bytes(image).startswith(b".version"):
            return (RESULT.CUDA_ERROR_JIT_COMPILER_NOT_FOUND,)
        return super()._cuModuleLoadData(image)


def test_the_reference_may_be_the_next_best(tmp_path):
    """Where the best reference left nothing, the next is used and named."""
    device = Device(tmp_path, parts(0), parts(1), parts(2))
    device.run(1)
    assert device.run(2, 0, 1).correctness.reference == name(1)


def test_the_experiments_own_values(tmp_path):
    """Contents are what the kernel reads; what is expected is compared with, and depth 0 too."""
    values = random_values(dtype_of("float16"), 256, np.random.default_rng(3), None)
    expected = values.view(np.float16).astype(np.float64)
    own = {"contents": {"A": values.tobytes()}}
    right = parts(1, **own, expected={"C": expected.tobytes()})
    wrong = parts(2, **own, expected={"C": (expected + 1).tobytes()})
    device = Device(tmp_path, right, wrong)
    found = device.run(1).correctness
    assert (found.verdict, found.reference) == ("correct", "expected")
    assert device.run(2).correctness.verdict == "wrong"


def test_contents_of_another_size(tmp_path):
    """Too few bytes for the tensor are named; nothing is launched."""
    device = Device(tmp_path, parts(0, contents={"A": b"short"}))
    found = device.run(0)
    assert (found.correctness.verdict, found.error.name) == ("not_run", "bundle")
    assert "A needs 512 bytes, 5 were given" in found.error.message
    assert device.launches() == []


def test_what_is_updated_starts_as_it_was(tmp_path):
    """A tensor that is read and written is filled with its input again before every run."""
    how = launch(tensors=(A, tensor("C", read=True, written=True)))
    device = Device(tmp_path, parts(0, how=how))
    device.run(0)
    uploads = [a[0] for n, a in device.api.calls if n == "cuMemcpyHtoD"]
    assert len(uploads) == 2 + 3
    assert [a[1] for n, a in device.api.calls if n == "cuMemsetD8"] == [0]  # evicts, no poison


def test_control_and_probed_are_held_against_base(tmp_path):
    """The probe's buffer is set by symbol, cleared, and saved from a run of its own."""
    device = Device(tmp_path, parts(0, **PROBED), runs=10, warmup=2)
    found = device.run(0)
    assert [(b.kind, b.same_as_base) for b in found.builds] == [
        ("base", None), ("control", True), ("probed", True),
    ]  # fmt: skip
    assert [round(b.time.median_us, 3) for b in found.builds] == [10.0, 10.0, 11.0]
    assert [b.time.runs for b in found.builds] == [10, 10, 10]
    assert (round(found.control_cost, 3), round(found.probe_cost, 3)) == (1.0, 1.1)
    assert found.perturbed is False
    assert found.probe_file == "probe-0.bin"
    assert device.out.read_bytes() == b"lane" + bytes(60)


def test_a_build_that_differs_is_seen(tmp_path):
    """A control build that computes something else is no control."""
    device = Device(tmp_path, parts(0, cubins={"control": b"fake wrong"}))
    assert [b.same_as_base for b in device.run(0).builds] == [None, False]


def test_a_probed_build_that_differs_is_not_used(tmp_path):
    """It is not timed, what its probes say is not kept, and the variant is bad."""
    cubins = {"control": b"fake copy", "probed": b"fake probed wrong"}
    found = Device(tmp_path, parts(0, **{**PROBED, "cubins": cubins}), runs=10).run(0)
    assert [b.problem for b in found.builds] == [None, None, "other_bits"]
    assert [b.time is None for b in found.builds] == [False, False, True]
    assert (found.probe_cost, found.probe_file, found.bad) == (None, None, True)


def test_where_bits_move_a_build_is_not_held_against_them(tmp_path):
    """A race of the kernel is no fault of its control build."""
    device = Device(tmp_path, parts(0, "race", cubins={"control": b"fake race"}))
    found = device.run(0)
    assert [b.same_as_base for b in found.builds] == [None, None]
    assert found.correctness.verdict == "race"


def test_what_is_updated_may_add_in_another_order(tmp_path):
    """Rounding is no difference of a build either, where the kernel's own runs may have it."""
    how = launch(tensors=(A, tensor("C", read=True, written=True)))
    device = Device(tmp_path, parts(0, how=how, cubins={"control": b"fake rounded"}))
    assert [b.same_as_base for b in device.run(0).builds] == [None, True]


def test_each_launch_is_told_before_it_is_waited_for(tmp_path):
    """With its build, and how long it may take by what was seen of it before."""
    device = Device(tmp_path, parts(0, **PROBED), repeats=2, runs=10, warmup=3)
    device.run(0)
    told = [one.build if isinstance(one, Launching) else type(one).__name__ for one in device.told]
    kinds = ["base", "control", "probed"]
    assert [one for one in told if one != "Back"] == [
        "base", "base", "Found", "control", "probed", "Found", *kinds, *kinds, "Found", "Found",
        "probed",
    ]  # fmt: skip
    allowed = [one.seconds for one in device.told if isinstance(one, Launching)]
    assert (allowed[0], min(allowed[1], *allowed[4:]) > 0) == (0, True)


@pytest.mark.parametrize(
    ("cubin", "probe", "error"),
    [
        (b"fake probed", None, "probe"),
        (b"fake probed", b"{", "probe"),
        (b"fake copy", PROBE, "CUDA_ERROR_NOT_FOUND"),
        (b"garbage", PROBE, "CUDA_ERROR_INVALID_IMAGE"),
    ],
)
def test_a_broken_probed_build_loses_itself_alone(tmp_path, cubin, probe, error):
    """Base keeps its verdict and time; the build says what was wrong with it."""
    device = Device(tmp_path, parts(0, cubins={"probed": cubin}, probe=probe))
    found = device.run(0)
    assert [b.error and b.error.name for b in found.builds] == [None, error]
    assert (found.error, found.probe_file, found.bad) == (None, None, True)
    assert device.api.modules == []


def test_probes_that_cannot_be_kept_have_no_cost(tmp_path):
    """The probed build is refused at its very end: what its time said before is not told."""
    found = Device(tmp_path, parts(0, **PROBED), api=LosesProbes(), runs=10).run(0)
    assert [b.problem for b in found.builds] == [None, None, "fails"]
    assert (round(found.control_cost, 3), found.probe_cost, found.perturbed) == (1.0, None, None)


def test_a_build_that_is_left_out_while_timing_is_unloaded_too(tmp_path):
    """It was told of, and nothing of it stays on the device."""
    cubins = {"control": b"fake rounded"}
    how = launch(tensors=(A, tensor("C", read=True, written=True)))
    device = Device(tmp_path, parts(0, how=how, cubins=cubins), api=FailsWarm(), runs=10)
    assert [b.problem for b in device.run(0).builds] == [None, "fails"]
    assert (device.api.modules, device.api.memory) == ([], {})


def test_inputs_go_round(tmp_path):
    """Sets of tensors are launched in turn, until they are larger than the L2 cache twice."""
    device = Device(tmp_path, parts(0), runs=20)
    build = device.run(0).builds[0]
    assert (build.rotation, build.rotation_bytes) == (9, 9 * 1024)
    launched = [a[2][0][0] for n, a in device.api.calls if n == "cuLaunchKernelEx"][-20:]
    assert len(set(launched)) == 9
    assert all(one != other for one, other in pairwise(launched))
    assert device.api.memory == {}


@pytest.mark.parametrize(
    ("change", "verdict", "error"),
    [
        ({"how": launch(dynamic_smem_bytes=300_000)}, "fails", "CUDA_ERROR_INVALID_VALUE"),
        ({"cubin_arch": "sm_100a"}, "not_run", "another_arch"),
        (
            {"how": launch(tensors=(A, tensor("C", shape=(1 << 31,), written=True)))},
            "not_run",
            "CUDA_ERROR_OUT_OF_MEMORY",
        ),
        (
            {"how": launch(tensors=(tensor("A", dtype="float6", read=True), C))},
            "not_run",
            "unknown_dtype",
        ),
    ],
)
def test_a_variant_that_cannot_run(tmp_path, change, verdict, error):
    """Each refusal has its name, frees its memory, and the next variant runs."""
    device = Device(tmp_path, parts(0), parts(1, **change))
    found = device.run(1)
    assert (found.correctness.verdict, found.error.name) == (verdict, error)
    assert (device.api.memory, device.api.modules) == ({}, [])
    assert device.run(0).error is None


def test_another_arch_says_how_to_bundle(tmp_path):
    """The message has both archs and the option."""
    message = Device(tmp_path, parts(0, cubin_arch="sm_80")).run(0).error.message
    assert "assembled for sm_80, this device has compute capability 9.0" in message
    assert "--device-arch sm_90" in message


def test_a_fault_loses_the_context(tmp_path):
    """An illegal address is the variant's result, and the process is told to end."""
    device = Device(tmp_path, parts(0, "fault"))
    with pytest.raises(BuildError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as raised:
        device.run(0)
    assert (raised.value.build, raised.value.sticky) == ("base", True)
    assert "cuMemFree" not in device.api.names()


def answers(path, tmp_path, requests, api=None):
    stream = io.BytesIO()
    serve(
        path, tmp_path, [msgspec.json.encode(r) for r in requests], stream, Driver(api or FakeApi())
    )
    return [msgspec.json.decode(line, type=Answer) for line in stream.getvalue().splitlines()]


def test_the_child_ends_after_a_fault(tmp_path):
    """It is ready, answers in turn, and answers nothing more once the context is lost."""
    path = bundle(tmp_path / "b", parts(0), parts(1, "fault"), parts(2))
    options = RunOptions(repeats=1, runs=0)
    requests = [
        RunRequest(id=name(d), references=(), probe_file=None, options=options) for d in (0, 1, 2)
    ]
    ready, *told = answers(path, tmp_path / "o", requests)
    assert ready.device.name == "Fake GPU"
    assert [type(one).__name__ for one in told] == [
        "Launching", "Back", "Found", "Found", "Ran", "Launching", "Back", "Lost",
    ]  # fmt: skip
    assert (told[-1].error.build, told[-1].error.name) == ("base", "CUDA_ERROR_ILLEGAL_ADDRESS")


def test_the_child_of_a_bundle_that_is_none(tmp_path):
    """What makes every variant impossible is said once."""
    (found,) = answers(tmp_path / "none", tmp_path, [])
    assert "no bundle at" in found.message
    api = FakeApi(faults={"cuDevicePrimaryCtxRetain": RESULT.CUDA_ERROR_OUT_OF_MEMORY})
    (found,) = answers(bundle(tmp_path / "b", parts(0)), tmp_path, [], api)
    assert "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY" in found.message


class Clock:
    """Says that the kernel alone took two microseconds less than events say."""

    def __init__(self):
        self.broken = False
        self.asked = 0

    def durations_us(self, work):
        self.asked += 1
        return [8.0] * work()


class SilentClock(Clock):
    def durations_us(self, work):
        self.asked += work() > 0
        self.broken = True
        raise KernelClockError("CUPTI recorded 0 of 11 kernels")


def with_clock(tmp_path, clock):
    device = Device(tmp_path, parts(0, **PROBED), runs=20)
    device.session = replace(device.session, kernel_clock=clock)
    return device


def test_the_kernels_own_time_is_beside_the_events(tmp_path):
    """A turn for each build, and each of its launches has a record."""
    clock = Clock()
    found = with_clock(tmp_path, clock).run(0)
    assert [build.time.median_us for build in found.builds] == pytest.approx([10, 10, 11])
    assert [build.device_time.median_us for build in found.builds] == [8.0, 8.0, 8.0]
    assert [build.device_time.runs for build in found.builds] == [20, 20, 20]
    assert clock.asked == 6
    assert found.notes == ()


def test_a_clock_that_says_nothing_leaves_the_events(tmp_path):
    """The times by events stay, the note says why there are no others, and it is asked once."""
    device = with_clock(tmp_path, SilentClock())
    found = device.run(0)
    assert [build.device_time for build in found.builds] == [None] * 3
    assert found.builds[0].time.median_us == pytest.approx(10)
    assert found.notes == ("no times from CUPTI: CUPTI recorded 0 of 11 kernels",)
    assert device.run(0).notes == ()
    assert device.session.kernel_clock.asked == 1


MARKED = launch(
    params=(*launch().params, LaunchParam(name="prof", kind="tensor", dtype="uint64")),
    tensors=(A, C, tensor("prof", shape=(9,), dtype="uint64", written=True)),
    profilers=(
        ProfilerBuffer(
            tensor="prof",
            format="tvm",
            groups=1,
            stride=32,
            events=(0,),
            marks={},
            event_names=("load",),
            group_names=(),
        ),
    ),
)


def test_a_profilers_buffer_is_kept_and_never_judged(tmp_path):
    """It starts as zero in every run, is that of the first run, and times are no difference."""
    device = Device(tmp_path, parts(0, how=MARKED), parts(2, how=MARKED))
    first, second = device.run(0), device.run(2, 0)
    assert second.correctness.verdict == "correct"
    assert second.correctness.differing_runs == 0
    assert [one.tensor for one in second.correctness.tensors] == ["C"]
    assert first.outputs == ("prof.npy",)
    words = np.load(device.outputs / name(0) / "prof.npy")
    assert words.dtype == np.uint64
    assert words.tolist() == [1 << 32 | 32, *[1] * 8]
    beside = read_sidecar(device.outputs / name(0) / "prof.npy")
    assert (beside.source, beside.format, beside.blocks) == (name(0), "tvm", 32)
    assert (beside.groups, beside.stride, beside.event_names) == (1, 32, ("load",))


def test_outputs_are_kept_when_asked_for(tmp_path):
    """In the tensor's shape and dtype; otherwise nothing is written."""
    plain = Device(tmp_path / "plain", parts(0))
    assert plain.run(0).outputs == ()
    assert not plain.outputs.exists()
    asked = Device(tmp_path / "asked", parts(0), save_outputs=True)
    assert asked.run(0).outputs == ("C.npy",)
    saved = np.load(asked.outputs / name(0) / "C.npy")
    assert (saved.dtype, saved.shape) == (np.float16, (256,))
    assert np.isfinite(saved).all()


@pytest.mark.parametrize(
    ("shape", "strides", "saved"),
    [
        ((4, 64), (64, 1), (4, 64)),  # as TileLang and TVM declare a compact tensor
        ((1, 256), (999, 1), (1, 256)),  # the stride of one row is never taken
        ((64, 4), (1, 64), (256,)),  # transposed: no C order
    ],
)
def test_the_shape_of_what_is_kept(tmp_path, shape, strides, saved):
    """The tensor's own where it lies in memory so, else all elements as they lie."""
    out = tensor("C", shape=shape, strides=strides, written=True)
    device = Device(tmp_path, parts(0, how=launch(tensors=(A, out))), save_outputs=True)
    device.run(0)
    assert np.load(device.outputs / name(0) / "C.npy").shape == saved


@pytest.mark.parametrize(
    ("dtype", "saved"),
    [("bfloat16", np.uint16), ("float8_e4m3", np.uint8), ("uint4", np.uint8), ("bool", np.uint8)],
)
def test_bits_where_numpy_has_no_such_dtype(dtype, saved):
    """Never a cast, which would change them."""
    assert numpy_dtype(dtype_of(dtype)) == saved


def test_without_probes_the_kernel_as_compiled_runs_alone(tmp_path):
    """Nothing of the other builds, and no probe buffer."""
    device = Device(tmp_path, parts(0, **PROBED), probes=False)
    found = device.run(0)
    assert [build.kind for build in found.builds] == ["base"]
    assert found.probe_file is None
    assert not device.out.exists()
    assert set(device.launches()) == {"poison", "copy"}


def test_what_is_expected_does_not_hide_another_depth(tmp_path):
    """A depth within the tolerance of a loose reference, and not of depth 0, is wrong."""
    values = random_values(dtype_of("float16"), 256, np.random.default_rng(3), None)
    own = {"contents": {"A": values.tobytes()}}
    off = values.view(np.float16).copy()
    off[3] += 1  # what `wrong` computes: the reference agrees with the wrong depth
    loose = {"C": off.astype(np.float64).tobytes()}
    device = Device(tmp_path, parts(0, **own), parts(2, "wrong", **own, expected=loose))
    device.run(0)
    found = device.run(2, 0).correctness
    assert found.reference == f"expected and {name(0)}"
    assert [one.agrees for one in found.tensors] == [True, False]
    assert found.verdict == "wrong"
