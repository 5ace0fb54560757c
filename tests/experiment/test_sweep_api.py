"""Does the Python API say what the command says?"""

from pathlib import Path

import pytest

import stagebench
from stagebench.dump.directory import read_run
from stagebench.errors import UsageError
from stagebench.experiment.argument_names import speaking_of_arguments
from stagebench.experiment.sweep import SweepOptions, run_sweep
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.model import Run
from stagebench.model.codec import encode_pretty
from tests.command_line import stagebench as command
from tests.lowered import warm

pytestmark = pytest.mark.tilelang

SMALL = f"{Path(__file__).parents[1] / 'sweeping' / 'kernels' / 'small.py'}:small_gemm"
DEPTHS = f"{Path(__file__).parent / 'kernels' / 'depths.py'}:"
TILES = [(64, 64), (32, 64)]


@pytest.fixture(scope="module", autouse=True)
def lowered():
    """Everything that this module looks at, lowered by one worker."""
    warm(
        [
            SweepPlan(kernel=SMALL, num_stages=(1, 3), archs=("sm_80", "sm_90a"),
                      params={"K": (128, 256)}),
            SweepPlan(kernel=DEPTHS + "named", num_stages=(2, 3), archs=("sm_90a",),
                      params={"tile": tuple(TILES)}, stage_param="depth"),
            SweepPlan(kernel=DEPTHS + "named", num_stages=(2, 3), archs=("sm_90a",),
                      stage_param="depth"),
            SweepPlan(kernel=DEPTHS + "written", num_stages=(None,), archs=("sm_90a",)),
        ]
    )  # fmt: skip


def test_the_same_records_as_the_command(tmp_path):
    """`stagebench.sweep` returns what `--json` holds, byte for byte, and writes the same dumps."""
    run = stagebench.sweep(
        SMALL, num_stages=[1, 3], arch=["sm_80", "sm_90a"], params={"K": [128, 256]},
        dump_dir=tmp_path / "api",
    )  # fmt: skip
    ran = command(
        "sweep", SMALL, "--num-stages", 1, 3, "--arch", "sm_80", "sm_90a", "--set", "K=128,256",
        "--json", "-", "--dump-dir", tmp_path / "cli", cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert encode_pretty(run).decode() == ran.out
    assert [v.variant.params["K"] for v in run.variants] == [128, 128, 256, 256] * 2
    for place in ("api", "cli"):
        assert Run(variants=tuple(d.result for d in read_run(tmp_path / place))) == run


def test_a_list_is_an_axis_and_a_tuple_is_a_value(tmp_path):
    """Only a list makes several variants; the command's spelling of both means the same."""
    axis = stagebench.sweep(DEPTHS + "named", num_stages=[2], arch="sm_90a", stage_param="depth",
                            params={"tile": list(TILES)})  # fmt: skip
    value = stagebench.sweep(DEPTHS + "named", num_stages=[2], arch="sm_90a", stage_param="depth",
                             params={"tile": TILES[1]})  # fmt: skip
    assert [v.variant.params["tile"] for v in axis.variants] == TILES
    assert value.variants == axis.variants[1:]
    grids = [v.facts.launch.grid for v in axis.variants]
    assert grids == [(2, 2, 1), (2, 4, 1)]
    ran = command("sweep", DEPTHS + "named", "--num-stages", 2, "--arch", "sm_90a", "--set",
                  "tile=(64,64),(32,64)", "--stage-param", "depth", "--json", "-", "--no-dumps",
                  cwd=tmp_path)  # fmt: skip
    assert ran.out.encode() == encode_pretty(axis)


def test_one_value_may_stand_alone():
    """Of each axis; no compiler is this environment's."""
    alone = stagebench.sweep(SMALL, num_stages=1, arch="sm_80", params={"K": 128}, compilers=None)
    several = stagebench.sweep(
        SMALL, num_stages=(1,), arch=["sm_80"], params={"K": [128]}, compilers="tilelang"
    )
    assert encode_pretty(alone) == encode_pretty(several)
    assert [one.variant.num_stages for one in alone.variants] == [1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"num_stages": []}, "num_stages has no value"),
        ({"num_stages": "2"}, "num_stages '2' is no depth"),
        ({"num_stages": True}, "num_stages True is no depth"),
        ({"arch": ["sm_80", "sm_80"]}, "arch has a value twice: sm_80 sm_80"),
        ({"params": {"num_stages": 2}}, "num_stages carries the depth"),
        ({"compilers": "clang"}, "compilers clang: not a compiler that stagebench knows"),
        ({"pass_configs": {"tir_pipeline": "tirx"}}, "pass_configs chooses Apache TVM's passes, "),
        ({"jobs": 0}, "jobs 0: at least one"),
    ],
)
def test_errors_speak_of_arguments(wrong, said):
    """A caller of the API typed no flag; nor does the hint name one."""
    with pytest.raises(UsageError) as caught:
        stagebench.sweep(SMALL, **{"arch": "sm_80", **wrong})
    assert str(caught.value) == caught.value.message
    assert caught.value.message.startswith(said)
    assert "--" not in f"{caught.value.message} {caught.value.hint}"


