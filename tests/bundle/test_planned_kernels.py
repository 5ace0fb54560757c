"""From a plan of a user's own .cu or .ptx to stalls: real compiler and probes, a fake device.

The buffers that a GPU would write are made by running the probed PTX, thread by thread.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from stagebench.bundle.assembling import Assembling
from stagebench.bundle.build import BuildOptions, build_bundle
from stagebench.bundle.plan_file import read_plan
from stagebench.bundle.plan_signature import check_signature
from stagebench.bundle.planned_kernels import planned_candidates
from stagebench.bundle.probing import Probing, with_probes
from stagebench.bundle.read import read_bundle
from stagebench.errors import UsageError
from stagebench.gpu.profile import ProfileOptions, profile
from stagebench.gpu.run_request import RunOptions
from stagebench.model import MachineCode
from stagebench.model.codec import decode
from stagebench.model.timing import ProbeMetadata
from stagebench.probe.plan import plan_probes
from stagebench.report.given_rows import given_lines
from stagebench.report.profile_rows import depth_rows
from stagebench.timing.correlate import depth_steps
from stagebench.timing.measured import measure, write_measured
from tests.bundle.building import complain
from tests.bundle.plan_child import digest
from tests.command_line import stagebench
from tests.probe.image import Machine
from tests.probe.texts import layout_of

ROOT = Path(__file__).parents[2]
PLANS = Path(__file__).parent / "plans"
SGEMM = tuple(PLANS / f"sgemm_{depth}.toml" for depth in (1, 2, 3))
ADD = PLANS / "add.json"
CTAS = 2
SGEMM_ID = "sgemm_by_hand/sm_80/num_stages={},compiler=launch-plan==1"


@pytest.fixture(scope="module")
def candidates(assembler):
    """The three depths of the .cu and the .ptx, probed; what is told of them."""
    told = []
    how = Probing(assembler, max_ctas=CTAS)
    plain = planned_candidates([*SGEMM, ADD], assembler, complain)
    return [with_probes(one, "sm_80", how, told.append) for one in plain], told


@pytest.fixture(scope="module")
def bundled(candidates, tmp_path_factory):
    """The bundle, and a folder with what the probes of each probed cubin write."""
    folder = tmp_path_factory.mktemp("plans")
    (folder / "images").mkdir()
    with Assembling(complain) as source:
        build_bundle(folder / "bundle", candidates[0], source, BuildOptions())
    for one in candidates[0]:
        given = one.result
        plan, placed = plan_probes(one.ptx, given.launch, scalars=given.integers, max_ctas=CTAS)
        layout = layout_of(plan.metadata, given.launch.block, given.launch.grid)
        params = dict(
            zip(
                _params(one.ptx),
                [given.integers.get(p.name) for p in given.launch.params],
                strict=True,
            )
        )
        machine = Machine(placed.probed.text, given.launch.function, layout, params)
        (folder / "images" / digest(one.extra_cubins["probed"])).write_bytes(machine.run())
    return folder


def _params(ptx):
    from stagebench.ptx.read import read_module

    return [variable.name for variable in read_module(ptx).entries[0].params]


@pytest.fixture(scope="module")
def profiled(bundled):
    """The profile and what was measured."""

    def command(bundle, outputs):
        images = bundled / "images"
        return [
            sys.executable,
            "-m",
            "tests.bundle.plan_child",
            *map(str, (bundle, outputs, images)),
        ]

    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), before])
    try:
        options = ProfileOptions(run=RunOptions(repeats=2, runs=5, warmup=1))
        found = profile(bundled / "bundle", bundled / "out", options, command=command)
    finally:
        os.environ["PYTHONPATH"] = before
    return found, measure(found, bundled / "out", read_bundle(bundled / "bundle"), complain)


def test_no_fact_is_made_up(bundled):
    """There is machine code and no fact of an IR; a level that was not read is not 0."""
    opened = read_bundle(bundled / "bundle")
    assert [one.id for one in opened.bundle.variants] == [
        *(SGEMM_ID.format(depth) for depth in (1, 2, 3)),
        "add/sm_80/num_stages=as-written,compiler=triton==3.5.0",
    ]
    assert [one.facts for one in opened.bundle.variants] == [None] * 4
    machine = decode(opened.load(opened.bundle.variants[1].machine), MachineCode, "machine")
    assert machine.frontier == ()
    row = next(row for row in machine.levels if row.op == "cp_async_wait")
    assert (row.ir, row.cuda, row.ptx.static, row.ptx.executed, row.sass.static) == (
        None, None, 1, 32, 1,
    )  # fmt: skip
    assert [row.op for row in machine.levels if not row.agreed] == []
    assert machine.occupancy.ctas_per_sm == 4


def test_sites(bundled, candidates):
    """Every wait is probed, on the line of the user's own file, with the count that K gives."""
    opened = read_bundle(bundled / "bundle")
    found = [
        decode(opened.load(one.probe), ProbeMetadata, one.id) for one in opened.bundle.variants
    ]
    assert [(s.name, s.cuda_line, s.predicted) for s in found[1].sites] == [
        ("sgemm.cu:31 cp_async_wait 1", 31, (32,) * 8),
        ("sgemm.cu:32 syncthreads", 32, (32,) * 8),
        ("sgemm.cu:41 syncthreads", 41, (32,) * 8),
    ]
    assert [(s.name, s.file, s.line, s.line_kind, s.cuda_line) for s in found[3].sites] == [
        ("add.py:10 cp_async_wait 0", "add.py", 10, "exact", None),
        ("add.py:10 syncthreads", "add.py", 10, "exact", None),
    ]
    assert {s.section for one in found for s in one.sites} == {None}
    assert [one.audit.spill_bytes["probed"] for one in candidates[0]] == [0] * 4
    assert candidates[1] == []  # probes of depth 1 would take a CTA's registers: they are bound