def test_a_quoted_command_stays_one():
    """Only prose is renamed, and only what is an argument."""
    with pytest.raises(UsageError) as caught, speaking_of_arguments():
        raise UsageError("--arch: x--arch --until", hint="`stagebench sweep --arch A`, or --arch")
    assert caught.value.message == "arch: x--arch --until"
    assert caught.value.hint == "`stagebench sweep --arch A`, or arch"


def test_the_parameter_that_carries_the_depth():
    """`stage_param` names it; in the variant it is under num_stages, and the name is told."""
    run = stagebench.sweep(DEPTHS + "named", num_stages=[2, 3], arch="sm_90a", stage_param="depth")
    assert [(v.variant.num_stages, v.variant.stage_param) for v in run.variants] == [
        (2, "depth"), (3, "depth"),
    ]  # fmt: skip
    for depth, result in zip((2, 3), run.variants, strict=True):
        assert "depth" not in result.variant.params
        assert [b.num_versions for b in result.facts.shared_buffers] == [depth, depth]


def test_a_depth_that_is_written_in_the_kernel():
    """Without depths the kernel is lowered as written, once an arch, and a note says where."""
    result = run_sweep(SweepPlan(kernel=DEPTHS + "written", archs=("sm_90a",)), SweepOptions())
    (variant,) = result.run.variants
    assert variant.variant.num_stages is None
    assert "num_stages" not in variant.variant.params
    (loop,) = variant.facts.pipeline_loops
    assert loop.num_stages == 3
    source = Path(DEPTHS.removesuffix(":")).read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "num_stages=3" in text)
    (note,) = result.notes
    assert f"depths.py:{line}" in note
    assert note.endswith("lowered as written")


def test_a_depth_that_is_written_in_the_kernel_and_asked_for(tmp_path):
    """With depths it is an error that says where the literal stands; nothing is dumped."""
    ran = command("sweep", DEPTHS + "written", "--num-stages", 2, "--arch", "sm_90a", "--dump-dir",
                  tmp_path / "dumps", cwd=tmp_path)  # fmt: skip
    assert ran.code == 2
    assert "depths.py:" in ran.err
    assert "Traceback" not in ran.err
    assert not list((tmp_path / "dumps").rglob("*.json"))


@pytest.mark.parametrize("limit", [2000, 8000])
def test_a_disk_that_fills_up(tmp_path, limit):
    """A dump that can't be written ends the sweep with 2 and a message; no half is left.

    The limit is on the size of a file, which stands for a full disk and needs no rights.
    """
    import resource
    import subprocess

    from tests.command_line import command as arguments

    done = subprocess.run(
        arguments("sweep", SMALL, "--num-stages", 3, "--arch", "sm_90a", "--set", "K=128",
                  "--dump-dir", tmp_path / "dumps"),
        cwd=tmp_path, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"stagebench: can't write to {tmp_path / 'dumps'}: File too large" in done.stderr
    assert "hint: finished variants are in the cache" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path for path in (tmp_path / "dumps").rglob("*") if path.is_file()] == []