def test_what_is_told(candidates):
    """Resources, PTX against SASS, and probes of a kernel that no sweep has shown."""
    assert given_lines(candidates[0][2]) == (
        "sgemm_by_hand · sm_80 · num_stages=3: sgemm of sgemm.cu",
        "  64 registers, 0 bytes spilled, shared memory 24576 bytes (0 static), 4 CTAs per SM "
        "(registers)",
        "  PTX → SASS: cp_async_copy 6 (64×) → 6, cp_async_commit 3 (34×) → 3, "
        "cp_async_wait 1 (32×) → 1, syncthreads 2 (64×) → 2",
        "  3 probed sites, 768 records of a CTA predicted, SASS audit passed",
    )


def test_what_is_told_is_of_what_is_packed(assembler):
    """For a device, its registers and its occupancy; the variant stays that of the plan."""
    (own,) = planned_candidates([ADD], assembler, complain)
    (one,) = planned_candidates([ADD], assembler, complain, "sm_90")
    assert (one.result.variant, one.result.packed_arch) == (own.result.variant, "sm_90")
    assert one.cubin == own.cubin
    packed = assembler.submit_ptx(one.ptx, "sm_90", one.result.launch.function).result()
    assert one.result.machine.registers == packed.resources.registers
    assert given_lines(one)[0] == (
        "add · sm_80 · block=128: add_kernel of add.ptx, assembled for sm_90"
    )
    assert one.result.machine.histogram != own.result.machine.histogram


def test_depths_are_compared(profiled):
    """Each depth against the shallowest; control and probed builds give the same bits."""
    found, _ = profiled
    assert [(one.correctness.verdict, one.correctness.reference) for one in found.variants] == [
        ("not_compared", None), ("not_compared", None),
        ("correct", SGEMM_ID.format(1)),
        ("correct", SGEMM_ID.format(1)),
    ]  # fmt: skip
    assert {b.same_as_base for one in found.variants for b in one.builds} == {None, True}


def test_stalls(profiled):
    """The buffers decode without a problem to as many records as were predicted."""
    _, measured = profiled
    sweeps = {one.variant.kernel: one for one in measured.sweeps}
    assert [t.num_stages for t in sweeps["sgemm_by_hand"].timings] == [1, 2, 3]
    for timing in sweeps["sgemm_by_hand"].timings:
        assert timing.stalls.problems == ()
        by_line = {one.site.cuda_line: one for one in timing.stalls.sites}
        assert sorted(by_line) == [31, 32, 41]
        assert [(s.executions, s.predicted) for s in by_line.values()] == [(32 * 8 * CTAS,) * 2] * 3
        assert by_line[31].cause == "data"
    (add,) = sweeps["add"].timings
    assert add.num_stages is None
    assert depth_rows([add])[0] == ("num_stages", "as written")
    assert ("registers", "96") in depth_rows([add])
    assert {one.site.line: one.executions for one in add.stalls.sites} == {10: 4 * CTAS}


def test_depth_facts_without_an_ir(profiled):
    """Shared memory and wait depths change with the depth; versions are not known, and not 0."""
    _, measured = profiled
    sweep = next(one for one in measured.sweeps if one.variant.kernel == "sgemm_by_hand")
    assert [(t.facts.versions, t.facts.barriers, t.facts.smem_bytes) for t in sweep.timings] == [
        (None, None, 8192), (None, None, 16384), (None, None, 24576),
    ]  # fmt: skip
    assert [t.facts.wait_depths for t in sweep.timings] == [
        {"cp_async_wait": (n,)} for n in (0, 1, 2)
    ]
    rows = {row[0]: row[1:] for row in depth_rows(sweep.timings)}
    assert rows["shared memory, bytes"] == ("8192", "16384", "24576")
    assert rows["cp_async_wait max_pending"] == ("0", "1", "2")
    assert "barriers" not in rows
    assert "shared memory 8192 → 16384 bytes" in depth_steps(sweep.timings)[0].verdict
    assert [rate.of_bandwidth is None for rate in sweep.rates] == [True] * 3  # no known device


def test_it_can_be_shown_again(profiled, bundled):
    """The command shows a profile of plans, sites and all."""
    _, measured = profiled
    write_measured(measured, bundled / "out")
    ran = stagebench("profile", bundled / "out", "--sites", COLUMNS="140")
    assert ran.code == 0, ran.err
    assert "sgemm_by_hand · sm_80" in ran.out
    assert "cp_async_wait<1>" in ran.out
    assert "as written" in ran.out


# what is wrong with a plan once its PTX is there


def planned(tmp_path, assembler, text=None, **changes):
    for file in PLANS.iterdir():
        shutil.copy(file, tmp_path)
    fields = {**json.loads(ADD.read_text()), **changes}
    if text is not None:
        (tmp_path / fields["source"]).write_text(text)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(fields))
    return planned_candidates([path], assembler, complain)


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"entry": "ad_kernel"}, "no entry ad_kernel in add.ptx; there is add_kernel",
         "entry = 'add_kernel'"),
        ({"arguments": json.loads(ADD.read_text())["arguments"][:2]},
         "2 arguments, add_kernel takes 3", ".u64 add_kernel_param_0"),
        ({"arguments": [*json.loads(ADD.read_text())["arguments"][:2],
                        {"name": "s", "dtype": "float64", "value": 0.5}]},
         "argument s: float64 has 8 bytes, the PTX's parameter .f32 add_kernel_param_2", "order"),
        ({"arguments": [*json.loads(ADD.read_text())["arguments"][:2],
                        {"name": "s", "dtype": "float32", "shape": [4], "role": "input"}]},
         "argument s: a tensor's pointer has 8 bytes", None),
        ({"block": [256]}, "a block of 256 threads, add_kernel allows 128 (.maxntid 128, 1, 1)",
         "__launch_bounds__"),
    ],
)  # fmt: skip
def test_what_the_ptx_contradicts(tmp_path, assembler, changes, message, hint):
    """Entry, arity, sizes of parameters and bounds are named."""
    with pytest.raises(UsageError) as caught:
        planned(tmp_path, assembler, **changes)
    assert message in caught.value.message
    assert str(tmp_path / "plan.json") in caught.value.message
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    ("directive", "changes", "message"),
    [
        (".reqntid 64, 2, 1", {}, "wants 64, 2, 1 (.reqntid)"),
        (".explicitcluster\n.reqnctapercluster 2, 1, 1", {}, "no cluster, add_kernel wants 2, 1"),
        (".explicitcluster\n.reqnctapercluster 2, 1, 1", {"cluster": [4]}, "a cluster of 4, add"),
    ],
)
def test_bounds_that_must_be_met(tmp_path, assembler, directive, changes, message):
    """A required block or cluster is not a largest one."""
    text = (PLANS / "add.ptx").read_text().replace(".maxntid 128, 1, 1", directive)
    text = text.replace("sm_80", "sm_90")
    with pytest.raises(UsageError) as caught:
        planned(tmp_path, assembler, text=text, arch="sm_90", **changes)
    assert message in caught.value.message


def test_a_source_that_does_not_compile_is_left_out(tmp_path, assembler):
    """Its own first error and line say why; it is no error of the whole command."""
    (one,) = planned(
        tmp_path, assembler, text="__global__ void k(float *A) {\n  A[0] = nothing;\n}\n",
        **{**_cuda(), "source": "bad.cu", "entry": "k"},
    )  # fmt: skip
    assert 'CUDA to PTX: identifier "nothing" is undefined (bad.cu:2)' in one.result.problem
    assert one.cubin is None
    (two,) = planned(
        tmp_path,
        assembler,
        text='#include "none.h"\n__global__ void k(float *A) {}\n',
        **{**_cuda(), "source": "bad.cu", "entry": "k"},
    )
    assert "include; the C library's are not there" in two.result.problem
    assert given_lines(two)[1] == f"  {two.result.problem}"


def test_what_is_no_ptx(tmp_path, assembler):
    """Damaged PTX names the plan and the source."""
    with pytest.raises(UsageError, match=r"plan\.json: the PTX of add\.ptx: PTX line 1"):
        planned(tmp_path, assembler, text="this is no ptx")


def _cuda():
    argument = {"name": "A", "dtype": "float32", "shape": [4], "role": "inout"}
    return {"arguments": [argument]}


def test_names_lines_and_values_of_cuda(tmp_path, assembler):
    """A mangled entry is found by its name; #line and define reach the sites."""
    text = (
        "\n\n\n"
        "__global__ void k(float *A) {\n"
        '#line 70 "my.py"\n'
        "  A[threadIdx.x] = 1;\n"
        "  __syncthreads();\n"
        "  A[threadIdx.x] += A[threadIdx.x ^ 1] * TIMES;\n"
        "}\n"
    )
    (one,) = planned(
        tmp_path, assembler, text=text,
        **{**_cuda(), "source": "named.cu", "entry": "k", "define": {"TIMES": 3}},
    )  # fmt: skip
    assert one.result.launch.function == "_Z1kPf"
    probed = with_probes(one, "sm_80", Probing(assembler), complain)
    (site,) = decode(probed.probe, ProbeMetadata, "probe").sites
    assert (site.name, site.file, site.line, site.cuda_line) == (
        "my.py:71 syncthreads", "my.py", 71, 7,
    )  # fmt: skip


def test_inlined_functions_have_lines_of_their_own(tmp_path, assembler):
    """Two lines are two sites, in the source or in an own header; one line unrolled is copies."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "part.cuh").write_text(
        "__device__ __forceinline__ void part(float *A) {\n"
        "  A[threadIdx.x] += 1;\n  __syncthreads();\n  A[threadIdx.x ^ 1] *= 2;\n"
        "  __syncthreads();\n  A[threadIdx.x ^ 2] *= 3;\n}\n"
    )
    text = (
        '#include "part.cuh"\n'
        "__device__ __forceinline__ void meet() { __syncthreads(); }\n"
        "template <int N> __device__ __forceinline__ void tile(float *A) {\n"
        "  A[threadIdx.x] = N;\n"
        "  meet();\n"
        "  A[threadIdx.x] += A[threadIdx.x ^ 1];\n"
        "#pragma unroll\n"
        "  for (int i = 0; i < 2; ++i) {\n"
        "    __syncthreads();\n"
        "    A[threadIdx.x] += A[threadIdx.x ^ 3];\n"
        "  }\n"
        "}\n"
        "__global__ void k(float *A) {\n"
        "  tile<3>(A);\n"
        "  part(A);\n"
        "}\n"
    )
    changes = {**_cuda(), "source": "named.cu", "entry": "k", "include": ["mine"]}
    (one,) = planned(tmp_path, assembler, text=text, **changes)
    probed = with_probes(one, "sm_80", Probing(assembler), complain)
    sites = decode(probed.probe, ProbeMetadata, "probe").sites
    assert [(s.name, s.file, s.line, s.cuda_line, s.copies) for s in sites] == [
        ("named.cu:5 syncthreads", None, None, 5, 1),
        ("named.cu:9 syncthreads [1/2]", None, None, 9, 2),
        ("named.cu:9 syncthreads [2/2]", None, None, 9, 2),
        ("part.cuh:3 syncthreads", "part.cuh", 3, None, 1),
        ("part.cuh:5 syncthreads", "part.cuh", 5, None, 1),
    ]


def test_no_room_in_an_sm(tmp_path, assembler):
    """Static and dynamic shared memory together are more than a block has."""
    text = (
        "__global__ void k(float *A) {\n  __shared__ float s[1024];\n"
        "  s[threadIdx.x] = A[0];\n  __syncthreads();\n  A[threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"
    )
    changes = {**_cuda(), "source": "big.cu", "entry": "k"}
    (most,) = planned(tmp_path, assembler, text=text, **changes, dynamic_smem_bytes=162816)
    assert most.result.machine.occupancy.ctas_per_sm == 1
    with pytest.raises(UsageError, match="no CTA fits into an SM of sm_80: 4096 bytes of static"):
        planned(tmp_path, assembler, text=text, **changes, dynamic_smem_bytes=162817)


def signed(tmp_path, parameters, arguments):
    """What is warned of a plan with these arguments, of a source with these parameters."""
    path = tmp_path / "p.json"
    arguments = [{"name": f"a{n}", **one} for n, one in enumerate(arguments)]
    fields = {**json.loads(ADD.read_text()), "entry": "k", "source": "k.cu"}
    (tmp_path / "k.cu").touch()
    path.write_text(json.dumps({**fields, "arguments": arguments}))
    told = []
    text = f"__global__ void k({parameters}) {{}}"
    check_signature(read_plan(path), text, "p", told.append)
    return told


def of(dtype, value=None):
    if value is not None:
        return {"dtype": dtype, "value": value}
    return {"dtype": dtype, "shape": [4], "role": "inout"}


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ("int M", [of("float32", 1.0)], "argument a0 is float32, in the source it is int M"),
        ("float s", [of("int32", 1)], "argument a0 is int32, in the source it is float s"),
        ("int M", [of("int64", 1)], "argument a0 is int64"),
        ("long long M", [of("int8")], "argument a0 is a tensor, in the source it is long long M"),
    ],
)
def test_scalars_of_another_kind(tmp_path, parameters, arguments, message):
    """Their bits would be read as something else."""
    with pytest.raises(UsageError) as caught:
        signed(tmp_path, parameters, arguments)
    assert message in caught.value.message
    assert "dtype = '" in caught.value.hint


def test_tensors_of_other_elements(tmp_path):
    """A warning: a pointer may be cast.  Bytes, signs, templates and spellings are let pass."""
    assert signed(tmp_path, "const float *x", [of("float16")]) == [
        "p: argument a0 is float16, in the source it is const float *x"
    ]
    assert len(signed(tmp_path, "half *x, __nv_bfloat16 *y", [of("bfloat16"), of("float16")])) == 2
    passed = "float *a, int *b, char *c, T *d, unsigned e, __nv_fp8_e4m3 *f, void *g, bool h"
    arguments = [
        of("float32"), of("uint32"), of("float16"), of("float32"), of("int32", 1),
        of("float8_e4m3"), of("float16"), of("bool", value=True),
    ]  # fmt: skip
    assert signed(tmp_path, passed, arguments) == []


def two(tmp_path, assembler, told, **second):
    """Two depths of a .cu whose depth is the macro STAGES, with changes in the second."""
    (tmp_path / "k.cu").write_text(
        "#ifndef STAGES\n#define STAGES 1\n#endif\n"
        "__global__ void k(float *A, int n) { A[threadIdx.x] = n * STAGES; }\n"
    )
    paths = []
    for depth, changes in ((1, {}), (2, second)):
        fields = {
            **json.loads(ADD.read_text()), "source": "k.cu", "entry": "k", "num_stages": depth,
            "arguments": [{"name": "A", **of("float32")}, {"name": "n", **of("int32", 1)}],
        }  # fmt: skip
        paths.append(tmp_path / f"k_{depth}.json")
        paths[-1].write_text(json.dumps({**fields, **changes}))
    return planned_candidates(paths, assembler, told.append)


def test_depths_of_the_same_code(tmp_path, assembler):
    """A depth that no define reaches the source with is told of."""
    told = []
    two(tmp_path, assembler, told)
    assert told == [
        f"{tmp_path / 'k_2.json'}: the same code as num_stages=1: does the plan define the depth?"
    ]
    two(tmp_path, assembler, told := [], define={"STAGES": 2})
    assert told == []


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"name": "n", **of("int32", 3)}, "differ in n: 3 and 1"),
        (
            {"name": "A", **of("float32"), "shape": [8]},
            "differ in A: inout float32 [8] and inout float32 [4]",
        ),
    ],
)
def test_depths_are_of_one_problem(tmp_path, assembler, argument, message):
    """A scalar or a tensor that differs is no depth, unless the scalar is the depth."""
    before = [{"name": "A", **of("float32")}, {"name": "n", **of("int32", 1)}]
    changed = [argument if one["name"] == argument["name"] else one for one in before]
    with pytest.raises(UsageError) as caught:
        two(tmp_path, assembler, [], arguments=changed)
    assert message in caught.value.message
    assert "params = { … }" in caught.value.hint
    depth = [before[0], {"name": "n", **of("int32", 2)}]
    assert len(two(tmp_path, assembler, [], arguments=depth)) == 2
    apart = two(tmp_path, assembler, [], arguments=changed, params={"n": 3})
    assert len(apart) == 2


def test_two_plans_of_one_variant(assembler):
    """Twice the same identity is a mistake, not two depths."""
    with pytest.raises(UsageError, match="has the same kernel, num_stages, params and arch"):
        planned_candidates([ADD, ADD.parent / ".." / "plans" / "add.json"], assembler, complain)
